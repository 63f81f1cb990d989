import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Transport } from '../../src/api/client.ts';
import { HeldStore } from '../../src/api/held-store.ts';
import { lockDirectory } from '../../src/db/directory-lock.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { type Dialectic, openDialectic } from '../../src/index.ts';
import { prepareAddress } from '../../src/transport/socket-address.ts';
import { SocketServer } from '../../src/transport/socket-server.ts';
import { runDialectic, spawnDialectic } from '../run-dialectic.ts';
import { afterTheFile, emptyDirectory, temporaryFolder } from '../stores.ts';

const run = {
  brief: 'Should the library open on Sundays? Two staff, 9,000 euros a year.',
  process: 'decision-memo',
  models: ['offline/builder', 'offline/skeptic'],
};

async function open(dataDirectory: string, callsModels = true): Promise<Dialectic> {
  const options = { environment: {}, backupEveryMs: 0, callsModels };
  const dialectic = await openDialectic({ ...options, dataDirectory });
  afterTheFile(() => dialectic.close());
  return dialectic;
}

test('when the holder closes, who worked through it opens the store and goes on', async () => {
  const dataDirectory = await emptyDirectory();
  const holder = await open(dataDirectory);
  const client = await open(dataDirectory);
  const { session } = await client.start(run);
  const kinds: string[] = [];
  const heard: object[] = [];
  let closed: Promise<void> | undefined;
  for await (const event of client.work(session)) {
    kinds.push(event.kind);
    if ('at' in event) heard.push(event);
    if (event.kind === 'job-started') closed ??= holder.close();
  }
  await closed;
  expect(kinds).toEqual(expect.arrayContaining(['store-away', 'store-back', 'run-rested']));
  expect(await client.result(session)).toMatchObject({ status: 'completed', calls: 10 });
  expect(heard).toEqual((await client.events(session, { limit: 10_000 })).events);
  await client.close();
  expect(existsSync(join(dataDirectory, 'socket'))).toBe(false);
});

test('a store that could not be opened again is tried again by the next call', async () => {
  const over = async (): Promise<never> => {
    const details = { outcome: 'not carried out' };
    throw new DialecticError('holder_ended', 'The holder has ended.', { details });
  };
  const way = (call: Transport['call']): Transport => ({
    call,
    async *stream() {
      yield await call('list', []);
    },
    close: async () => {},
  });
  let opened = 0;
  const held = new HeldStore(way(over), async () => {
    if (++opened === 1) throw new DialecticError('data_directory_locked', 'Another has it.');
    return way(async () => 'there');
  });
  const refused = held.call('list', []);
  await expect(refused).rejects.toMatchObject({ code: 'data_directory_locked' });
  expect(await held.call('list', [])).toBe('there');
  expect(await held.call('list', [])).toBe('there');
  expect(opened).toBe(2);
});

test('a store that was closed is not opened again for who still follows', async () => {
  const end = Promise.withResolvers<void>();
  const first: Transport = {
    call: async () => 'there',
    async *stream() {
      yield { kind: 'job-started' };
      await end.promise;
      throw new DialecticError('holder_ended', 'The holder has ended.');
    },
    close: async () => {},
  };
  let opened = 0;
  const held = new HeldStore(first, async () => {
    opened++;
    return first;
  });
  const follow = async (): Promise<void> => {
    for await (const _ of held.stream('watch', ['session', {}]));
  };
  const following = follow();
  await held.close();
  end.resolve();
  await expect(following).rejects.toMatchObject({ code: 'storage_closed' });
  expect(opened).toBe(0);
});

test('who wants to work on runs waits for a holder without models to end', async () => {
  const dataDirectory = await emptyDirectory();
  const reader = await open(dataDirectory, false);
  expect(await (await open(dataDirectory, false)).list()).toEqual([]);
  const opening = open(dataDirectory);
  await reader.close();
  const worker = await opening;
  expect(await worker.estimate(run)).toMatchObject({ calls: { middle: 10 } });
  const other = await open(dataDirectory);
  const refused = other.start({ ...run, models: ['anthropic/claude-sonnet-5'] });
  await expect(refused).rejects.toMatchObject({
    code: 'provider_not_configured',
    message: expect.stringContaining('with the keys and the configuration that it was started'),
  });
});

