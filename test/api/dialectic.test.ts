import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Dialectic, openDialectic, type RunOptions, type WorkEvent } from '../../src/index.ts';
import { describeDocument } from '../../src/recipe/contract.ts';
import { afterTheFile, emptyDirectory, temporaryFolder } from '../stores.ts';

const run: RunOptions = {
  brief: 'Should the library open on Sundays? Two staff, 9,000 euros a year.',
  process: 'decision-memo',
  models: ['offline/builder', 'offline/skeptic'],
};

const options = { environment: {}, backupEveryMs: 0 };
let dataDirectory: string;
let holder: Dialectic;
beforeAll(async () => {
  dataDirectory = await emptyDirectory();
  holder = await openDialectic({ ...options, dataDirectory });
  afterTheFile(() => holder.close());
});

async function gather<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** What is in the log, without what tells how it was read. */
const logged = (events: readonly object[]) => events.filter((event) => 'at' in event);

const refused = (code: string) => expect.objectContaining({ code, name: 'DialecticError' });

/** The same store in the process that holds it, and over the socket on which that one answers. */
const transports = {
  'in process': async () => holder,
  'over the socket': () => openDialectic({ ...options, dataDirectory }),
};

describe.each(Object.entries(transports))('the API %s', (_name, open) => {
  let dialectic: Dialectic;
  beforeAll(async () => {
    dialectic = await open();
  });

  /** Works on a session until it rests. */
  const work = (session: string, out?: string): Promise<WorkEvent[]> =>
    gather(dialectic.work(session, { out }));

  test('a run tells where its time went', async () => {
    const trace = join(await temporaryFolder(), 'trace.json');
    const { session } = await dialectic.start({ ...run, until: 'propose', name: 'Traced' });
    const events = await gather(dialectic.work(session, { trace }));
    const told = events.find(({ kind }) => kind === 'trace-written');
    const causes = told?.kind === 'trace-written' ? told.waits.map(({ name }) => name) : [];
    const expected = ['claim', 'wait for a claim: EXECUTE', 'load', 'assemble', 'reserve'];
    expect(causes).toEqual(expect.arrayContaining([...expected, 'call', 'save', 'commit']));
    expect(causes).toContain('store: wait for a connection');
    const file = JSON.parse(await readFile(trace, 'utf8')) as { traceEvents: { name: string }[] };
    expect(new Set(file.traceEvents.map(({ name }) => name))).toEqual(new Set(causes));
  });

  test('a run is started, worked on, reviewed, chosen, exported and passed again', async () => {
    const out = join(await temporaryFolder(), 'out');
    const { session, project } = await dialectic.start({
      ...run,
      approve: 'stage',
      name: 'Sundays',
    });
    expect(await dialectic.find()).toMatchObject({ id: session, projectId: project, calls: 0 });

    const first = await work(session, out);
    expect(first.at(-1)).toMatchObject({
      kind: 'run-rested',
      result: { standing: 'waiting for you' },
    });
    const { stage } = (await dialectic.result(session)).documents[0]!;
    const given = await dialectic.feedback(session, { stage, text: 'Mind the noise.' });
    expect(given.readBy.steps.length).toBeGreaterThan(0);
    const [question] = await dialectic.questions(session);
    const answered = await dialectic.answer(session, { question: question!.id, text: 'Forty.' });
    expect(answered).toMatchObject({ session, question: question!.id });

    let info = await dialectic.approve(session, { out });
    while (info.status === 'running') {
      await work(session, out);
      info = await dialectic.find(session);
      if (info.awaiting) info = await dialectic.approve(session);
    }
    const result = await dialectic.result(session);
    expect(result).toMatchObject({ status: 'completed', calls: 10, vote: { counted: 2 } });
    const prompts = Object.entries(await dialectic.files(session)).filter(
      ([path, text]) => path.endsWith('_prompt.md') && text.includes('Mind the noise.'),
    );
    expect(prompts.length).toBeGreaterThan(0);

    const { id, path } = result.documents.findLast((one) => one.path !== null)!;
    const document = await dialectic.document(session, id);
    expect(document).toMatchObject({ id, version: 1 });
    const written = await readFile(join(out, path!), 'utf8');
    expect(written).toContain(document.markdown!.slice(-100).trim());

    const other = result.chosen!.lane === 1 ? 2 : 1;
    expect(await dialectic.choose(session, other)).toMatchObject({ session, lane: other });
    const exported = await dialectic.export(session, out);
    expect(exported.chosen).toMatchObject({ lane: other, by: 'person' });
    expect((await dialectic.iterate(session)).iteration).toBe(2);
    expect((await dialectic.cancel(session)).status).toBe('cancelled');
  }, 60_000);

  test('an observer hears the same events as the worker, and goes on from a cursor', async () => {
    const { session } = await dialectic.start({ ...run, until: 'clarify' });
    const watching = gather(dialectic.watch(session));
    const worked = logged(await work(session));
    expect(logged(await watching)).toEqual(worked);
    const { events } = await dialectic.events(session, { limit: 5 });
    expect(events).toEqual(worked.slice(0, 5));
    const rest = await gather(dialectic.watch(session, { after: events.at(-1)!.cursor }));
    expect(logged(rest)).toEqual(worked.slice(5));
  }, 60_000);

  test('leaving the loop stops the work; a pause holds it until it is resumed', async () => {
    const { session } = await dialectic.start(run);
    for await (const event of dialectic.work(session)) if (event.kind === 'job-started') break;
    expect(await dialectic.find(session)).toMatchObject({ status: 'running', gates: [] });
    expect(await dialectic.pause(session)).toMatchObject({ gates: ['user'] });
    const resting = await work(session);
    expect(resting.at(-1)).toMatchObject({ result: { standing: 'paused' } });
    expect(await dialectic.resume(session)).toMatchObject({ status: 'running', gates: [] });
    expect((await work(session)).at(-1)).toMatchObject({ result: { status: 'completed' } });
  }, 60_000);

  test('a budget holds from the first call on, and a higher one lets the run go on', async () => {
    const { session } = await dialectic.start({ ...run, budget: { tokens: 10 } });
    expect((await work(session)).at(-1)).toMatchObject({ result: { gates: ['budget'], calls: 0 } });
    expect(await dialectic.notices()).toMatchObject([{ topic: `session/${session}` }]);
    expect(await dialectic.dismissNotices('all')).toHaveLength(1);
    await dialectic.resume(session, { budget: { tokens: 10_000_000 } });
    expect((await work(session)).at(-1)).toMatchObject({ result: { status: 'completed' } });
    expect((await dialectic.costs(session)).calls).toHaveLength(10);
    const before = await dialectic.wallet.balance();
    const again = dialectic.resume(session, { budget: { tokens: 5 } });
    await expect(again).rejects.toEqual(refused('conflict'));
    expect(await dialectic.wallet.balance()).toEqual(before);
  }, 60_000);

  test('a budget below what is spent is refused, and nothing changes', async () => {
    const { session } = await dialectic.start({ ...run, until: 'clarify' });
    await work(session);
    const { tokens: spent } = await dialectic.costs(session);
    const before = [await dialectic.find(session), await dialectic.wallet.balance()];
    const budget = { tokens: spent - 1 };
    const refusal = {
      code: 'budget_too_small',
      message: expect.stringMatching(/^The run has spent [\d,]+ tokens already/),
      details: { session, currency: 'token', spent, amount: spent - 1 },
    };
    const resumed = dialectic.resume(session, { budget });
    await expect(resumed).rejects.toMatchObject(refusal);
    const iterated = dialectic.iterate(session, { budget });
    await expect(iterated).rejects.toMatchObject(refusal);
    const set = dialectic.setBudget(session, budget);
    await expect(set).rejects.toMatchObject(refusal);
    expect([await dialectic.find(session), await dialectic.wallet.balance()]).toEqual(before);
    await dialectic.resume(session, { budget: { tokens: spent } });
    expect((await work(session)).at(-1)).toMatchObject({ result: { gates: ['budget'] } });
    await dialectic.resume(session, { budget: { tokens: 10_000_000 } });
    expect((await work(session)).at(-1)).toMatchObject({ result: { status: 'completed' } });
  }, 60_000);

  test('a page is found by path, file, id, key or title, and by nothing else', async () => {
    const { id: session } = await dialectic.find();
    expect((await dialectic.page(session)).path).toBe('project_readme.md');
    const { documents, chosen } = await dialectic.result(session);
    const { id, path, key, lane, stage } = documents.find((one) => one.path !== null)!;
    const { process } = await dialectic.session(session);
    const { title } = describeDocument(
      process.stages.find((one) => one.key === stage)!,
      process.stages
        .flatMap(({ steps }) => steps)
        .find(({ output }) => output.documentKey === key)!,
    );
    const names = [path!, `my/plan/${path!}`, id.slice(-8), `${key}@${lane}`, `${title}@${lane}`];
    names.push(title.toUpperCase().concat(`@${lane}`), `${stage}/${key}@${lane}`);
    for (const name of names) {
      expect([name, (await dialectic.page(session, name)).path]).toEqual([name, path]);
    }
    const markdown = (await dialectic.document(session, id)).markdown!;
    expect((await dialectic.page(session, path!)).text).toContain(markdown.slice(-100).trim());
    const followed = documents.find((one) => one.key === key && one.lane === chosen!.lane)!;
    expect((await dialectic.page(session, key)).path).toBe(followed.path);
    await expect(dialectic.page(session, 'nonsense')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(`${key}@${lane}  ${title} by`),
    });
  });

  test('whatever comes back survives JSON unchanged', async () => {
    const { id } = await dialectic.find();
    const answers = [
      await dialectic.estimate(run),
      await dialectic.list(),
      await dialectic.events(id),
      await dialectic.result(id),
      await dialectic.costs(id),
      await dialectic.questions(id),
      await dialectic.files(id),
      await dialectic.wallet.balance(),
      await dialectic.wallet.history(),
      await dialectic.notices(),
      await dialectic.waits(id),
    ];
    expect(JSON.parse(JSON.stringify(answers))).toStrictEqual(answers);
  });

  test('what is refused throws an error with a stable code, and nothing was started', async () => {
    const before = (await dialectic.list()).length;
    const occupied = await temporaryFolder();
    await writeFile(join(occupied, 'mine'), '');
    const wrong: [Partial<RunOptions>, string][] = [
      [{ brief: '' }, 'usage_invalid'],
      [{ models: [] }, 'usage_invalid'],
      [{ models: ['nobody/x'] }, 'provider_not_configured'],
      [{ process: 'no-such-recipe' }, 'recipe_unknown'],
      [{ until: 'no-such-stage' }, 'usage_invalid'],
      [{ writer: 'offline/critic' }, 'usage_invalid'],
      [{ out: occupied }, 'folder_occupied'],
    ];
    for (const [options, code] of wrong) {
      await expect(dialectic.start({ ...run, ...options })).rejects.toEqual(refused(code));
    }
    expect(await dialectic.list()).toHaveLength(before);
    await expect(dialectic.find('no-such-id')).rejects.toEqual(refused('not_found'));
    const { id } = await dialectic.find();
    await expect(dialectic.approve(id)).rejects.toEqual(refused('conflict'));
    await expect(dialectic.document(id, id)).rejects.toEqual(refused('not_found'));
    await expect(dialectic.document(id, 'deadbeef')).rejects.toEqual(refused('not_found'));
  });

  test.each(['deadbeef', '01a1e1cb-8395-747d-b97c-8e1b5b9ab8cb'])(
    'a session that is not there, %s, is not found, whatever is asked of it',
    async (id) => {
      const asked = {
        session: () => dialectic.session(id),
        result: () => dialectic.result(id),
        page: () => dialectic.page(id),
        questions: () => dialectic.questions(id),
        answer: () => dialectic.answer(id, { question: '1', text: 'Yes.' }),
        feedback: () => dialectic.feedback(id, { stage: 'clarify', text: 'Shorter.' }),
        choose: () => dialectic.choose(id, 1),
        setBudget: () => dialectic.setBudget(id, { tokens: 5 }),
        updateFolder: () => dialectic.updateFolder(id),
        pause: () => dialectic.pause(id),
        cancel: () => dialectic.cancel(id),
        resume: () => dialectic.resume(id),
        approve: () => dialectic.approve(id),
        iterate: () => dialectic.iterate(id),
        watch: () => gather(dialectic.watch(id)),
        work: () => work(id),
      };
      for (const [name, ask] of Object.entries(asked)) {
        await expect(ask(), name).rejects.toMatchObject({
          code: 'not_found',
          message: `There is no session ${id}.`,
        });
      }
    },
  );

  test('what a session cost and waits for is asked by its whole id', async () => {
    await expect(dialectic.costs('deadbeef')).rejects.toEqual(refused('not_found'));
    await expect(dialectic.waits('deadbeef')).rejects.toEqual(refused('not_found'));
  });
});
