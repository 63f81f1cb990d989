import { PassThrough } from 'node:stream';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Dialectic, LocalDialectic } from '../../src/api/dialectic.ts';
import type { RunOptions } from '../../src/api/run-options.ts';
import { deleteProject } from '../../src/cli/project.ts';
import type { Database } from '../../src/db/database.ts';
import { addNotice } from '../../src/db/notices.ts';
import type { AnyTransaction } from '../../src/db/transaction.ts';
import { saveBlob } from '../../src/documents/blobs.ts';
import { cancelSession } from '../../src/jobs/sessions.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { newId } from '../../src/platform/ids.ts';
import { eraseProject } from '../../src/session/erase-project.ts';
import { startRun } from '../../src/session/start.ts';
import { holdFunds, voidHold } from '../../src/wallet/holds.ts';
import { untilLookedAgain } from '../engine.ts';
import { ownedDatabase } from '../owned-database.ts';
import { tenantTables } from '../security/sample-rows.ts';
import { describeOnBoth, newTenant, openStore, openTestStore } from '../stores.ts';
import { shipped } from './trivial.ts';

const SECRET = 'Zanzibar-marmalade';
const run: RunOptions = {
  brief: 'Should the library open on Sundays? Two staff.',
  process: 'decision-memo',
  models: ['offline/builder'],
  until: 'clarify',
};
const secret: RunOptions = {
  ...run,
  project: SECRET,
  brief: `Should ${SECRET} be sold in the library?`,
  overlay: { role: `a seller of ${SECRET}` },
  projectOverlay: { standards: [`Taste the ${SECRET}.`] },
  resources: [{ kind: 'constraint_boundaries', name: 'limits', text: `One jar of ${SECRET}.` }],
  sources: [
    {
      title: 'A recipe',
      excerpts: [`Boil the ${SECRET}.`],
      archived: { mediaType: 'text/plain', base64: Buffer.from(SECRET).toString('base64') },
    },
  ],
};
/** As the text of a column of bytes shows it. */
const SECRET_BYTES = Buffer.from(SECRET).toString('hex');
/** The log tells that a session is gone; the ledger keeps what was paid, and for which session. */
const KEEP_IDS = ['events', 'holds', 'postings'];

const open = (database: Database, tenantId: string): Dialectic =>
  new LocalDialectic({
    database,
    tenantId,
    models: readModelsConfig({}, {}),
    jobs: DEFAULT_JOB_SETTINGS,
    log: () => {},
  });

