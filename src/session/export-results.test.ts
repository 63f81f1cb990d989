import { expect, test } from 'vitest';
import { makeInert } from '../text/safe-markdown.ts';
import { addWorkItems } from './export-results.ts';
import type { DocumentRow } from './export-rows.ts';
import type { SessionView } from './read.ts';

const workItems = { stage: 's', documentKey: 'plan', items: 'tasks', id: 'id', title: 'title' };
const session = {
  chosenLaneId: 'lane',
  iteration: 1,
  process: { workItems: [workItems] },
} as unknown as SessionView;

function writeItems(tasks: readonly object[]): Map<string, string> {
  const row = { stage_key: 's', document_key: 'plan', lane_id: 'lane', iteration: 1 };
  const files = new Map<string, string>();
  addWorkItems(session, [{ ...row, content: { tasks } } as unknown as DocumentRow], files);
  return files;
}

test('each work item has a file of its own, whatever a model calls it', () => {
  const ids = ['T/1', 'T-1', 't-1', 'x'.repeat(400), `${'x'.repeat(400)}y`, '..', 'constructor'];
  const files = writeItems(ids.map((id) => ({ id, title: 'Do it' })));
  expect(files.size).toBe(ids.length);
  for (const path of files.keys()) {
    expect(Buffer.byteLength(path.slice('Pending/'.length))).toBeLessThanOrEqual(255);
    expect(path).toMatch(/^Pending\/[^/]+\.md$/);
  }
});

test('a work item shows its fields and runs nothing', () => {
  const item = {
    id: 'T1',
    title: '<script>1</script>',
    '<img src=x onerror=1>': 'x'.repeat(100),
    '![a](https://x.example/b.png)': ['c'.repeat(100)],
    constructor: 'kept',
  };
  const text = [...writeItems([item]).values()].join('');
  expect(text).not.toMatch(/<[a-z]|(?<!\\)!\[/i);
  expect(text).toContain('- Constructor: kept');
  expect(makeInert(text)).toBe(text);
});

test('a work item says what its effort is counted in', () => {
  const items = [
    { id: 'T1', title: 'Call', effort_low: 0.5, effort_high: 0.67 },
    { id: 'T2', title: 'Build', effort_low: 8, effort_high: 12 },
  ];
  const [call, build] = writeItems(items).values();
  expect(call).toContain('- Effort: 30 to 40 minutes');
  expect(build).toContain('- Effort: 8 to 12 hours');
  expect(build).not.toContain('Effort low');
});
