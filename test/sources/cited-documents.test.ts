import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { describeTrace } from '../../src/cli/sources-text.ts';
import type { Database } from '../../src/db/database.ts';
import { openNotices } from '../../src/db/notices.ts';
import { readRecordedRun } from '../../src/replay/read-recorded-run.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { traceCitation } from '../../src/session/trace-citation.ts';
import { findMarkers } from '../../src/sources/markers.ts';
import { findProse } from '../../src/sources/prose-spans.ts';
import type { Answer } from '../generation/scripted-server.ts';
import { GOOD_CHECKLIST, GOOD_FRAME, type Outcome, playWorkPlan } from '../generation/work-plan.ts';
import { newTenant, openTestStore, temporaryFolder } from '../stores.ts';

const SOURCES = [
  {
    title: 'Bread in numbers',
    url: 'https://example.org/bread',
    publisher: 'Bakers',
    year: 2024,
    excerpts: ['The bakery sells 1,200 loaves a week. "Nobody buys bread after noon", he says.'],
  },
  { title: 'Rent', excerpts: ['Rent is 900 euros.'] },
];

let place: { database: Database; tenantId: string };
beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
});

const answer = (more: object): Answer => ({ text: JSON.stringify({ ...GOOD_CHECKLIST, ...more }) });
const FRAME = {
  ...GOOD_FRAME,
  system_materials: 'Bread sells best in the morning, 1,200 loaves a week in all [S1].',
};
const play = (answers: readonly Answer[], sources = SOURCES) => {
  const frame = [{ text: JSON.stringify(sources.length > 0 ? FRAME : GOOD_FRAME) }];
  return playWorkPlan(place, answers, { sources, frame });
};
const read = ({ sessionId }: Outcome) =>
  place.database.asTenant(place.tenantId, async (tx) =>
    exportSession(tx, await readSession(tx, sessionId)),
  );
const pageOf = ({ checklist }: Outcome): string => checklist?.markdown ?? '';
const CITED = 'It sells 1,200 loaves a week [S1, S2]. Rent is 900 euros 【S2】.';
const WRONG = 'It sells 1,300 loaves a week [S1] and more on Sundays [S9].';

describe('a document that cites its sources', () => {
  let outcome: Outcome;
  beforeAll(async () => {
    outcome = await play([answer({ summary: CITED })]);
  });

  test('was told of them, and keeps their ids', () => {
    const [asked] = outcome.asked;
    const prompt = asked!.messages.map(({ content }) => content).join('\n');
    expect(prompt).toContain('- [S1] `Bread in numbers` · <https://example.org/bread>');
    expect(prompt).toContain('<source id="S2">\nRent is 900 euros.\n</source>');
    expect(outcome.asked).toHaveLength(1);
    expect(outcome.checklist?.content).toMatchObject({
      summary: 'It sells 1,200 loaves a week [S1][S2]. Rent is 900 euros [S2].',
    });
  });

  test('has footnotes, a table of its sources and its coverage on its page', () => {
    const page = pageOf(outcome);
    expect(page).toMatch(/^coverage: 67 %, 2 of 3 statements cited$/m);
    expect(page).toMatch(/^cites: S1, S2$/m);
    expect(page).not.toMatch(/^orphans|^audit|could not be verified/m);
    expect(page).toContain('It sells 1,200 loaves a week [^1][^2]. Rent is 900 euros [^2].');
    expect(page).toContain('[^1]: Bread in numbers — Bakers (2024) <https://example.org/bread>\n');
    expect(page).toContain('| S2 | Rent |  | 2 |');
  });

  test('is found again from its sources, and the folder leads to both', async () => {
    const { files, citations } = await read(outcome);
    expect(citations).toMatchObject({
      sources: [
        { id: 'S1', uses: 2 },
        { id: 'S2', uses: 1 },
      ],
      orphans: [],
      unverified: [],
    });
    const page = files.get('general_resource/sources.md');
    expect(page).toContain(
      '| S1 | Bread in numbers | Bakers, 2024 | <https://example.org/bread> | 2 places |',
    );
    expect(page).toMatch(/`dialectic sources show ID --session [0-9a-f]{8}` shows the text of one/);
    expect(page).toMatch(/^- \[work\/checklist@1\]\(\.\.\/session_\S+\): summary$/m);
    expect(files.get('project_readme.md')).toContain(
      '- [Sources](general_resource/sources.md): 2 sources, 2 of them cited',
    );
    for (const [path, text] of files) {
      if (!path.endsWith('.md') || path.includes('/_work/')) continue;
      expect(findMarkers(text, findProse(text)), path).toEqual([]);
    }
  });
});

test('a replay of the run has the same sources', async () => {
  const { files } = await read(await play([answer({ summary: CITED })]));
  const folder = await temporaryFolder();
  // What a source was read from, which `export --copies` adds, is no resource.
  const copy = ['general_resource/copies/S1-0123456789ab.pdf', '%PDF-'] as const;
  for (const [path, text] of [...files, copy]) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const recorded = await readRecordedRun(folder);
  expect(recorded.resources).toEqual([]);
  expect(recorded.sources).toEqual(SOURCES);
});

