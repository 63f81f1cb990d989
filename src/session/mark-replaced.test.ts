import { expect, test } from 'vitest';
import { shipped } from '../../test/session/trivial.ts';
import type { ExportedDocument } from './export.ts';
import { markReplaced } from './mark-replaced.ts';
import type { SessionView } from './read.ts';

const session = { process: shipped('software-plan') } as SessionView;
const made = (stage: string, key: string, lane: string, iteration = 1) =>
  ({
    stage,
    key,
    lane: { id: lane },
    iteration,
    path: `s/${stage}/${lane}_${key}.md`,
  }) as unknown as ExportedDocument;

test('a document that a later one replaces says so first, behind its front matter', () => {
  const documents = [
    made('parenthesis', 'master_plan', 'a'),
    made('parenthesis', 'master_plan', 'b'),
    made('paralysis', 'updated_master_plan', 'a'),
    made('paralysis', 'updated_master_plan', 'b', 2),
  ];
  const page = { key: 'page', make: () => '---\nmodel: m\n---\n\n# Plan\n' };
  const files = new Map(documents.map(({ path }) => [path!, page]));
  markReplaced(session, documents, files);
  const [replaced, standing, ...others] = [...files.values()].map(({ make }) => make());
  expect(replaced).toBe(
    '---\nmodel: m\n---\n\n> A later document takes the place of this one: [Updated Master Plan](../paralysis/a_updated_master_plan.md).\n\n# Plan\n',
  );
  // Else the file of before would pass for it.
  expect(new Set([...files.values()].map(({ key }) => key)).size).toBe(2);
  // The other lane's plan was updated in another pass only.
  expect(new Set([standing, ...others])).toEqual(new Set(['---\nmodel: m\n---\n\n# Plan\n']));
});
