import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { reportFailure } from '../../src/cli/output.ts';
import { report } from '../../src/cli/run.ts';
import type { Database } from '../../src/db/database.ts';
import type { ModelsConfig } from '../../src/models/config.ts';
import { listModels } from '../../src/models/list-models.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { preflightModels, testKey } from '../../src/models/preflight.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { writeFolder } from '../../src/session/write-folder.ts';
import { emptyDirectory, newTenant, openStore, temporaryFolder } from '../stores.ts';
import { CANARY, findFragments, findInBytes, repeatKey } from './canaries.ts';
import { type Place, RATES, runWith } from './hostile-run.ts';

/** Keys and addresses that the start refuses; here the calls get them all the same. */
export const credentials = (url: string): { apiKey?: string; baseUrl: string }[] => {
  const { host } = new URL(url);
  return [
    { apiKey: CANARY, baseUrl: url },
    { apiKey: `${CANARY}\nX-Other: 1`, baseUrl: url },
    { apiKey: `${CANARY}\r\n`, baseUrl: url },
    { apiKey: `a\0${CANARY}`, baseUrl: url },
    { apiKey: `${CANARY}\u00fc\u4e2d`, baseUrl: url },
    { baseUrl: `http://user:${encodeURIComponent(CANARY)}@${host}/v1` },
    { baseUrl: `http://${encodeURIComponent(CANARY)}@${host}/v1` },
    { baseUrl: `http://user:${encodeURIComponent(CANARY)}@${host}:99999/v1` },
  ];
};

/** One participant for each, so that none hears of another's faults. */
function configOf(url: string, streaming: boolean): ModelsConfig {
  const entries = credentials(url).map((own, n) => [`p${n}`, own] as const);
  const model = { maxOutputTokens: 2_000, windowTokens: 32_000, price: RATES };
  return {
    providers: Object.fromEntries(
      entries.map(([name, own]) => [name, { kind: 'compatible', streaming, ...own }]),
    ),
    models: Object.fromEntries(entries.map(([name]) => [`${name}/m`, model])),
  };
}

async function tellFailure(place: Place, sessionId: string, out: string): Promise<void> {
  try {
    report(await writeFolder(place.database, place.tenantId, sessionId, out), { out });
  } catch (error) {
    reportFailure(error, false);
    reportFailure(error, true);
  }
}

/** Every row of every table, as text. */
async function readStore(database: Database): Promise<string> {
  return database.transaction({ as: 'owner' }, async (tx) => {
    const tables = await tx.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const rows = await tx.query<{ row: string }>(`select t::text as row from ${name} t`);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  });
}

async function readFolder(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Buffer.concat(
    await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name)))),
  );
}

/** So many failing calls leave no trace of a key in store, log, export and terminal. */
export async function failWithoutTrace(count: number): Promise<void> {
  const directory = await emptyDirectory();
  const database = await openStore({ dataDirectory: directory });
  const place: Place = { database, tenantId: (await newTenant(database)).tenantId };
  let requests = 0;
  const server = await startServer((request, response) => repeatKey(request, response, requests++));
  const out = await temporaryFolder();
  const said: string[] = [];
  const listen = (text: unknown): boolean => said.push(String(text)) > 0;
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(listen),
  );
  const countCalls = async (): Promise<number> => {
    const [row] = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ calls: number }>('select count(*)::int as calls from model_calls'),
    );
    return row!.calls;
  };
  try {
    for (let n = 0; (await countCalls()) < count; n++) {
      const config = configOf(server.url, n % 3 > 0);
      const { sessionId, status, calls } = await runWith(place, config, listen);
      expect({ status, some: calls.length > 0 }).toEqual({ status: 'failed', some: true });
      await tellFailure(place, sessionId, join(out, String(n)));
      if (n > 2) continue;
      said.push(JSON.stringify(await listModels(config)));
      const refused = await preflightModels(
        Object.keys(config.models),
        config,
        createModelProvider(config),
      ).catch(String);
      said.push(JSON.stringify(refused));
      for (const name of Object.keys(config.providers)) {
        said.push(JSON.stringify(await testKey(name, config)));
      }
    }
  } finally {
    for (const spy of spies) spy.mockRestore();
    await server.stop();
  }
  expect(requests).toBeGreaterThan(30);
  const store = await readStore(database);
  expect(store).toContain('[key]');
  expect(findFragments(store)).toEqual([]);
  expect(findFragments(said.join('\n'))).toEqual([]);
  expect(said.join('')).toContain('[key]');
  expect(findFragments((await readFolder(out)).toString())).toEqual([]);
  await database.close();
  expect(findInBytes(await readFolder(directory))).toEqual([]);
}
