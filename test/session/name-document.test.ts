import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { approveStage } from '../../src/session/advance.ts';
import { addFeedback } from '../../src/session/feedback.ts';
import { nameOf, shortId } from '../../src/session/name-document.ts';
import { startRun } from '../../src/session/start.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped } from './trivial.ts';

const process = shipped('software-plan');
let database: Database;
let tenantId: string;
let sessionId: string;
type Row = { id: string; stage: string; key: string; lane: number };
let documents: Row[] | undefined;

beforeAll(async () => {
  database = await openTestStore('embedded');
  ({ tenantId } = await newTenant(database));
});

/** Two lanes after the stages thesis and antithesis. */
const prepare = async (): Promise<void> => {
  if (documents) return;
  const models = ['x/a', 'x/b'];
  const run = { name: 'A project', brief: 'Build a thing.', process, models };
  ({ sessionId } = await database.asTenant(tenantId, (tx) =>
    startRun(tx, { ...run, reviewStages: true }),
  ));
  await runUntil(database, { tenantId, sessionId }, 'awaiting_review');
  await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
  await runUntil(database, { tenantId, sessionId }, 'awaiting_review');
  documents = await database.asTenant(tenantId, (tx) =>
    tx.query<Row>(
      `select d.id, d.stage_key as stage, d.document_key as key, l.ordinal as lane
       from documents d join lanes l on l.id = d.lane_id where d.session_id = $1`,
      [sessionId],
    ),
  );
};
beforeEach(prepare, 120_000);

const find = (key: string, lane: number): Row =>
  documents!.find((one) => one.key === key && one.lane === lane)!;

const give = (stageKey: string, document: string) =>
  database.asTenant(tenantId, async (tx) => {
    const { id } = await addFeedback(tx, sessionId, { stageKey, document, text: 'x' });
    const [row] = await tx.query<{ document_id: string }>(
      'select document_id from feedback where id = $1',
      [id],
    );
    return row!.document_id;
  });

test('a document is found by key and lane, by stage and key, by id and by the end of it', async () => {
  const { id } = find('business_case', 2);
  for (const name of [
    'business_case@2',
    'Business Case@2',
    'thesis/business_case@2',
    'Proposal/business case@2',
    nameOf(find('business_case', 2)),
    id,
    shortId(id),
  ]) {
    expect(await give('thesis', name), name).toBe(id);
  }
});

test('a name that fits several documents is refused with the candidates', async () => {
  const refused = give('thesis', 'business_case');
  await expect(refused).rejects.toMatchObject({ code: 'usage_invalid' });
  for (const lane of [1, 2]) {
    const row = find('business_case', lane);
    await expect(refused).rejects.toThrow(`${shortId(row.id)}  thesis/business_case@${lane}`);
  }
  // One lane criticises both proposals, so that the lane alone does not tell its critiques apart.
  const critiques = give('antithesis', 'risk_register@1');
  await expect(critiques).rejects.toThrow('risk_register@1 names 2 documents');
  await expect(critiques).rejects.toThrow('on the branch of lane 2');
});

test('a document of another stage is refused, and the message says where it belongs', async () => {
  const refused = give('antithesis', find('business_case', 1).id);
  await expect(refused).rejects.toMatchObject({ code: 'usage_invalid' });
  await expect(refused).rejects.toThrow('is a document of thesis, not of antithesis');
});

test('an unknown document is refused with the list of what there is', async () => {
  for (const name of ['no_such_document', '00000000-0000-7000-8000-000000000000']) {
    const refused = give('thesis', name);
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    await expect(refused).rejects.toThrow('thesis/feature_spec@1');
  }
});
