import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { leaveRun } from '../../src/cli/leave-run.ts';
import { type Dialectic, openDialectic, type WorkEvent } from '../../src/index.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { NO_EVENTS, reduceSession } from '../../src/session/session-state.ts';
import { type Pace, startScriptedServer } from '../generation/scripted-server.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, emptyStore, temporaryFolder } from '../stores.ts';

const TEXT = JSON.stringify({ text: 'One sentence after another. '.repeat(20) });
const drafts = processOf('drafts', [
  stage('draft', [
    step('first', 'PLAN', 'all_to_one', 'first', ['seed:draft/']),
    step('second', 'EXECUTE', 'per_source_document', 'second', ['header:draft/first']),
  ]),
]);

async function gather<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describeOnBoth('a run that is left', (kind) => {
  /** Two doors to one store, and a session whose first answer is held. */
  async function prepare() {
    const pace: Pace = { pieceChars: 50, gapMs: 0, isHeld: () => true };
    const server = await startScriptedServer(() => ({ text: TEXT }), pace);
    const recipe = await temporaryFolder();
    await writeTextFolder(recipe, processToFiles(drafts));
    const environment = { DIALECTIC_BASE_URL: server.url };
    const open = (place: object): Promise<Dialectic> =>
      openDialectic({ ...place, environment, backupEveryMs: 0 });
    const place = await emptyStore(kind);
    const own = await open(place);
    // An embedded store has one process: its second door is the socket of the first.
    const other = await open(place);
    const models = ['compatible/scripted'];
    const { session } = await own.start({ brief: 'Write.', models, process: recipe });
    const close = async (): Promise<void> => {
      await other.close();
      await own.close();
      await server.stop();
    };
    return { own, other, session, server, pace, close };
  }

  const until = (check: () => unknown) =>
    expect.poll(check, { timeout: 60_000, interval: 20 }).toBe(true);

  test('runs only while somebody works on it; the call under way is let finish', async () => {
    const { own, other, session, server, pace, close } = await prepare();
    const standing = async () => (await other.find(session)).standing;
    expect(await standing()).toBe('stopped');
    const stop = new AbortController();
    const kinds: WorkEvent['kind'][] = [];
    let state = NO_EVENTS;
    const working = (async () => {
      for await (const event of own.work(session, { signal: stop.signal, finishCalls: true })) {
        kinds.push(event.kind);
        if ('at' in event) state = reduceSession(state, [event]);
        if (event.kind === 'calls-finishing') pace.isHeld = () => false;
      }
    })();
    await until(() => server.served.length === 1);
    expect(await standing()).toBe('running');
    stop.abort();
    await working;
    // What becomes of the call is told before the end: the last screen shows none in flight.
    const end = kinds.slice(kinds.indexOf('calls-finishing'));
    expect(end).toContain('call-ended');
    expect(end.slice(-2)).toEqual(['caught-up', 'run-rested']);
    const jobs = [...state.jobs.values()].map(({ status }) => status);
    expect(jobs).toContain('completed');
    expect(jobs).not.toContain('processing');
    expect(server.served.length).toBe(1);
    expect((await own.result(session)).documents.map(({ key }) => key)).toEqual(['first']);
    expect(await standing()).toBe('stopped');
    const error = await leaveRun(own, session, null, null);
    expect(error).toMatchObject({ code: 'run_stopped', details: { finished: 1, cut: 0 } });
    expect(error.message).toMatch(
      /^Stopped here\. 1 call under way was finished, .* Saved so far: 1 call, 0 documents\. .*resume/,
    );
    await close();
  }, 60_000);

  test('is no worker of the session from the first Ctrl-C on, though nothing reads its events', async () => {
    const { own, session, server, pace, close } = await prepare();
    const stop = new AbortController();
    const events = own.work(session, { signal: stop.signal, finishCalls: true });
    await events.next();
    await until(() => server.served.length === 1);
    expect(await own.find(session)).toMatchObject({ workers: 1 });
    stop.abort();
    await expect.poll(async () => (await own.find(session)).workers, { timeout: 10_000 }).toBe(0);
    const told = await leaveRun(own, session, null, null);
    expect(told.message).not.toContain('other worker');
    pace.isHeld = () => false;
    await gather(events);
    expect(server.served.length).toBe(1);
    await close();
  }, 60_000);

  test('tells who carries on, and pauses it for all where the person wants that', async () => {
    const { own, other, session, server, pace, close } = await prepare();
    const end = new AbortController();
    const working = gather(other.workOnAll({ signal: end.signal }));
    await until(() => server.served.length === 1);
    const told = await leaveRun(own, session, null, null);
    expect(told.message).toContain(
      `1 other worker goes on with this session and spends; pause it for all with: dialectic pause ${session}`,
    );
    expect(await own.find(session)).toMatchObject({ standing: 'running', workers: 1 });
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.write('y\n');
    const paused = await leaveRun(own, session, null, { input, output });
    expect(String(output.read())).toContain('Pause it for all? [y/N]');
    expect(paused.message).toContain('The session is paused for all workers. Go on with:');
    expect((await own.find(session)).standing).toBe('paused');
    pace.isHeld = () => false;
    await until(() => server.served[0]!.over);
    end.abort();
    const ended = { kind: 'job-ended', session, type: 'EXECUTE', error: null };
    expect(await working).toContainEqual(expect.objectContaining(ended));
    expect(server.served.length).toBe(1);
    await close();
  }, 60_000);
});
