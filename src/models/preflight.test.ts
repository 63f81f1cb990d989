import { afterAll, beforeAll, expect, test } from 'vitest';
import { DialecticError } from '../errors/errors.ts';
import { sleep } from '../platform/clock.ts';
import { type ModelsConfig, readModelsConfig } from './config.ts';
import { chatEvent, startServer } from './loopback.fixture.ts';
import { preflightModels as preflight } from './preflight.ts';
import { createModelProvider } from './provider.ts';

type Server = Awaited<ReturnType<typeof startServer>>;

/** Who pays is the wallet's matter: here the calls are made as they are. */
const preflightModels = (
  models: readonly string[],
  config: ModelsConfig,
  overrides?: Parameters<typeof preflight>[3],
) => preflight(models, config, createModelProvider(config), overrides);

let server: Server;
let dead: string;
let silent: Server;
const requests: string[] = [];

/** A server with a list that it sends to anybody, and calls that want the key `right-key`. */
beforeAll(async () => {
  server = await startServer((request, response, body) => {
    requests.push(`${request.method} ${request.url}`);
    const isRight = request.headers.authorization === 'Bearer right-key';
    const json = { 'content-type': 'application/json' };
    if (request.url!.startsWith('/closed') && !isRight) response.writeHead(401).end('{}');
    else if (request.url!.startsWith('/bare/models')) response.writeHead(404).end();
    else if (request.url!.endsWith('/models')) {
      response.writeHead(200, json).end(JSON.stringify({ data: [{ id: 'gpt-good' }] }));
    } else if (request.headers.authorization === 'Bearer slow-key') return;
    else if (!isRight) response.writeHead(401, json).end('{"error":{"message":"bad key"}}');
    else if (!body.includes('"gpt-good"')) {
      response.writeHead(404, json).end('{"error":{"message":"no such model"}}');
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${chatEvent('yes', 'stop')}data: [DONE]\n\n`);
    }
  });
  silent = await startServer(() => {});
  const gone = await startServer(() => {});
  await gone.stop();
  dead = gone.url;
});

afterAll(() => Promise.all([server.stop(), silent.stop()]));

const configOf = (baseUrl: string, apiKey?: string): ModelsConfig =>
  readModelsConfig(
    {},
    { providers: { lab: { baseUrl, ...(apiKey === undefined ? {} : { apiKey }) } } },
  );

async function refusal(models: readonly string[], config: ModelsConfig): Promise<DialecticError> {
  const thrown = await preflightModels(models, config).catch((error: unknown) => error);
  if (thrown instanceof DialecticError) return thrown;
  throw new Error('the models were not refused');
}

test('a listed model of a server without keys is taken by its list alone, once', async () => {
  requests.length = 0;
  const checks = await preflightModels(['lab/gpt-good', 'lab/gpt-good'], configOf(server.url));
  expect(checks).toEqual([{ model: 'lab/gpt-good', costUsd: 0, doubt: null }]);
  expect(requests).toEqual(['GET /v1/models']);
});

test('offline and recorded models are asked nothing', async () => {
  expect(await preflightModels(['offline/builder', 'recorded/a'], configOf(dead))).toEqual([]);
});

test('a short call decides where the list proves no key, and its price is told', async () => {
  const config = {
    ...configOf(server.url, 'right-key'),
    models: { 'lab/gpt-good': { price: { input: 1, output: 1000 } } },
  };
  const [check] = await preflightModels(['lab/gpt-good'], config);
  expect(check).toMatchObject({ model: 'lab/gpt-good', doubt: null });
  expect(check!.costUsd).toBeGreaterThan(0);
  expect(check!.costUsd).toBeLessThan(0.02);
});

test('a server without a list of models is asked by a short call', async () => {
  const config = configOf(`${server.url}/bare`, 'right-key');
  expect(await preflightModels(['lab/gpt-good'], config)).toMatchObject([{ doubt: null }]);
});

test('a dead server is refused with its address and the reason', async () => {
  const error = await refusal(['lab/gpt-good'], configOf(dead));
  expect(error.code).toBe('provider_unreachable');
  expect(error.message).toContain(`${dead}/v1: nothing listens there`);
  expect(error.message).toContain('--no-preflight');
});

test('a silent server is refused after a limit of time', async () => {
  const config = configOf(silent.url);
  const thrown = preflightModels(['lab/gpt-good'], config, { listMs: 50 });
  await expect(thrown).rejects.toMatchObject({
    code: 'provider_unreachable',
    message: expect.stringContaining(`at ${silent.url}/v1 within 0.05 s`),
  });
});

test('a server that only takes long over a short call is doubted, not refused', async () => {
  const checks = await preflightModels(['lab/gpt-good'], configOf(server.url, 'slow-key'), {
    allMs: 400,
  });
  const doubt = expect.stringMatching(/^gave no answer to a short call within 0\.[0-4] s$/);
  expect(checks).toMatchObject([{ doubt }]);
});

test('a short call has what the list has left of the time', async () => {
  const late = await startServer((request, response) => {
    if (request.method !== 'GET') return;
    void sleep(300).then(() => response.end('{"data":[{"id":"gpt-good"}]}'));
  });
  const config = configOf(late.url, 'slow-key');
  const [check] = await preflightModels(['lab/gpt-good'], config, { allMs: 500 });
  await late.stop();
  expect(check!.doubt).toMatch(/within 0\.[0-2] s$/);
});

test('a server that cannot be spoken to over TLS is refused with what would help', async () => {
  const plain = server.url.replace('http:', 'https:');
  const error = await refusal(['lab/gpt-good'], configOf(plain));
  expect(error.code).toBe('provider_unreachable');
  expect(error.message).toContain(`${plain}/v1: it does not speak TLS there; try http://`);
});

test('a host whose name is unknown is refused with its name', async () => {
  const error = await refusal(['lab/gpt-good'], configOf('http://no-such-host.invalid'));
  expect(error.code).toBe('provider_unreachable');
  expect(error.message).toContain('http://no-such-host.invalid/v1');
  expect(error.message).toMatch(/host name|did not answer/);
});

test.each(['', '/closed'])('a wrong key is refused and not repeated (%o)', async (path) => {
  const error = await refusal(['lab/gpt-good'], configOf(server.url + path, 'wrong-key-1234'));
  expect(error.code).toBe('provider_auth');
  expect(error.message).toContain('lab');
  expect(JSON.stringify(error)).not.toContain('wrong-key');
});

test('an unknown model is refused with the nearest that there is', async () => {
  const error = await refusal(['lab/gpt-goood'], configOf(server.url, 'right-key'));
  expect(error.code).toBe('model_unknown');
  expect(error.message).toContain('lab has no model "gpt-goood"');
  expect(error.message).toContain('It offers lab/gpt-good.');
});

test('every model that cannot be used is named', async () => {
  const config = readModelsConfig(
    {},
    { providers: { lab: { baseUrl: dead }, den: { baseUrl: dead } } },
  );
  const { message, details } = await refusal(['lab/a', 'den/b', 'lab/c'], config);
  for (const model of ['lab/a', 'den/b', 'lab/c']) expect(message).toContain(model);
  expect(details['problems']).toHaveLength(3);
});
