import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeContexts } from '../../src/cli/context-text.ts';
import { type Dialectic, openDialectic } from '../../src/index.ts';
import { emptyDirectory } from '../stores.ts';

const brief = `Should the library open on Sundays? ${'Two staff, 9,000 euros a year. '.repeat(20)}`;
let dialectic: Dialectic;
let session: string;

beforeAll(async () => {
  const small = { windowTokens: 4_300, maxOutputTokens: 2_000 };
  const tiny = { windowTokens: 1_000, maxOutputTokens: 200 };
  dialectic = await openDialectic({
    dataDirectory: await emptyDirectory(),
    environment: {},
    backupEveryMs: 0,
    configuration: { models: { 'offline/builder': small, 'offline/skeptic': tiny } },
  });
  const models = ['offline/builder', 'offline/builder'];
  ({ session } = await dialectic.start({ brief, process: 'decision-memo', models }));
  for await (const _ of dialectic.work(session));
}, 60_000);
afterAll(() => dialectic.close());

describe('the context of a job', () => {
  test('lists its parts, whose tokens add up, and what is never shortened', async () => {
    const [plan] = await dialectic.context(session, 'decision@1');
    expect(plan).toMatchObject({ stage: 'decide', document: 'decision', lane: 1 });
    expect(plan).toMatchObject({ model: 'offline/builder', counting: { method: 'exact' } });
    const { parts, tokens, room } = plan!;
    expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(tokens);
    expect(room).toBe(Math.floor(4_300 * 0.98 - 4_300 / 4));
    const fixed = parts.filter(({ order }) => order === null).map(({ kind }) => kind);
    expect(new Set(fixed)).toEqual(
      new Set(['instructions', 'request', 'stage', 'task', 'framing']),
    );
    for (const { order, after, tokens: own } of parts) {
      if (order === null) expect(after).toBe(own);
    }
  });

  test('foresees which parts the run then shortened', async () => {
    const plans = (await dialectic.context(session, 'decide/decision@1')).filter(
      ({ fits }) => fits === 'shortened',
    );
    expect(plans).toHaveLength(1);
    const [{ parts, after, room, embedding }] = plans as [(typeof plans)[number]];
    expect(after).toBeLessThanOrEqual(room!);
    const foreseen = parts.filter((part) => part.after < part.tokens).map(({ label }) => label);
    const files = Object.entries(await dialectic.files(session));
    const [, raw = '{}'] =
      files.find(([path]) => path.endsWith('decision_raw.json') && !path.includes('_2_')) ?? [];
    const { shortened } = JSON.parse(raw) as { shortened: { label: string }[] };
    // Whole parts go, so that a little more goes than must: the last ones may be spared.
    expect(shortened.length).toBeGreaterThan(1);
    expect(foreseen).toEqual(expect.arrayContaining(shortened.map(({ label }) => label)));
    // The run has embedded everything already.
    expect(embedding).toMatchObject({ model: 'lexical/words-1', texts: 0, costUsd: 0 });
    const lines = describeContexts(plans.slice(0, 1));
    expect(lines[0]).toContain('decide/decision@1 · completed · offline/builder · window 4,300');
    expect(lines[1]).toMatch(/shortened to about [\d,]+ \(tokens are counted by the model's/);
  });

  test('of a job that waits is known before anything is sent, and never fits a tiny window', async () => {
    const models = ['offline/skeptic'];
    const other = await dialectic.start({ brief, process: 'decision-memo', models });
    for await (const _ of dialectic.work(other.session));
    const [plan] = await dialectic.context(other.session, 'questions');
    expect(plan).toMatchObject({ status: 'failed', fits: 'never' });
    expect(describeContexts([plan!]).join('\n')).toContain('context_window_exceeded');
    expect((await dialectic.result(other.session)).calls).toBe(0);
  });

  test('a name that no job has is refused with the jobs that there are', async () => {
    await expect(dialectic.context(session, 'nothing')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('decide/decision@1'),
    });
  });
});
