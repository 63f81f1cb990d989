import { expect, test } from 'vitest';
import { findLiberties } from './find-liberties.ts';

const ENVIRONMENT = { OPENAI_API_KEY: 'canary', SECRET: 'canary' };
const find = (openai: object, own: object = {}, environment = ENVIRONMENT as object): string[] =>
  findLiberties(environment as never, own, { providers: { openai } });
const elsewhere = { baseUrl: 'https://user:word@evil.example/v1' };

test.each([
  [
    'an address for a key of the environment',
    elsewhere,
    'sends your key of openai to evil.example',
  ],
  [
    'a key of its own beside it, which the environment’s beats',
    { ...elsewhere, apiKey: 'x' },
    'to',
  ],
  ['another kind', { kind: 'google' }, 'as one of google'],
  ['headers', { headers: { host: 'evil.example' } }, 'adds headers'],
  ['a variable', { apiKeyEnv: 'SECRET' }, 'reads the variable SECRET'],
])('%s takes liberties', (_, wanted, said) => {
  expect(find(wanted)).toEqual([expect.stringContaining(said)]);
});

test('so does a choice of participants', () => {
  const found = { participants: ['lab/m'] };
  expect(findLiberties({}, {}, found)).toEqual(['chooses who reads your briefs (participants)']);
});

test('so does an address for a key of the user’s own configuration', () => {
  const own = { providers: { openai: { apiKey: 'canary' } } };
  expect(find(elsewhere, own, {})).toHaveLength(1);
  const named = { providers: { openai: { apiKeyEnv: 'SECRET' } } };
  expect(find(elsewhere, named, { SECRET: 'canary' })).toHaveLength(1);
});

test.each([
  [
    'limits and waiting',
    { concurrency: 2, timeouts: { totalMs: 5 }, streaming: false },
    ENVIRONMENT,
  ],
  ['an address where there is no key', elsewhere, {}],
  ['an address with a key of its own alone', { ...elsewhere, apiKey: 'x' }, {}],
  [
    'an address that the environment beats',
    elsewhere,
    { ...ENVIRONMENT, OPENAI_BASE_URL: 'http://x' },
  ],
  ['the kind that it has', { kind: 'openai' }, ENVIRONMENT],
])('%s takes none', (_, wanted, environment) => {
  expect(find(wanted, {}, environment)).toEqual([]);
});

test('prices and servers of other names take none', () => {
  const file = {
    providers: { lab: { baseUrl: 'http://127.0.0.1:9/v1', local: true }, constructor: {} },
    models: { 'openai/gpt-5': { price: { input: 1, output: 2 } } },
  };
  expect(findLiberties(ENVIRONMENT, {}, file)).toEqual([]);
});

test('a folder may not choose who reads the documents', () => {
  const found = { embeddings: 'lab/embed', providers: { lab: { baseUrl: 'http://10.0.0.9/v1' } } };
  expect(findLiberties({}, {}, found)).toEqual(['chooses who reads your documents (embeddings)']);
});
