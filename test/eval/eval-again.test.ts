import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Evaluation } from '../../src/eval/evaluation.ts';
import type { Judgement } from '../../src/eval/judge-cases.ts';
import type { Answer, Asked } from '../generation/scripted-server.ts';
import { answerWell, errorOf, FOLDERS, JUDGE, settle, WHOLE } from './evaluations.ts';
import { choice, labelOf, roleOf } from './verdicts.ts';

type Place = Awaited<ReturnType<typeof settle>>;
let place: Place;
let evaluate: Place['evaluate'];
beforeAll(async () => {
  place = await settle();
  ({ evaluate } = place);
  await place.writeGiven();
});

const GIVEN = [...FOLDERS, ...JUDGE, '-c', '1', '--json'];
const kept = async (out: string): Promise<Judgement[]> =>
  JSON.parse(await readFile(join(place.folder, out, 'brief/judgements.json'), 'utf8'));
/** What judges were asked, without the calls that were refused. */
const sittingsOf = (served: readonly Asked[]): string[] =>
  served
    .filter(({ deliverable }) => deliverable === 'eval/judgement')
    .map((asked) => `${roleOf(asked)} ${labelOf(asked, 'One voice')}`);
const countOf = (served: readonly Asked[], deliverable: string): number =>
  served.filter((asked) => asked.deliverable === deliverable).length;

test('Ctrl-C lets the call under way end, and what it left is not asked again', async () => {
  const all = [...GIVEN, '-o', 'stopped'];
  const first = await place.evaluateUntil((asked, stop) => {
    if (asked.turn === 2) stop();
    return answerWell(asked);
  }, all);
  expect([first.code, errorOf(first).code], first.stderr).toEqual([7, 'run_stopped']);
  expect(first.stderr).toContain('Stopping: calls under way end');
  const saved = (await kept('stopped')).length;
  expect(saved).toBe(first.served.length);
  expect(saved).toBeGreaterThan(2);
  expect(saved).toBeLessThan(6);
  expect((JSON.parse(first.stdout) as Evaluation).missing.length).toBe(6 - saved);
  const second = await evaluate(answerWell, all);
  expect(second.code, second.stderr).toBe(0);
  const asked = [...sittingsOf(first.served), ...sittingsOf(second.served)];
  expect([asked.length, new Set(asked).size]).toEqual([6, 6]);
  expect((JSON.parse(second.stdout) as Evaluation).judging.calls).toBe(6);
}, 60_000);

test('a budget stops it by name, and a larger one goes on from there', async () => {
  // The worst case of a call, of 16,384 tokens at two dollars a million, is 0.033 and some input.
  const poor = await evaluate(answerWell, [...GIVEN, '-o', 'poor', '--budget', '0.0355']);
  expect([poor.code, errorOf(poor).code], poor.stderr).toEqual([5, 'funds_short']);
  expect(errorOf(poor).message).toMatch(
    /^\d of 6 judgements are missing.*the budget of the run leaves \$0\.0/,
  );
  const saved = (await kept('poor')).length;
  expect(saved).toBe(poor.served.length);
  expect(saved).toBeGreaterThan(0);
  const { missing, warnings } = JSON.parse(poor.stdout) as Evaluation;
  expect(missing.length).toBe(6 - saved);
  expect(warnings.filter((one) => one.startsWith('Missing:')).length).toBe(1);
  const rich = await evaluate(answerWell, [...GIVEN, '-o', 'poor', '--budget', '1']);
  expect(rich.code, rich.stderr).toBe(0);
  expect(rich.served.length).toBe(6 - saved);
}, 60_000);

test('a budget holds for four calls at a time as it does for one', async () => {
  const parallel = GIVEN.map((word) => (word === '1' ? '4' : word));
  const ended = await evaluate(answerWell, [...parallel, '-o', 'four', '--budget', '0.06']);
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.served.length).toBe(6);
}, 60_000);

test('a debate that Ctrl-C stopped goes on with the same command', async () => {
  const all = [...WHOLE, ...JUDGE, '--yes', '-o', 'left', '--json'];
  const first = await place.evaluateUntil((asked, stop) => {
    if (asked.deliverable === 'work/frame') stop();
    return answerWell(asked);
  }, all);
  expect([first.code, errorOf(first).code], first.stderr).toEqual([7, 'run_stopped']);
  expect(first.served.map(({ deliverable }) => deliverable)).toEqual(['work/frame']);
  const second = await evaluate(answerWell, all);
  expect(second.code, second.stderr).toBe(0);
  expect(countOf(second.served, 'work/frame')).toBe(0);
  const [brief] = (JSON.parse(second.stdout) as Evaluation).briefs;
  expect(brief!.debate.spent!.calls).toBe(2);
}, 60_000);

test('a judge whose key is refused is asked once, and the others judge on', async () => {
  const all = [...GIVEN, '--judge', 'compatible/first-is-best', '-o', 'refused'];
  const ended = await evaluate(
    (asked) => (asked.model === 'judge' ? { status: 401 } : answerWell(asked)),
    all,
  );
  expect(errorOf(ended).code, ended.stderr).toBe('provider_auth');
  const { missing, judgements } = JSON.parse(ended.stdout) as Evaluation;
  expect([missing.length, judgements.length]).toEqual([6, 6]);
  expect(ended.served.filter(({ model }) => model === 'judge').length).toBe(1);
}, 60_000);

