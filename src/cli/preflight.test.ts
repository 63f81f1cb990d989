import { expect, onTestFinished, test } from 'vitest';
import { emptyDatabase } from '../../test/stores.ts';
import { openDialectic } from '../index.ts';
import { readModelsConfig } from '../models/config.ts';
import { chatEvent, startServer } from '../models/loopback.fixture.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import { askModels } from './preflight.ts';

/** A server that sends its list to anybody, so that a model with a key has to be called. */
async function place() {
  const requests: string[] = [];
  const server = await startServer((request, response, body) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: [{ id: 'writer' }, { id: 'reader' }] }));
    } else if (body.includes('"writer"')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chatEvent('yes', 'stop')}data: [DONE]\n\n`);
    } else {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no such model"}}');
    }
  });
  onTestFinished(() => server.stop());
  const environment = { DIALECTIC_BASE_URL: server.url, DIALECTIC_API_KEY: 'some-key-of-a-test' };
  await loadTokenCounter();
  const dialectic = await openDialectic({ databaseUrl: await emptyDatabase(), environment });
  onTestFinished(() => dialectic.close());
  const config = readModelsConfig(environment, {});
  const ask = (model: string) =>
    askModels([model], config, (withStore) => withStore(dialectic), {});
  return { requests, ask };
}

test('a model that only a call can decide has its provider’s list fetched once', async () => {
  const { requests, ask } = await place();
  expect(await ask('compatible/writer')).toMatchObject([{ doubt: null }]);
  expect(requests.filter((one) => one.startsWith('GET'))).toHaveLength(1);
  expect(requests.filter((one) => one.startsWith('POST'))).toHaveLength(1);
}, 60_000);

test('what that list offers is told where the call finds no such model', async () => {
  const { requests, ask } = await place();
  await expect(ask('compatible/writre')).rejects.toThrow(
    'It offers compatible/writer and 1 other.',
  );
  expect(requests.filter((one) => one.startsWith('GET'))).toHaveLength(1);
}, 60_000);