describeOnBoth('a project', (kind) => {
  let database: Database;
  let dialectic: Dialectic;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });
  beforeEach(async () => {
    ({ tenantId } = await newTenant(database));
    dialectic = open(database, tenantId);
  });
  const asOwner = <T>(work: (tx: AnyTransaction) => Promise<T>): Promise<T> =>
    database.transaction({ as: 'owner' }, work);

  /** The tables with a row of the tenant that mentions one of the words. */
  const mentions = (...words: string[]): Promise<string[]> =>
    asOwner(async (tx) => {
      const found: string[] = [];
      for (const table of await tenantTables(tx)) {
        const rows = await tx.query(
          `select 1 from ${table} t where tenant_id = $2 and t::text like any ($1) limit 1`,
          [words.map((word) => `%${word}%`), tenantId],
        );
        if (rows.length > 0) found.push(table);
      }
      return found.toSorted();
    });

  /** A digest of every row of a tenant. */
  const digest = (ofTenant: string): Promise<string[]> =>
    asOwner(async (tx) => {
      const all: string[] = [];
      for (const table of await tenantTables(tx)) {
        const { rows } = await tx.queryOne<{ rows: string }>(
          `select '${table} ' || count(*) || ' ' || md5(string_agg(t::text, ',' order by t::text))
             as rows from ${table} t where tenant_id = $1`,
          [ofTenant],
        );
        all.push(rows);
      }
      return all;
    });

  const sums = () =>
    asOwner((tx) =>
      tx.query<{ currency: string; sum: number; entries: number; drift: number }>(
        `select e.currency, sum(e.amount)::float8 as sum, count(*) as entries,
           count(*) filter (where a.balance <> (select sum(o.amount) from entries o
             where o.tenant_id = a.tenant_id and o.account_id = a.id)) as drift
         from entries e join accounts a on a.tenant_id = e.tenant_id and a.id = e.account_id
         where e.tenant_id = $1 group by 1 order by 1`,
        [tenantId],
      ),
    );

  async function work(session: string): Promise<void> {
    for await (const event of dialectic.work(session)) if (event.kind === 'run-rested') return;
  }

  test('that is deleted leaves no text, and the ledger as it was', async () => {
    const { session, project } = await dialectic.start({ ...secret, budget: { tokens: 1e9 } });
    await work(session);
    await dialectic.feedback(session, { stage: 'clarify', text: `More ${SECRET}.` });
    await database.asTenant(tenantId, async (tx) => {
      const about = { severity: 'info', code: 'conflict', topic: `session/${session}` } as const;
      await addNotice(tx, { ...about, message: `No ${SECRET} left.` });
    });
    const memo = shipped('decision-memo');
    const second = await database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: '',
        project: SECRET,
        brief: '',
        process: {
          ...memo,
          name: SECRET,
          stages: memo.stages.map((stage) => ({ ...stage, name: `${stage.name} ${SECRET}` })),
        },
        models: ['offline/critic'],
      }),
    );
    await dialectic.cancel(second.sessionId);

    const other = await dialectic.start({ ...run, name: 'Sundays' });
    await work(other.session);
    const stranger = await newTenant(database);
    await open(database, stranger.tenantId).start(secret);
    const theirs = await digest(stranger.tenantId);

    expect(await mentions(SECRET)).toEqual(
      expect.arrayContaining([
        'blobs',
        'documents',
        'feedback',
        'notices',
        'projects',
        'recipe_stages',
        'recipe_versions',
        'sessions',
      ]),
    );
    expect(await mentions(SECRET_BYTES)).toEqual(['archived_bytes']);
    const ids = [session, second.sessionId, project];
    const [money, spent] = [await sums(), await dialectic.wallet.history()];
    const costs = await dialectic.costs(session);
    expect(costs.tokens).toBeGreaterThan(0);
    const untouched = await dialectic.files(other.session);

    const erased = await dialectic.deleteProject(SECRET);
    expect(erased).toMatchObject({ project, name: SECRET, sessions: 2, documents: 1 });
    expect(erased.bytes).toBeGreaterThan(1_000);
    expect(await mentions(SECRET)).toEqual([]);
    expect(await mentions(...ids)).toEqual(KEEP_IDS);
    expect(await sums()).toEqual(money);
    expect(money.map(({ sum, drift }) => ({ sum, drift }))).toEqual(
      money.map(() => ({ sum: 0, drift: 0 })),
    );
    expect(await dialectic.wallet.history()).toEqual(spent);
    const left = await dialectic.costs(session);
    expect(left.entries).toEqual(costs.entries);
    expect(await dialectic.files(other.session)).toEqual(untouched);
    expect((await dialectic.list({ all: true })).map(({ id }) => id)).toEqual([other.session]);
    await expect(dialectic.deleteProject(SECRET)).rejects.toMatchObject({ code: 'not_found' });
    expect(await digest(stranger.tenantId)).toEqual(theirs);
  }, 120_000);

  test('that is deleted leaves the texts that another one shares', async () => {
    const [one, two] = [
      await dialectic.start({ ...run, project: 'One' }),
      await dialectic.start({ ...run, project: 'Two' }),
    ];
    for (const { session } of [one, two]) await dialectic.cancel(session);
    await dialectic.deleteProject('One');
    expect(await mentions('Clarify: One')).toEqual([]);
    expect(Object.values(await dialectic.files(two.session)).join()).toContain(run.brief);
    expect((await dialectic.deleteProject('Two')).bytes).toBeGreaterThan(run.brief!.length);
    expect(await mentions(run.brief!)).toEqual([]);
  });

  test('is not deleted while a session runs, is paused or has a call in flight', async () => {
    const { session, project } = await dialectic.start({ ...run, project: 'Busy' });
    const refused = expect.objectContaining({
      code: 'session_running',
      message: expect.stringContaining(`dialectic cancel ${session}`),
    });
    await expect(dialectic.deleteProject('Busy')).rejects.toEqual(refused);
    await dialectic.pause(session);
    await expect(dialectic.deleteProject('Busy')).rejects.toEqual(refused);
    const call = { callId: newId(), purpose: 'generation' };
    const worst = { usdMicros: 5, tokens: 5, inputUsdMicros: 0, inputTokens: 0 };
    await database.asTenant(tenantId, (tx) =>
      holdFunds(tx, { ...call, ...worst, sessionId: session, provider: 'x' }),
    );
    await dialectic.cancel(session);
    await expect(dialectic.deleteProject('Busy')).rejects.toMatchObject({
      code: 'session_running',
      message: expect.stringContaining('still in flight'),
    });
    await database.asTenant(tenantId, (tx) => voidHold(tx, call));
    expect(await dialectic.deleteProject(project.slice(-12))).toMatchObject({ sessions: 1 });
  });

  test('is out of the reach of other tenants, and events of everybody else', async () => {
    const { session, project } = await dialectic.start({ ...run, project: 'Mine' });
    await dialectic.cancel(session);
    const before = await digest(tenantId);
    const { tenantId: stranger } = await newTenant(database);
    for (const named of [tenantId, stranger]) {
      const attack = database.asTenant(stranger, (tx) =>
        tx.query('select erase_project($1, $2)', [named, project]),
      );
      const code = named === tenantId ? 'access_denied' : 'not_found';
      await expect(attack).rejects.toMatchObject({ code });
    }
    const scopes = [{ as: 'worker' }, { as: 'owner' }, { as: 'tenant', tenantId }] as const;
    for (const scope of scopes) {
      const attack = database.transaction(scope, (tx) => tx.query('delete from events'));
      await expect(attack, scope.as).rejects.toMatchObject({ code: 'access_denied' });
    }
    expect(await digest(tenantId)).toEqual(before);
  });

  // An embedded store has one connection, so that transactions come one after the other.
  test.runIf(kind === 'server')(
    'that is deleted takes no text that a transaction is about to use',
    async () => {
      const { session } = await dialectic.start({ ...run, project: 'Gone' });
      await dialectic.cancel(session);
      let isOver = false;
      const isWaiting = async (): Promise<boolean> => {
        const sql = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
        return (await asOwner((tx) => tx.query(sql))).length > 0;
      };
      let erasing: Promise<unknown> = Promise.resolve();
      await database.asTenant(tenantId, async (tx) => {
        const brief = await saveBlob(tx, run.brief!);
        erasing = dialectic.deleteProject('Gone').finally(() => (isOver = true));
        await expect.poll(async () => isOver || (await isWaiting()), { interval: 20 }).toBe(true);
        await tx.query(
          'insert into projects (tenant_id, id, name, brief_hash) values ($1, $2, $3, $4)',
          [tenantId, newId(), 'New', brief],
        );
      });
      await erasing;
      expect(await mentions(run.brief!)).toEqual(['blobs']);
      expect(await dialectic.project('New')).toMatchObject({ sessions: 0 });
    },
  );

  test('that is deleted ends the watching of its sessions', async () => {
    const { session, project } = await dialectic.start(run);
    const watching = (async () => {
      for await (const { kind: told } of dialectic.watch(session)) expect(told).toBeTruthy();
    })();
    watching.catch(() => {}); // looked at below
    await untilLookedAgain(database);
    // In one transaction, so that no reader sees the event of the cancellation.
    await database.asTenant(tenantId, async (tx) => {
      await cancelSession(tx, session);
      await eraseProject(tx, project);
    });
    await expect(watching).rejects.toMatchObject({ code: 'not_found' });
  });

  test('that is archived is left out of lists, found by id, and takes no new session', async () => {
    const old = await dialectic.start({ ...run, project: 'Old' });
    const young = await dialectic.start({ ...run, project: 'Young' });
    for (const { session } of [old, young]) await dialectic.cancel(session);
    expect(await dialectic.archiveProject('Young')).toMatchObject({ id: young.project });
    expect((await dialectic.list()).map(({ id }) => id)).toEqual([old.session]);
    expect(await dialectic.list({ all: true })).toMatchObject([
      { id: young.session, archived: true },
      { id: old.session, archived: false },
    ]);
    expect((await dialectic.find()).id).toBe(old.session);
    expect((await dialectic.find(young.session)).archived).toBe(true);
    const again = dialectic.start({ ...run, project: 'Young' });
    await expect(again).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('dialectic project unarchive'),
    });
    await dialectic.unarchiveProject('Young');
    expect((await dialectic.find()).id).toBe(young.session);
  });

  test('expires when it was unused for the set time, unless a session of it runs', async () => {
    const names = ['Unused', 'Running', 'Revived'];
    const started = await Promise.all(names.map((project) => dialectic.start({ ...run, project })));
    const [unused, running, revived] = started.map(({ session }) => session);
    for (const session of [unused!, revived!]) await dialectic.cancel(session);
    await asOwner(async (tx) => {
      const old = `app_now() - interval '31 days'`;
      await tx.query(`update projects set created_at = ${old} where tenant_id = $1`, [tenantId]);
      await tx.query(`update sessions set created_at = ${old} where tenant_id = $1`, [tenantId]);
      await tx.query(`update jobs set finished_at = ${old} where tenant_id = $1`, [tenantId]);
    });
    const { session: again } = await dialectic.start({ ...run, project: 'Revived' });
    await dialectic.cancel(again);
    await dialectic.archiveProject('Unused');
    await expect(dialectic.expireProjects()).rejects.toMatchObject({ code: 'usage_invalid' });
    await expect(dialectic.expireProjects({ days: 0 })).rejects.toMatchObject({
      code: 'usage_invalid',
    });
    expect(await dialectic.expireProjects({ days: 32 })).toMatchObject({ expired: [], kept: [] });

    const before = await digest(tenantId);
    expect(await dialectic.expireProjects({ days: 30, dryRun: true })).toMatchObject({
      expired: [{ name: 'Unused', sessions: 1 }],
      deleted: [],
      kept: [{ name: 'Running' }],
    });
    expect(await digest(tenantId)).toEqual(before);
    expect(await dialectic.expireProjects({ days: 30 })).toMatchObject({
      deleted: [{ name: 'Unused', sessions: 1 }],
      kept: [{ name: 'Running' }],
    });
    const left = (await dialectic.list({ all: true })).map(({ id }) => id);
    expect(left.toSorted()).toEqual([running!, revived!, again].toSorted());
  });

  test('is deleted on the command line by a person who says yes', async () => {
    const { session } = await dialectic.start({ ...run, project: 'Asked' });
    await dialectic.cancel(session);
    const answer = async (text: string): Promise<string> => {
      const [input, output] = [new PassThrough(), new PassThrough()];
      input.end(text);
      const deleting = deleteProject(dialectic, 'Asked', {}, { input, output });
      await deleting.catch((error: Error) => output.end(error.message));
      return String(output.read());
    };
    expect(await answer('no\n')).toMatch(
      /^Delete project Asked with 1 session and 0 documents for good\? .*Nothing was deleted/,
    );
    expect(await answer('')).toContain('Nothing was deleted');
    expect(await dialectic.project('Asked')).toMatchObject({ sessions: 1 });
    let printed = '';
    const print = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
    await answer('yes\n').finally(() => print.mockRestore());
    expect(printed).toMatch(
      /^Deleted project Asked: 1 session, 0 documents, \d+ bytes of text\.\n$/,
    );
    await expect(dialectic.project('Asked')).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a project of a server whose schema no superuser owns is erased, and only by its tenant', async () => {
  const database = await openStore({ databaseUrl: await ownedDatabase() });
  const [own, stranger] = [await newTenant(database), await newTenant(database)];
  const dialectic = open(database, own.tenantId);
  const { session, project } = await dialectic.start({ ...run, project: 'Mine' });
  await dialectic.cancel(session);
  const attack = database.asTenant(stranger.tenantId, (tx) =>
    tx.query('select erase_project($1, $2)', [own.tenantId, project]),
  );
  await expect(attack).rejects.toMatchObject({ code: 'access_denied' });
  expect(await dialectic.deleteProject('Mine')).toMatchObject({ sessions: 1 });
  expect(await dialectic.list({ all: true })).toEqual([]);
  // Transactions of other databases on the server hold readers of events back for a while.
  const told = async () => (await dialectic.events(session)).events.map(({ kind }) => kind);
  await expect.poll(told, { timeout: 20_000 }).toEqual(['session-erased']);
});
