import { spawn } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { constants, createGzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { listModels } from '../../src/models/list-models.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { emptyDatabase, newTenant } from '../stores.ts';
import { delta } from './answer-events.ts';
import { MAX_ATTEMPTS } from './hostile-run.ts';

const MOST_MB = 300;
const EVENTS = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };

let databaseUrl: string;
let tenantId: string;
beforeAll(async () => {
  databaseUrl = await emptyDatabase();
  const database = await openDatabase({ databaseUrl });
  tenantId = (await newTenant(database)).tenantId;
  await database.close();
});

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** Writes a piece again and again, as fast as it is read, until the reader goes away. */
function flood(response: ServerResponse, piece: Buffer | string, sink: Sink = response): void {
  let open = true;
  response.on('close', () => {
    open = false;
  });
  const write = (): void => {
    while (open && sink.write(piece));
    if (open) sink.once('drain', write);
  };
  write();
}
type Sink = Pick<Writable, 'write' | 'once'>;

function startBomb(answer: (response: ServerResponse) => void) {
  let requests = 0;
  return startServer((_, response) => {
    requests++;
    answer(response);
  }).then((server) => {
    stops.push(server.stop);
    return { url: server.url, count: () => requests };
  });
}

/** A compressed flood: gigabytes for the reader, little for the line. */
function bomb(response: ServerResponse, headers: Record<string, string>, head: string): void {
  response.writeHead(200, { ...headers, 'content-encoding': 'gzip' });
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
  gzip.pipe(response);
  response.on('close', () => gzip.destroy());
  gzip.write(head);
  flood(response, Buffer.alloc(1_000_000, 'a'), gzip);
}

/** The whole handler in a process of its own. */
async function attack(url: string, provider: object) {
  const file = fileURLToPath(new URL('memory-worker.ts', import.meta.url));
  const settings = JSON.stringify({ databaseUrl, tenantId, url, provider });
  const child = spawn(process.execPath, [file, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(await readText(child.stdout)) as {
    status: string;
    errors: { code: string; message: string }[];
    ledger: { sum: number; charged: number };
    peakMb: number;
  };
}

const stream = (head: string, piece: string) => (response: ServerResponse) => {
  response.writeHead(200, EVENTS);
  response.write(head);
  flood(response, piece);
};
const WORDS = delta('bread and water '.repeat(500));

describe('reading an answer ends at a limit, with a name and little memory', () => {
  test.each<[string, (response: ServerResponse) => void, string, object]>([
    ['a line without an end', stream('data: ', 'a'.repeat(65_536)), 'too_large', {}],
    ['an event without an end', stream('', 'data: x\n'.repeat(8_000)), 'too_large', {}],
    ['comments without an end', stream('', ': wait\n\n'.repeat(8_000)), 'too_large', {}],
    ['a text without an end', stream('', WORDS), 'continuation_exhausted', {}],
    ['blanks without an end', stream('', delta(' '.repeat(8_000))), 'too_large', {}],
    ['a compressed stream', (it) => bomb(it, EVENTS, 'data: '), 'too_large', {}],
    [
      'a compressed answer that comes at once',
      (it) => bomb(it, JSON_TYPE, '{"choices": [{"message": {"content": "'),
      'too_large',
      { streaming: false },
    ],
    [
      'an error message without an end',
      (response) => {
        response.writeHead(400, JSON_TYPE);
        flood(response, 'a'.repeat(65_536));
      },
      'provider_request_refused',
      {},
    ],
  ])('%s', async (_, answer, code, provider) => {
    const server = await startBomb(answer);
    const outcome = await attack(server.url, provider);
    expect(outcome.errors.map((error) => error.code)).toEqual([expect.stringContaining(code)]);
    expect(outcome.status).toBe('failed');
    expect(outcome.ledger.sum).toBe(0);
    expect(server.count()).toBeLessThanOrEqual(MAX_ATTEMPTS);
    expect(outcome.peakMb).toBeLessThan(MOST_MB);
  });

  test('a list of models without an end is a problem of its provider', async () => {
    const server = await startBomb((it) => bomb(it, JSON_TYPE, '{"data": [{"id": "'));
    const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
    // A busy machine must reach the limit of size before one of time.
    const listed = await listModels(config, 60_000);
    const found = listed.find(({ provider }) => provider === 'compatible');
    expect(found?.problem?.code).toBe('provider_answer_too_large');
  });
});