test('a line of a document leads to what its sources say, through the documents before it', async () => {
  const outcome = await play([answer({ summary: CITED })]);
  const line =
    pageOf(outcome)
      .split('\n')
      .findIndex((one) => one.startsWith('It sells')) + 1;
  const trace = (wanted: string) =>
    place.database.asTenant(place.tenantId, async (tx) =>
      traceCitation(tx, await readSession(tx, outcome.sessionId), wanted),
    );
  const traced = await trace(`checklist:${line}`);
  expect(traced).toMatchObject({ name: 'work/checklist@1', line });
  expect(traced.citations).toEqual([
    {
      id: 'S1',
      title: 'Bread in numbers',
      url: 'https://example.org/bread',
      passage: {
        excerpt: 'S1.e1',
        text: 'The bakery sells 1,200 loaves a week.',
        likeness: 1,
      },
      carriedBy: [
        expect.objectContaining({
          name: 'work/frame@1',
          steps: 1,
          place: 'system_materials',
          text: FRAME.system_materials,
        }),
      ],
    },
    {
      id: 'S2',
      title: 'Rent',
      passage: expect.objectContaining({ text: 'Rent is 900 euros.' }),
      carriedBy: [],
    },
  ]);
  expect(describeTrace(traced)).toContain(
    '    work/frame@1, system_materials: ' + FRAME.system_materials,
  );
  const silent = await trace('checklist:2');
  expect(describeTrace(silent)).toEqual([
    `Line 2 of work/checklist@1 cites nothing. These lines do: ${line}.`,
  ]);
  await expect(trace('checklist:9999')).rejects.toThrow('There is no line 9999');
  await expect(trace('checklist')).rejects.toThrow('checklist is no such place');
});

test('a wrong citation goes back to its writer, for its section alone', async () => {
  const right = { text: JSON.stringify({ summary: 'It sells 1,200 loaves a week [S1].' }) };
  const outcome = await play([answer({ summary: WRONG }), right]);
  expect(outcome.asked).toHaveLength(2);
  const { messages } = outcome.asked[1]!;
  const request = messages.at(-1)!.content;
  expect(request).toContain('- `summary` gives the figure 1,300, which stands in none');
  expect(request).toContain('- `summary` cites [S9], and there is no such source.');
  expect(request).toContain('with this key alone: summary.');
  expect(outcome.checklist?.content).toMatchObject({
    summary: 'It sells 1,200 loaves a week [S1].',
    nodes: GOOD_CHECKLIST.nodes,
  });
  expect(pageOf(outcome)).toMatch(/^orphans: S2$/m);
});

test('a document whose citations stay wrong is kept, and says so everywhere', async () => {
  const outcome = await play([answer({ summary: WRONG })]);
  expect(outcome.status).toBe('completed');
  expect(outcome.asked).toHaveLength(3);
  const page = pageOf(outcome);
  expect(page).toMatch(/^audit: failed, 2 faults of citation$/m);
  expect(page).toContain('> **The citations of this document could not be verified**, although');
  expect(page).toContain('> - summary: 1,300 (the figure is in none of the sources cited)');
  expect(page).toContain('and more on Sundays [unknown source: S9].');
  const { files, citations } = await read(outcome);
  expect(citations?.unverified).toMatchObject([{ name: 'work/checklist@1' }]);
  expect(files.get('project_readme.md')).toContain('## Citations that are not verified');
  const notices = await place.database.asTenant(place.tenantId, (tx) => openNotices(tx));
  expect(notices.filter(({ topic }) => topic === `session/${outcome.sessionId}`)).toMatchObject([
    {
      code: 'citations_unverified',
      message:
        'work/checklist@1 is kept with 2 faults of citation, such as ' +
        'summary: 1,300 (the figure is in none of the sources cited).',
    },
  ]);
});

test('a document that cites nothing lists what there is to read', async () => {
  const page = pageOf(await play([answer({ summary: 'Bread first.' })]));
  expect(page).toMatch(/^cites: nothing$/m);
  expect(page).toContain('## References\n\n- Bread in numbers — Bakers (2024)');
});

test('without sources a citation is a fault, and nothing else changes', async () => {
  const none = await play([answer({ summary: 'Severity (S1), as Source 2 says.' })], []);
  expect(none.asked).toHaveLength(1);
  expect(pageOf(none)).toContain('Severity (S1), as Source 2 says.');
  expect(pageOf(none)).not.toMatch(/coverage|References|Footnotes/);
  const prompt = none.asked[0]!.messages.map(({ content }) => content).join('\n');
  expect(prompt).not.toContain('<source');
  const cited = await play([answer({ summary: 'Bread rises [S1].' })], []);
  expect(cited.asked).toHaveLength(3);
  expect(pageOf(cited)).toContain('Bread rises [unknown source: S1].');
  expect(pageOf(cited)).toMatch(/^audit: failed, 1 fault of citation$/m);
});
