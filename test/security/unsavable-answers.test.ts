import { beforeAll, describe, expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { answer, DONE, delta, event, GOOD_TEXT, send } from './answer-events.ts';
import { findBreaches, MAX_ATTEMPTS, type Place, playAttack } from './hostile-run.ts';

let place: Place;
beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
});

describe('an answer that PostgreSQL would refuse is cleaned and saved', () => {
  const withText = (text: string) => JSON.stringify({ text });
  test.each<[string, string]>([
    ['a NUL in the text', GOOD_TEXT.replace('salt', 'sa\0lt')],
    ['a NUL as an escape', withText('Bread is made of flour, \0water, salt and time.')],
    ['half a surrogate pair', GOOD_TEXT.replace('salt', 'sa\ud83dlt')],
    ['half a pair as an escape', GOOD_TEXT.replace('salt', 'sa\\ud83dlt')],
    ['terminal control sequences', GOOD_TEXT.replace('salt', '\x1b]0;x\x07sa\x9blt')],
  ])('%s', async (_, text) => {
    const outcome = await playAttack(place, (response) => answer(response, text));
    expect(outcome).toMatchObject({ status: 'completed', requests: 1, errors: [] });
    expect(JSON.stringify(outcome.document)).not.toMatch(/\\u0000|\\ud83d|\\u001b|\p{Cc}/u);
    expect(outcome.ledger.charged).toBeGreaterThan(0);
    expect(findBreaches(outcome)).toEqual([]);
  });

  test('a surrogate pair that two events share stays whole', async () => {
    const [first, second] = [GOOD_TEXT.replace('salt', '\ud83d'), '\ude00'];
    const at = first.indexOf('\ud83d') + 1;
    const outcome = await playAttack(place, (response) =>
      send(response, [
        delta(first.slice(0, at)),
        delta(second + first.slice(at)),
        delta('', 'stop'),
        DONE,
      ]),
    );
    expect(JSON.stringify(outcome.document!.content)).toContain('\u{1F600}');
  });

  test.each([
    ['a NUL', '\0'],
    ['half a pair', '\ud800'],
    ['100,000 characters', 'x'.repeat(100_000)],
  ])('a response id of %s', async (_, id) => {
    const choices = (content: string, finish_reason: string | null) => [
      { index: 0, delta: { content }, finish_reason },
    ];
    const outcome = await playAttack(place, (response) =>
      send(response, [
        event({ id, choices: choices(GOOD_TEXT, null) }),
        event({ id, choices: choices('', 'stop') }),
        DONE,
      ]),
    );
    expect(outcome).toMatchObject({ status: 'completed', requests: 1, errors: [] });
    expect(findBreaches(outcome)).toEqual([]);
  });
});

describe('usage that cannot be true is replaced by our own estimate', () => {
  test.each<[string, object]>([
    ['a negative input', { prompt_tokens: -1_000_000, completion_tokens: 10 }],
    ['a fraction', { prompt_tokens: 10.5, completion_tokens: 10 }],
    ['1e300 tokens', { prompt_tokens: 1e300, completion_tokens: 10 }],
    ['10^18 tokens', { prompt_tokens: 1e18, completion_tokens: 1e18 }],
    [
      'more cached than read',
      {
        prompt_tokens: 100,
        completion_tokens: 10,
        prompt_tokens_details: { cached_tokens: 333_333_333 },
      },
    ],
  ])('%s', async (_, usage) => {
    const outcome = await playAttack(place, (response) => answer(response, GOOD_TEXT, { usage }));
    expect(outcome).toMatchObject({ status: 'completed', requests: 1 });
    expect(outcome.calls).toEqual([{ status: 'received', estimated: true }]);
    expect(outcome.ledger.charged).toBeGreaterThan(0);
    expect(outcome.ledger.charged).toBeLessThan(20_000);
    expect(findBreaches(outcome)).toEqual([]);
  });

  test('what can be true is charged as reported', async () => {
    const usage = { prompt_tokens: 200, completion_tokens: 20 };
    const outcome = await playAttack(place, (response) => answer(response, GOOD_TEXT, { usage }));
    expect(outcome.calls).toEqual([{ status: 'received', estimated: false }]);
    expect(outcome.ledger).toMatchObject({ charged: 200 * 3 + 20 * 15, tokens: 220 });
  });
});

test('a refusal with a NUL in its message ends the run after one request', async () => {
  const body = JSON.stringify({ error: { message: 'no \0 \ud800 \x1b[31m', type: 'x' } });
  const outcome = await playAttack(place, (response) =>
    send(response, [body], { 'content-type': 'application/json' }, 400),
  );
  expect(outcome).toMatchObject({ status: 'failed', requests: 1 });
  expect(outcome.errors).toEqual([
    { code: 'provider_request_refused', message: expect.stringContaining('no \ufffd [31m') },
  ]);
  expect(findBreaches(outcome)).toEqual([]);
});

test('an answer that the store refuses is charged each time and ends by name', async () => {
  const asOwner = (text: string) =>
    place.database.transaction({ as: 'owner' }, (tx) => tx.query(text));
  await asOwner(`create function refuse_chunk() returns trigger language plpgsql as
    $$ begin raise exception 'no room for this chunk'; end $$`);
  await asOwner(`create trigger refuse_chunk before insert on contributions
    for each row execute function refuse_chunk()`);
  const usage = { prompt_tokens: 200, completion_tokens: 20 };
  const outcome = await playAttack(place, (response) => answer(response, GOOD_TEXT, { usage }));
  await asOwner('drop trigger refuse_chunk on contributions');
  expect(outcome).toMatchObject({ status: 'failed', requests: MAX_ATTEMPTS });
  expect(outcome.errors).toEqual([
    { code: 'answer_not_saved', message: expect.stringContaining('no room for this chunk') },
  ]);
  expect(outcome.ledger).toMatchObject({ charged: MAX_ATTEMPTS * 900, tokens: MAX_ATTEMPTS * 220 });
  expect(outcome.calls.map(({ status }) => status)).toEqual(Array(MAX_ATTEMPTS).fill('failed'));
  expect(findBreaches(outcome)).toEqual([]);
});

test('a provider that asks to wait for a year is named with the date, and not waited for', async () => {
  const body = JSON.stringify({ error: { message: 'slow down', type: 'x' } });
  const year = String(365 * 24 * 3_600);
  const outcome = await playAttack(place, (response) =>
    send(response, [body], { 'content-type': 'application/json', 'retry-after': year }, 429),
  );
  expect(outcome).toMatchObject({ status: 'failed', requests: 1 });
  const next = new Date().getFullYear() + 1;
  expect(outcome.errors).toEqual([
    {
      code: 'provider_rate_limited',
      message: expect.stringMatching(
        new RegExp(`asks to wait until ${next}-.*\`dialectic resume\` asks it again`),
      ),
    },
  ]);
});
