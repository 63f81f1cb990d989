import { DIMENSIONS, type Label } from '../../src/eval/rubric.ts';
import { DRAFT_FILES } from '../../src/eval/write-draft.ts';
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

/** A straight draft; every file holds the mark that tells it from other texts. */
export const draftFiles = (mark: string) => ({
  files: DRAFT_FILES.map((name) => ({ name, text: `# ${name}\n\n${mark} says what to do.` })),
});

/** The thirty worst faults of a draft. */
export const faults = {
  faults: Array.from({ length: 30 }, (_, at) => `Fault ${at + 1} of the draft.`),
};

/** The choice of a judge who gives all roles one answer. */
export const choice = (better: Label) => ({
  people: better,
  developer: better,
  reviewer: better,
  reason: `${better} is better.`,
});

/** The label under which a judge was shown the folder that holds a mark. */
export function labelOf(asked: Asked, mark: string): Label {
  const material = asked.messages[0]!.content;
  const y = material.indexOf('<folder label="Y"');
  return material.indexOf(mark) < y ? 'X' : 'Y';
}

/** The part that a judge was asked to take. */
export const roleOf = (asked: Asked): string => /^You are .*/.exec(asked.messages[1]!.content)![0];
