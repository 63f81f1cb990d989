import { expect, test } from 'vitest';
import { DialecticError } from '../../src/errors/errors.ts';
import { webSearch } from '../../src/gather/web-search.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { listModels } from '../../src/models/list-models.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { answer } from './answer-events.ts';
import {
  ALL_REPETITIONS,
  CANARY,
  findFragments,
  keyOf,
  repeatKey,
  writingsOf,
} from './canaries.ts';
import { credentials, failWithoutTrace } from './failing-calls.ts';

test('100 failing calls leave no trace of a key in store, log, export and terminal', async () => {
  await failWithoutTrace(100);
});

/** A server, and a provider that calls it with the canary as its key. */
async function startProvider(answerWith: Parameters<typeof startServer>[0]) {
  const server = await startServer(answerWith);
  const lab = { kind: 'compatible' as const, baseUrl: server.url, apiKey: CANARY };
  const config = { providers: { lab }, models: {} };
  // A provider of its own for each call: after some failures a circuit breaker would answer.
  const call = (streaming: boolean): Promise<unknown> =>
    createModelProvider({ ...config, providers: { lab: { ...lab, streaming } } })
      .generate({ model: 'lab/m', system: '', messages: [{ role: 'user', content: 'Hello.' }] })
      .catch((thrown: unknown) => thrown);
  return { ...server, config, call };
}

/** All that an error says, its causes and their stacks too. */
function tellAll(thrown: unknown): string {
  if (!(thrown instanceof Error)) return JSON.stringify(thrown) ?? '';
  const data = thrown instanceof DialecticError ? JSON.stringify(thrown) : '';
  return [data, thrown.message, thrown.stack, tellAll(thrown.cause)].join('\n');
}

test('no part of a key comes back with a failure, in whatever writing and place', async () => {
  let requests = 0;
  const { call, stop } = await startProvider((request, response) =>
    repeatKey(request, response, requests++),
  );
  const told: string[] = [];
  while (requests < 2 * ALL_REPETITIONS) {
    const outcome = await call(requests < ALL_REPETITIONS);
    expect(outcome).toMatchObject({ code: expect.stringMatching(/^provider_/) });
    told.push(tellAll(outcome));
  }
  await stop();
  expect(findFragments(told.join('\n'))).toEqual([]);
  expect(told.filter((one) => one.includes('[key]')).length).toBeGreaterThan(100);
});

test('no part of a key comes back as the name of a model or of an answer', async () => {
  const { call, config, stop } = await startProvider((request, response, body) => {
    const said = writingsOf(keyOf(request));
    if (request.url?.endsWith('/models')) {
      const data = said.map((id) => ({ id, owned_by: id }));
      return void response.end(JSON.stringify({ data }));
    }
    const [id = ''] = said.slice(body.length % said.length);
    answer(response, 'Bread.', { finish: id, usage: { prompt_tokens: 1, [id]: id } });
  });
  const told = [tellAll(await listModels(config)), tellAll(await call(true))];
  await stop();
  expect(told[0]).toContain('lab/[key]');
  expect(told[1]).toContain('Bread.');
  expect(findFragments(told.join('\n'))).toEqual([]);
});

test('a whole key does not come back in the text of an answer', async () => {
  const { call, stop } = await startProvider((request, response) => {
    const key = keyOf(request);
    const forms = [key, key.toUpperCase(), JSON.stringify(key), encodeURIComponent(key)];
    answer(response, `The documentation has ${forms.join(' and ')}.`);
  });
  const outcome = await call(true);
  await stop();
  const text = 'The documentation has [key] and [key] and "[key]" and [key].';
  expect(outcome).toMatchObject({ text });
});

test('no part of a key comes back from a search', async () => {
  const answers = (said: string): readonly [number, string][] => [
    [200, said],
    [200, `{"results": [{"title": ${said}}]}`],
    [401, said],
    [503, said],
    [200, JSON.stringify({ web: { results: [{ title: said, url: 'https://a.test/' }] } })],
    [
      200,
      JSON.stringify({
        web: { results: [{ url: `https://a.test/?q=${encodeURIComponent(said)}` }] },
      }),
    ],
  ];
  let requests = 0;
  const { url, stop } = await startServer((request, response) => {
    const all = writingsOf(keyOf(request)).flatMap(answers);
    const [status, body] = all[requests++ % all.length]!;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  const search = webSearch({ provider: 'brave', baseUrl: url, apiKey: CANARY });
  const told: string[] = [];
  while (requests < writingsOf('').length * answers('').length) {
    told.push(tellAll(await search.search('bread').catch((thrown: unknown) => thrown)));
  }
  await stop();
  expect(findFragments(told.join('\n'))).toEqual([]);
});

test('what the start refuses is told without the value', () => {
  const told = credentials('http://127.0.0.1:9').flatMap(({ apiKey, baseUrl }) =>
    [`${apiKey}`, `${apiKey}\n2`].map((key) => {
      try {
        readModelsConfig(
          { LAB_KEY: key },
          { providers: { lab: { baseUrl, apiKeyEnv: 'LAB_KEY' } } },
        );
        return '';
      } catch (error) {
        return JSON.stringify(error) + String((error as Error).stack);
      }
    }),
  );
  expect(told.filter(Boolean).length).toBeGreaterThan(12);
  expect(findFragments(told.join('\n'))).toEqual([]);
});

test('a fragment is found in whatever writing it comes', () => {
  for (const text of [CANARY.slice(8, 20), JSON.stringify({ a: JSON.stringify(CANARY) })]) {
    expect(findFragments(`x${text}x`).length).toBeGreaterThan(0);
  }
  expect(findFragments('[key]')).toEqual([]);
});
