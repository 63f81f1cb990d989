import { expect } from 'vitest';
import { lexicalEmbedder } from '../../src/context/lexical-embedder.ts';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { Contract, Process } from '../../src/recipe/types.ts';
import { startRun } from '../../src/session/start.ts';
import type { SourceDraft } from '../../src/sources/source.ts';
import { untilRested, withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { type Answer, type Asked, startScriptedServer } from './scripted-server.ts';

const text = { type: 'string' } as const;

const FRAME: Contract = {
  type: 'object',
  title: 'Frame',
  required: ['system_materials', 'context_for_documents'],
  properties: {
    system_materials: { type: 'string' },
    context_for_documents: {
      type: 'array',
      items: {
        type: 'object',
        required: ['document_key', 'content_to_include'],
        properties: { document_key: text, content_to_include: text },
      },
    },
  },
};

const CHECKLIST: Contract = {
  type: 'object',
  title: 'Checklist',
  required: ['summary', 'nodes', 'questions'],
  properties: {
    summary: text,
    index: { type: 'array', items: text },
    nodes: {
      type: 'array',
      items: { type: 'object', required: ['title'], properties: { title: text, work: text } },
    },
    questions: { type: 'array', items: text },
  },
};

/** Indented, as a template is that was pasted out of a program. */
const TEMPLATE = `
    # {{ document.title }}

    {{ content.summary | markdown }}

    {% for node in content.nodes %}
    ## {{ node.title }}

    {{ node.work | markdown }}
    {% endfor %}

    ## Order

    {{ content.index | markdown }}

    ## Questions

    {{ content.questions | markdown }}
`;

/** One stage with a plan and one document, whose shapes are known to the tests. */
export function workPlan(): Process {
  const planned = step('plan', 'PLAN', 'all_to_one', 'frame', ['seed:work/']);
  const written = step('write', 'EXECUTE', 'per_source_document', 'checklist', [
    'header:work/frame',
  ]);
  const base = stage('work', [
    { ...planned, output: { ...planned.output, contract: 'contracts/frame.yaml' } },
    { ...written, output: { ...written.output, contract: 'contracts/checklist.yaml' } },
  ]);
  const work = {
    ...base,
    contracts: { 'contracts/frame.yaml': FRAME, 'contracts/checklist.yaml': CHECKLIST },
    files: { ...base.files, 'templates/any.md': TEMPLATE },
  };
  return processOf('work-plan', [work]);
}

export const GOOD_FRAME = {
  system_materials:
    'The bakery opens its shop on the web before the summer; everything serves that.',
  context_for_documents: [
    {
      document_key: 'checklist',
      content_to_include: 'The pieces of work, in order, with reasons.',
    },
  ],
};

export const GOOD_CHECKLIST = {
  summary: 'Three pieces of work, of which the "first" is the riskiest: naïve prices – 5 €.',
  index: ['One', 'Two', 'Three'],
  nodes: [
    { title: 'One', work: 'Ask for access to the till; nothing else can be tested without it.' },
    { title: 'Two', work: 'Show what is fresh.\nSend a message when it is.' },
    { title: 'Three', work: 'Let people say what they liked, "as it is".' },
  ],
  questions: [] as string[],
};

/** How a session ended and what it left. */
export type Outcome = Awaited<ReturnType<typeof playWorkPlan>>;

/**
 * Runs the process against a server that plays `answers` for the checklist, turn by turn (the last
 * one again and again), and a good frame before it unless `frame` says otherwise. A session that
 * ends is resumed so many times.
 */
export async function playWorkPlan(
  place: { readonly database: Database; readonly tenantId: string },
  answers: readonly (Answer | ((asked: Asked) => Answer))[],
  {
    frame = [{ text: JSON.stringify(GOOD_FRAME) }],
    resumes = 0,
    sources = [],
    models = ['compatible/scripted'],
    process = workPlan(),
  }: {
    readonly frame?: readonly Answer[];
    readonly resumes?: number;
    readonly sources?: readonly SourceDraft[];
    readonly models?: readonly string[];
    readonly process?: Process;
  } = {},
) {
  const { database, tenantId } = place;
  const server = await startScriptedServer((asked) => {
    const script = asked.deliverable === 'work/frame' ? frame : answers;
    const answer = script[Math.min(asked.turn, script.length - 1)]!;
    return typeof answer === 'function' ? answer(asked) : answer;
  });
  try {
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: 'Bakery',
        brief: 'A web shop for a bakery.',
        process,
        models,
        sources,
      }),
    );
    const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
    const provider = createModelProvider(config);
    const handlers = createHandlers({ database, config, provider, embedder: lexicalEmbedder });
    const { status } = await withWorker(database, handlers, async (worker) => {
      let rested = await untilRested(worker, database, { tenantId, sessionId });
      for (let n = 0; n < resumes; n++) {
        expect(rested.status).toBe('failed');
        await database.asTenant(tenantId, (tx) => retrySession(tx, sessionId));
        rested = await untilRested(worker, database, { tenantId, sessionId });
      }
      return rested;
    });
    const asked = server.served.filter(({ deliverable }) => deliverable === 'work/checklist');
    return {
      sessionId,
      status,
      asked,
      served: server.served,
      ...(await read(place, sessionId)),
    };
  } finally {
    await server.stop();
  }
}

const read = (
  { database, tenantId }: { readonly database: Database; readonly tenantId: string },
  sessionId: string,
) =>
  database.asTenant(tenantId, async (tx) => {
    const documents = await tx.query<{ key: string; content: unknown; markdown: string | null }>(
      `select d.document_key as key, d.content, b.body as markdown from documents d
       left join blobs b on b.tenant_id = d.tenant_id and b.hash = d.markdown_hash
       where d.session_id = $1 and d.kind <> 'seed_prompt' and not d.superseded`,
      [sessionId],
    );
    const errors = await tx.query<{ code: string }>(
      `select error->>'code' as code from jobs where session_id = $1 and status = 'failed'
         and error->>'code' not in ('child_failed', 'quorum_missed')`,
      [sessionId],
    );
    return {
      checklist: documents.find(({ key }) => key === 'checklist'),
      frame: documents.find(({ key }) => key === 'frame'),
      errors: errors.map(({ code }) => code),
    };
  });
