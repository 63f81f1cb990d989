import { Session } from 'node:inspector/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readRequests } from '../../src/documents/requests.ts';
import { readBody } from '../../src/handlers/read-body.ts';
import type { Contract, Process } from '../../src/recipe/types.ts';
import { startRun } from '../../src/session/start.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { startModelServer } from '../wallet/model-server.ts';
import { configFor, MODELS, work } from '../wallet/sessions.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestStore('embedded');
});

/**
 * How often the renderer runs during some work, as V8 counts the calls of its function. What is
 * rehearsed while a model takes long is no document.
 */
async function countRenderings(during: () => Promise<unknown>): Promise<number> {
  const inspector = new Session();
  inspector.connect();
  onTestFinished(() => inspector.disconnect());
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await during();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  await inspector.post('Profiler.stopPreciseCoverage');
  const countCalls = (file: string, name: string): number =>
    result
      .filter(({ url }) => url.endsWith(`/generation/${file}.ts`))
      .flatMap(({ functions }) => functions)
      .filter(({ functionName }) => functionName === name)
      .reduce((sum, { ranges }) => sum + ranges[0]!.count, 0);
  return (
    countCalls('render-markdown', 'renderMarkdown') - countCalls('rehearse-step', 'renderEmpty')
  );
}

const SIGNED: Contract = {
  type: 'object',
  title: 'Review',
  required: ['text'],
  properties: { text: { type: 'string' }, by: { type: 'string', 'x-fill': 'own_model' } },
};

const SIGNED_PAGE =
  '{{ content.text | markdown }}\n{% if content.by %}\n## By\n\n{{ content.by }}\n{% endif %}';

/** Drafts that reviews read, drafts and reviews that verdicts read; code signs the reviews. */
function debate(): Process {
  const signed = stage('review', [
    step('review', 'EXECUTE', 'all_to_one', 'review', ['doc:draft/draft*@all']),
  ]);
  return processOf('debate', [
    stage('draft', [
      step('plan', 'PLAN', 'all_to_one', 'frame', ['seed:draft/']),
      step('draft', 'EXECUTE', 'per_source_document', 'draft', ['header:draft/frame']),
    ]),
    {
      ...signed,
      contracts: { 'contracts/any.yaml': SIGNED },
      files: { ...signed.files, 'templates/any.md': SIGNED_PAGE },
    },
    stage('verdict', [
      step('verdict', 'EXECUTE', 'all_to_one', 'verdict', [
        'doc:draft/draft*=0.8@all',
        'doc:review/review*@all',
      ]),
    ]),
  ]);
}

test('a document is rendered once for its page and for every prompt that shows it', async () => {
  const { tenantId } = await newTenant(database);
  const server = await startModelServer();
  onTestFinished(() => server.stop());
  const run = { name: 'Debate', brief: 'Bread.', process: debate(), models: MODELS };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const renderings = await countRenderings(async () => {
    const config = configFor(server.url);
    expect(await work(database, { tenantId, sessionId }, config)).toBe('completed');
  });
  const { documents, requests } = await database.asTenant(tenantId, async (tx) => ({
    documents: await tx.query<{ key: string; page: string; body: string }>(
      `select d.document_key as key, p.body as page, b.body from documents d
       join blobs p on p.hash = d.markdown_hash join blobs b on b.hash = d.body_hash
       where d.session_id = $1 and d.kind = 'document'`,
      [sessionId],
    ),
    requests: [...(await readRequests(tx, sessionId)).values()],
  }));
  // Pages are saved with their documents, without jobs of their own.
  const jobs = await database.asTenant(tenantId, (tx) =>
    tx.query<{ type: string }>('select distinct job_type as type from jobs where session_id = $1', [
      sessionId,
    ]),
  );
  expect(jobs.map(({ type }) => type).toSorted()).toEqual(['EXECUTE', 'PLAN']);
  // Six documents. The pages of the two reviews also show who signed, which prompts must not.
  expect(documents.map(({ key }) => key).toSorted()).toEqual(
    ['draft', 'review', 'verdict'].flatMap((key) => [key, key]),
  );
  expect(renderings).toBe(6 + 2);
  const prompts = requests.map((request) => JSON.stringify(request)).join('\n');
  for (const { key, page, body } of documents) {
    const isSigned = key === 'review';
    expect(page.endsWith(`\n\n${body}`)).toBe(!isSigned);
    expect(/## By\n\ncompatible\//.test(page)).toBe(isSigned);
    const shown = JSON.stringify(body.trim()).slice(1, -1);
    expect(prompts.includes(shown)).toBe(key !== 'verdict');
  }
  expect(prompts).not.toContain('compatible/');
});

test('a document whose body was not stored is rendered for its first reader', async () => {
  const { tenantId } = await newTenant(database);
  const server = await startModelServer();
  onTestFinished(() => server.stop());
  const process = debate();
  const run = { name: 'Debate', brief: 'Bread.', process, models: MODELS, untilStage: 'draft' };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  await work(database, { tenantId, sessionId }, configFor(server.url));
  const read = () =>
    database.asTenant(tenantId, async (tx) => {
      const [row] = await tx.query<{ id: string; content: unknown; body_hash: string | null }>(
        `select id, content, body_hash from documents where session_id = $1
           and document_key = 'draft' order by identity`,
        [sessionId],
      );
      const [drafts] = process.stages;
      return readBody(tx, process, drafts!, drafts!.steps[1]!, row!);
    });
  const stored = await read();
  // As an earlier release left it.
  await database.asTenant(tenantId, (tx) => tx.query('update documents set body_hash = null'));
  expect(await countRenderings(async () => expect(await read()).toBe(stored))).toBe(1);
  expect(await countRenderings(async () => expect(await read()).toBe(stored))).toBe(0);
});
