import { DIMENSIONS, type Label } from '../../src/eval/rubric.ts';
import { SINGLE_FILES } from '../../src/eval/write-single.ts';
import type { Asked } from '../generation/scripted-server.ts';

/** A judge's opinion of a folder with one score throughout. */
const opinion = (score: number, said: string) => ({
  scores: Object.fromEntries(DIMENSIONS.map(([key]) => [key, { score, why: `${said}.` }])),
  best: ['One', 'Two', 'Three'].map((n) => `${said}, best ${n}.`),
  worst: ['One', 'Two', 'Three'].map((n) => `${said}, worst ${n}.`),
});

/** The answer of a judge who gives these scores. */
export const verdict = (x: number, y: number, preference: Label) => ({
  x: opinion(x, 'This is X'),
  y: opinion(y, 'This is Y'),
  preference,
  reason: `${preference} is better.`,
});

/** The answer to the single prompt; every file holds the mark that tells it from a debate's. */
export const singleFiles = (mark: string) => ({
  files: SINGLE_FILES.map((name) => ({ name, text: `# ${name}\n\n${mark} says what to do.` })),
});

/** The label under which a judge was shown the folder that holds a mark. */
export function labelOf(asked: Asked, mark: string): Label {
  const material = asked.messages[0]!.content;
  const y = material.indexOf('<folder label="Y"');
  return material.indexOf(mark) < y ? 'X' : 'Y';
}

/** The part that a judge was asked to take. */
export const roleOf = (asked: Asked): string => /^You are .*/.exec(asked.messages[1]!.content)![0];
