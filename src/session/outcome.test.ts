import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { shipped, shippedWhole } from '../../test/recipes/shipped.ts';
import type { Process } from '../recipe/types.ts';
import type { DocumentRow } from './export-rows.ts';
import { readOutcome } from './outcome.ts';
import type { SessionView } from './read.ts';

const sessionOf = (process: Process) =>
  ({
    process,
    iteration: 1,
    chosenLaneId: 'a',
    lanes: [{ id: 'a' }, { id: 'b' }],
  }) as unknown as SessionView;
const row = (
  stage: string,
  key: string,
  content: unknown,
  own: Partial<DocumentRow> = {},
): DocumentRow =>
  ({
    stage_key: stage,
    document_key: key,
    kind: 'document',
    lane_id: 'a',
    iteration: 1,
    markdown: null,
    content,
    ...own,
  }) as DocumentRow;

/** A document of the recorded debate. */
function recorded(key: string): unknown {
  const folder = fileURLToPath(new URL('../../examples/bakery-plan/', import.meta.url));
  const [path] = globSync(`session_*/iteration_1/6_result/**/*_1_${key}.json`, { cwd: folder });
  return JSON.parse(readFileSync(`${folder}${path}`, 'utf8'));
}

test('a plan tells the decisions of its first page and what its ledger leaves open', () => {
  const rows = [
    row('result', 'final_first_page', recorded('first_page')),
    row('result', 'ledger', recorded('ledger')),
  ];
  const { decided, disagreements } = readOutcome(sessionOf(shippedWhole('software-plan')), rows);
  expect(decided.slice(0, 2)).toEqual([
    'A small computer in the bakery keeps the finished page and prints it by its own clock.',
    'An outage in the bakery refuses no customer.',
  ]);
  expect(disagreements).toHaveLength(5);
  expect(disagreements[0]).toMatch(/^open \(heavy\): Nothing frees reserved bread before 10:00/);
  expect(disagreements[1]).toMatch(/^rejected \(heavy\): The fallback/);
  expect(disagreements.slice(2).every((line) => line.includes('(medium)'))).toBe(true);
});

const memo = sessionOf(shipped('decision-memo'));
const decision = { decision: 'Open on Sundays. Close on Mondays.' };
const challenge = { disagreements: [{ about: 'Will enough people come?', kind: 'forecast' }] };

test('a memo tells its decision by the sentence, and where the proposals differ', () => {
  const rows = [
    row('challenge', 'challenge', { disagreements: [{ about: 'Other' }] }, { lane_id: 'b' }),
    row('challenge', 'challenge', challenge),
    row('decide', 'decision', decision),
    row('decide', 'decision', { decision: 'Stay closed.' }, { lane_id: 'b' }),
  ];
  expect(readOutcome(memo, rows)).toEqual({
    decided: ['Open on Sundays.', 'Close on Mondays.'],
    disagreements: ['Will enough people come?'],
  });
  const other = rows.map((one) => ({ ...one, iteration: 2 }));
  expect(readOutcome(memo, other)).toEqual({ decided: [], disagreements: [] });
});

test('without such fields, the first sentences of the result stand for them', () => {
  const markdown =
    '---\nkey: x\n---\n\n# Title\n\n- We open. We stay.\n\n| a | b |\n\nThird. Fourth.';
  const rows = [row('decide', 'decision', { question: 'What?' }, { markdown })];
  expect(readOutcome(memo, rows).decided).toEqual(['We open.', 'We stay.', 'Third.']);
});