test('a holder of another version is not asked anything', async () => {
  const dataDirectory = await temporaryFolder();
  const lock = await lockDirectory(dataDirectory);
  afterTheFile(() => lock.release());
  const greeting = { version: '0.0.1', pid: 7, callsModels: true };
  const address = prepareAddress(dataDirectory);
  const server = await SocketServer.listen(address, greeting, async () => 1);
  afterTheFile(() => server.close());
  await expect(open(dataDirectory)).rejects.toMatchObject({
    code: 'holder_version_differs',
    message: expect.stringContaining('Process 7 holds the data directory and is dialectic 0.0.1'),
  });
});

test('every verb works beside a process that holds the store, and a run outlives its death', async () => {
  const data = await emptyDirectory();
  const folder = await temporaryFolder();
  const { child, ended } = spawnDialectic(['worker', '--data', data]);
  afterTheFile(() => child.kill('SIGKILL'));
  await expect.poll(() => existsSync(join(data, 'socket/api'))).toBe(true);
  const dialectic = (...words: string[]) =>
    runDialectic([...words, '--data', data], { cwd: folder });
  await writeFile(join(folder, 'brief.md'), run.brief);

  const offline = ['-m', 'offline/builder', '-m', 'offline/skeptic'];
  const begun = ['run', 'brief.md', '-p', 'decision-memo', ...offline, '-o', 'memo', '--yes'];
  expect(await dialectic(...begun, '--until', 'clarify')).toMatchObject({ code: 0 });
  // The folder is the one of this terminal, not of the process that wrote it.
  expect(existsSync(join(folder, 'memo/project_readme.md'))).toBe(true);
  for (const words of [['list'], ['show'], ['estimate', 'brief.md', ...offline], ['questions']]) {
    expect(await dialectic(...words)).toMatchObject({ code: 0 });
  }
  expect(await dialectic('feedback', 'clarify', 'Mind the noise.')).toMatchObject({ code: 0 });
  expect(child.exitCode).toBe(null);

  const client = await open(data);
  // Whoever holds the store works on everything in it; others look on.
  const short = { ...run, until: 'clarify' };
  await client.start(short);
  const watched = await dialectic('watch', '--json');
  expect(watched).toMatchObject({ code: 0 });
  const kinds = watched.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).kind);
  expect(kinds).toEqual(expect.arrayContaining(['job-started', 'document-rendered']));

  const { session } = await client.start(short);
  for await (const event of client.work(session)) {
    if (event.kind === 'job-started') child.kill('SIGKILL');
  }
  // One line for each document that it wrote, whoever asked for it.
  expect((await ended).stderr).toMatch(/^done {2}\S{8} {2}.+ by 1 offline\/builder · .+ s$/m);
  expect((await client.result(session)).standing).toBe('stopped after clarify');
  await client.close();
  expect((await dialectic('list')).stdout).toContain(session.slice(-8));
});

test('to watch what no process works on says so, and lets the store go', async () => {
  const data = await emptyDirectory();
  const dialectic = await open(data);
  const { session } = await dialectic.start(run);
  await dialectic.close();
  const { code, stderr } = await runDialectic(['watch', '--data', data]);
  expect(stderr).toContain(`No process works on this session now.`);
  expect(stderr).toMatch(new RegExp(`dialectic resume ${session} \\(run_stopped\\)\\n$`));
  expect(code).toBe(7);
  const asJson = await runDialectic(['watch', '--json', '--data', data]);
  expect(asJson.code).toBe(7);
  expect(JSON.parse(asJson.stderr.trim().split('\n').at(-1)!)).toMatchObject({
    error: { code: 'run_stopped', details: { session } },
  });
});