test('a draft that is also the best of drafts is judged once, for both rivals', async () => {
  const rivals = ['--rival', 'one-prompt', '--rival', 'best-of'];
  const earlier = (asked: Asked): Answer =>
    asked.deliverable === 'eval/choice' ? { text: JSON.stringify(choice('X')) } : answerWell(asked);
  const all = [...WHOLE, ...rivals, ...JUDGE, '-o', 'once', '--json'];
  const ended = await evaluate(earlier, all);
  expect(ended.code, ended.stderr).toBe(0);
  expect(countOf(ended.served, 'eval/judgement')).toBe(6);
  const { comparisons, judgements, briefs } = JSON.parse(ended.stdout) as Evaluation;
  expect(judgements[0]!.rivals).toEqual(['one-prompt', 'best-of']);
  expect(comparisons.map(({ scores }) => scores.at(-1)!.judgements)).toEqual([3, 3]);
  const [one, best] = briefs[0]!.rivals;
  expect(best!.folder).toBe(one!.folder);
  expect(best!.drafts).toBeGreaterThan(1);
}, 60_000);

test('a debate that its budget stopped goes on with the same command', async () => {
  const all = [...WHOLE, ...JUDGE, '--yes', '-o', 'short', '--json'];
  const poor = await evaluate(answerWell, [...all, '--budget', '0.000001']);
  expect([poor.code, errorOf(poor).code], poor.stderr).toEqual([7, 'run_incomplete']);
  expect(poor.stderr).toContain('the same command goes on where this one ended');
  expect(poor.served).toEqual([]);
  const rich = await evaluate(answerWell, [...all, '--budget', '9']);
  expect(rich.code, rich.stderr).toBe(0);
  expect(rich.stderr).toContain('goes on with the debate in');
  expect(countOf(rich.served, 'work/frame')).toBe(1);
  const again = await evaluate(answerWell, [...all, '--budget', '0.000001']);
  expect(again.code, again.stderr).toBe(0);
  expect(again.served).toEqual([]);
}, 60_000);

describe('texts that a fault left half made', () => {
  const all = [...WHOLE, '--rival', 'three-passes', '--rival', 'best-of', ...JUDGE];
  const out = ['-o', 'halves', '--json'];

  test('a draft and its faults are not paid for again where the rewrite failed', async () => {
    const first = await evaluate(
      (asked) => (asked.deliverable === 'eval/rewrite' ? { status: 401 } : answerWell(asked)),
      [...all, ...out],
    );
    expect(errorOf(first).code, first.stderr).toBe('provider_auth');
    expect(countOf(first.served, 'eval/draft')).toBe(1);
    const second = await evaluate(
      (asked) => (asked.deliverable === 'eval/choice' ? { status: 401 } : answerWell(asked)),
      [...all, ...out],
    );
    expect(errorOf(second).code, second.stderr).toBe('provider_auth');
    expect([countOf(second.served, 'work/frame'), countOf(second.served, 'eval/faults')]).toEqual([
      0, 0,
    ]);
    expect(countOf(second.served, 'eval/rewrite')).toBe(1);
    const third = await evaluate(answerWell, [...all, ...out]);
    expect(third.code, third.stderr).toBe(0);
    const [brief] = (JSON.parse(third.stdout) as Evaluation).briefs;
    const [three, best] = brief!.rivals;
    expect(three!.spent!.calls).toBe(3);
    const written = [first, second, third].map(({ served }) => countOf(served, 'eval/draft'));
    expect(written).toEqual([1, 1, best!.drafts! - 2]);
  }, 60_000);

  test('texts of another writer or length are refused by name', async () => {
    const single = all.map((word) => (word === 'compatible/writer' ? 'compatible/judge' : word));
    const other = await evaluate(answerWell, [...single, ...out]);
    expect(errorOf(other)).toMatchObject({ code: 'folder_occupied' });
    expect(errorOf(other).message).toContain('drafts/1 is of compatible/writer, asked for');
    const longer = await evaluate(answerWell, [...all, '--words', '9000', ...out]);
    expect(errorOf(longer)).toMatchObject({ code: 'folder_occupied' });
    expect([...other.served, ...longer.served]).toEqual([]);
  }, 60_000);

  test('a folder without the note that ends it is no finished draft', async () => {
    await rm(join(place.folder, 'halves/brief/drafts/1.cost.json'));
    const ended = await evaluate(answerWell, [...all, ...out]);
    expect(errorOf(ended).code).toBe('folder_occupied');
    expect(errorOf(ended).message).toContain('no .cost.json beside it');
    expect(ended.served).toEqual([]);
  }, 60_000);

  test('kept judgements that are none are refused, and asked for nobody', async () => {
    const path = join(place.folder, 'poor/brief/judgements.json');
    await writeFile(path, JSON.stringify([{ judge: 'compatible/judge', preference: 'debate' }]));
    const ended = await evaluate(answerWell, [...GIVEN, '-o', 'poor']);
    expect(errorOf(ended).code).toBe('usage_invalid');
    expect(errorOf(ended).message).toContain('move it away');
    expect(ended.served).toEqual([]);
  }, 60_000);
});

test('a text that has changed is judged again', async () => {
  const all = [...GIVEN, '-o', 'changed'];
  expect((await evaluate(answerWell, all)).served.length).toBe(6);
  await writeFile(join(place.folder, 'given/single/6_more.md'), 'One voice has more to say.');
  const again = await evaluate(answerWell, all);
  expect(again.code, again.stderr).toBe(0);
  expect(again.served.length).toBe(6);
  expect((JSON.parse(again.stdout) as Evaluation).judgements.length).toBe(6);
  expect((await kept('changed')).length).toBe(12);
}, 60_000);
