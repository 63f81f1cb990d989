import type { Database } from '../../src/db/database.ts';
import { splitFrontMatter } from '../../src/documents/front-matter.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { type ModelsConfig, readModelsConfig } from '../../src/models/config.ts';
import type { CallSubject, ModelProvider } from '../../src/models/types.ts';
import type { Process } from '../../src/recipe/types.ts';
import { type ExportedSession, exportSession } from '../../src/session/export.ts';
import { readSession, type SessionView } from '../../src/session/read.ts';
import { untilRested, withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';

export type Place = { readonly database: Database; readonly tenantId: string };

/** Two lanes propose, each reviews both proposals, and merges each proposal with each review. */
export function debate(): Process {
  const propose = stage('propose', [
    step('frame', 'PLAN', 'all_to_one', 'frame', ['seed:propose/']),
    step('case', 'EXECUTE', 'per_source_document', 'case', ['header:propose/frame']),
  ]);
  const review = stage('review', [
    step('critique', 'EXECUTE', 'per_source_document_by_lineage', 'critique', [
      'doc:propose/case*@all',
      'fb:propose/case*?=0.5@all',
    ]),
  ]);
  const merge = stage('merge', [
    step(
      'pair',
      'EXECUTE',
      'pairwise_by_origin',
      'pair',
      ['doc:propose/case@all', 'doc:review/critique=0.9@all'],
      { forEach: 'case' },
    ),
  ]);
  return processOf('debate', [propose, review, merge]);
}

const PIECE = 200;

/** Every answer is another text; the second lane's proposals come in three pieces. */
function textOf({ stage: key, documentKey, iteration, lane, about }: CallSubject): string {
  const text = `Lane ${lane} writes ${key}/${documentKey} on ${about.join()} in pass ${iteration}.`;
  return JSON.stringify({ text: Array.from({ length: 12 }, (_, at) => `${at} ${text}`).join(' ') });
}

export const writer: ModelProvider = {
  generate({ subject }) {
    const whole = textOf(subject!);
    const isCut = subject!.documentKey === 'case' && subject!.lane === 2;
    const from = isCut ? subject!.before.join('').length : 0;
    const text = isCut ? whole.slice(from, from + PIECE) : whole;
    const finishReason = from + text.length < whole.length ? 'length' : 'stop';
    const counts = { inputTokens: 1_000 * subject!.lane, outputTokens: text.length };
    return Promise.resolve({
      text,
      finishReason,
      usage: { ...counts, cachedInputTokens: 0, cacheWriteTokens: 0, estimated: false },
      raw: { finishReason, responseId: null, warnings: [] },
    });
  },
};

const price = { input: 1, output: 10 };
export const CONFIG: ModelsConfig = readModelsConfig(
  {},
  { models: { 'compatible/a': { price }, 'compatible/b': { price } } },
);

/** Works on a session until it rests, and exports it. */
export async function work(
  { database, tenantId }: Place,
  sessionId: string,
  { provider, config }: { provider: ModelProvider; config: ModelsConfig },
): Promise<ExportedSession & { readonly session: SessionView }> {
  await withWorker(database, createHandlers({ database, provider, config }), (worker) =>
    untilRested(worker, database, { tenantId, sessionId }),
  );
  return database.asTenant(tenantId, async (tx) => {
    const session = await readSession(tx, sessionId);
    return { ...(await exportSession(tx, session)), session };
  });
}

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

const withoutNames = (text: string): string =>
  text.replaceAll(/recorded[-/](?=compatible)/g, '').replaceAll(ID, 'ID');

/** The texts of documents without what each run has of its own: ids, names of lanes, costs. */
export function textsOf(files: ReadonlyMap<string, string>): Record<string, string> {
  const own = [...files].filter(([path]) => /\/documents\/.*(?<!_feedback)\.md$/.test(path));
  return Object.fromEntries(
    own.map(([path, text]) => [
      path.replace(/^session_[^/]+\//, '').replaceAll('recorded-', ''),
      withoutNames(splitFrontMatter(text).text),
    ]),
  );
}
