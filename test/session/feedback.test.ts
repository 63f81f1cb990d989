import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readRequests } from '../../src/documents/requests.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { stepsGiven } from '../../src/planning/give-feedback.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { configureProcess } from '../../src/recipe/configure-process.ts';
import type { Process, Stage } from '../../src/recipe/types.ts';
import { approveStage, iterateSession } from '../../src/session/advance.ts';
import { addFeedback, type NewFeedback } from '../../src/session/feedback.ts';
import { answerQuestion, readQuestions } from '../../src/session/questions.ts';
import { readSession } from '../../src/session/read.ts';
import { type NewRun, startRun } from '../../src/session/start.ts';
import { untilRested, withWorker } from '../engine.ts';
import { workPlan } from '../generation/work-plan.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const softwarePlan = shipped('software-plan');
const memo = shipped('decision-memo');

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

const start = async (run: Partial<NewRun>): Promise<string> => {
  const brief = 'A web shop for a bakery with click and collect.';
  const defaults = { name: 'Bakery', brief, process: memo, models: ['offline/builder'] };
  return (await database.asTenant(tenantId, (tx) => startRun(tx, { ...defaults, ...run })))
    .sessionId;
};

/** Runs a session with the offline author until it has a status. */
async function write(sessionId: string, status: string): Promise<void> {
  const config = { providers: {}, models: {} };
  const provider = createModelProvider(config);
  const handlers = createHandlers({ database, provider, config });
  const rested = await withWorker(
    database,
    handlers,
    (worker) => untilRested(worker, database, { tenantId, sessionId }),
    { concurrency: 8, pollMs: 200 },
  );
  expect(rested.status).toBe(status);
}

const give = (sessionId: string, feedback: NewFeedback) =>
  database.asTenant(tenantId, (tx) => addFeedback(tx, sessionId, feedback));

/** Answers the first question that documents of a stage ask. */
const answerFirst = (sessionId: string, stageKey: string, text: string) =>
  database.asTenant(tenantId, async (tx) => {
    const questions = await readQuestions(tx, await readSession(tx, sessionId));
    const first = questions.find(({ askedBy }) => askedBy.some(({ stage }) => stage === stageKey));
    return answerQuestion(tx, sessionId, { stageKey, question: first!.question, text });
  });

/** What people said as it stands in the stored requests of one pass, not as documents quote it. */
async function readGiven(sessionId: string, iteration: number) {
  const { rows, requests } = await database.asTenant(tenantId, async (tx) => ({
    requests: await readRequests(tx, sessionId),
    rows: await tx.query<{ id: string; stage: string; step: string }>(
      `select c.id, j.payload->'planned'->>'stage' as stage, j.step_key as step
       from model_calls c join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
       where c.tenant_id = $1 and c.session_id = $2
         and (j.payload->'planned'->>'iteration')::int = $3`,
      [tenantId, sessionId, iteration],
    ),
  }));
  return rows.map(({ id, stage, step }) => {
    const { messages = [] } = requests.get(id) ?? {};
    const text = messages.map(({ content }) => content).join('\n');
    const blocks = [...text.matchAll(/<feedback [^>]*>\n([^<]*)\n<\/feedback>/g)];
    const told = text.includes('## What people said');
    return { stage, step, told, given: blocks.map(([, words]) => words!).join('\n') };
  });
}

test('eleven pieces after a finished run all stand in prompts of the next pass', async () => {
  const sessionId = await start({ process: softwarePlan });
  await write(sessionId, 'completed');
  const pieces: (NewFeedback & { readonly text: string })[] = [
    ...softwarePlan.stages.map(({ key }) => ({ stageKey: key, text: `Comment on all of ${key}.` })),
    ...[
      ['thesis', 'business_case'],
      ['antithesis', 'business_case_critique'],
      ['antithesis', 'risk_register@1'],
      ['synthesis', 'synthesis/product_requirements'],
    ].map(([stageKey, document]) => ({
      stageKey: stageKey!,
      document: document!,
      text: `Comment on the document ${document}.`,
    })),
  ];
  const predicted = [];
  for (const piece of pieces) predicted.push((await give(sessionId, piece)).readBy);
  for (const stageKey of ['thesis', 'parenthesis']) {
    const text = `The baker decides in ${stageKey}.`;
    const { given, question } = await answerFirst(sessionId, stageKey, text);
    const own = given.find(({ readBy }) => readBy.stage === stageKey)!;
    pieces.push({ stageKey, text: `Question: ${question.question}\nAnswer: ${text}` });
    predicted.push(own.readBy);
  }
  expect(pieces.length).toBe(11);
  await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
  await write(sessionId, 'completed');
  const prompts = await readGiven(sessionId, 2);
  expect(prompts.length).toBeGreaterThan(30);
  // A prompt that holds feedback also says what to do with it.
  expect(prompts.filter(({ given, told }) => (given !== '') !== told)).toEqual([]);
  for (const [at, { text, stageKey }] of pieces.entries()) {
    const holding = prompts.filter((prompt) => prompt.given.includes(text));
    const own = holding.filter((prompt) => prompt.stage === stageKey).map(({ step }) => step);
    // It reaches the steps of its own stage that the command named.
    expect(predicted[at], text).toMatchObject({ stage: stageKey, iteration: 2 });
    expect([...new Set(own)].toSorted(), text).toEqual(predicted[at]!.steps.toSorted());
  }
}, 240_000);

/** Runs a session whose documents only matter by what they were given. */
function recordGiven(): { execute: JobHandler; given: PlannedJob[] } {
  const given: PlannedJob[] = [];
  const execute = writeTrivially((planned) => {
    given.push(planned);
    return {};
  });
  return { execute, given };
}

describe.each([
  ['software-plan', softwarePlan],
  ['decision-memo', memo],
])('feedback on %s', (_name, process) => {
  test('on any stage and any document is given to jobs of the next pass', async () => {
    const sessionId = await start({ process, models: ['x/a', 'x/b'] });
    await runUntil(database, { tenantId, sessionId }, 'completed');
    const documents = await database.asTenant(tenantId, (tx) =>
      tx.query<{ id: string; stage_key: string }>(
        `select id, stage_key from documents where session_id = $1 and kind <> 'seed_prompt'`,
        [sessionId],
      ),
    );
    const ids: string[] = [];
    for (const stage of process.stages) {
      ids.push((await give(sessionId, { stageKey: stage.key, text: 'All of it.' })).id);
    }
    for (const { id, stage_key } of documents) {
      ids.push((await give(sessionId, { stageKey: stage_key, document: id, text: 'It.' })).id);
    }
    await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
    const { execute, given } = recordGiven();
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    const read = new Set(given.flatMap((job) => job.inputs.flatMap((input) => input.ids)));
    expect(ids.filter((id) => !read.has(id))).toEqual([]);
  }, 120_000);

  test('at a gate is given to the very next stage, whatever stage it is on', async () => {
    const sessionId = await start({ process, models: ['x/a', 'x/b'], reviewStages: true });
    const { execute, given } = recordGiven();
    for (const [at, next] of process.stages.slice(1).entries()) {
      await runUntil(database, { tenantId, sessionId }, 'awaiting_review', execute);
      const ids = [];
      for (const stage of process.stages.slice(0, at + 1)) {
        const { id, readBy } = await give(sessionId, { stageKey: stage.key, text: 'Shorter.' });
        expect(readBy).toMatchObject({ stage: next.key, iteration: 1 });
        ids.push(id);
      }
      given.length = 0;
      await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
      const status = at === process.stages.length - 2 ? 'completed' : 'awaiting_review';
      await runUntil(database, { tenantId, sessionId }, status, execute);
      const read = new Set(given.flatMap((job) => job.inputIds));
      expect(given.every((job) => job.stage === next.key)).toBe(true);
      expect(ids.filter((id) => !read.has(id))).toEqual([]);
    }
  }, 120_000);
});

const withoutFeedback = (process: Process, keep: (stage: string) => boolean): Process => ({
  ...process,
  stages: process.stages.map((stage) => ({
    ...stage,
    steps: stage.steps.map((step) => ({
      ...step,
      inputs: step.inputs.filter(({ type }) => type !== 'feedback' || keep(stage.key)),
    })),
  })),
});

describe('a process of a user', () => {
  test('that reads no feedback refuses it and says what to do', async () => {
    const process = withoutFeedback(workPlan(), () => false);
    const sessionId = await start({ process });
    await runUntil(database, { tenantId, sessionId }, 'completed');
    const [stage] = process.stages;
    const refused = give(sessionId, { stageKey: stage!.key, text: 'Shorter.' });
    await expect(refused).rejects.toMatchObject({ code: 'conflict' });
    await expect(refused).rejects.toThrow('No step of the process');
  });

  test('takes no feedback on a stage that the run leaves out', async () => {
    const out = memo.stages[0]!.key;
    const settings = {
      depth: memo.depth,
      ask: false,
      result: true,
      shortcuts: false,
      laneCount: 1,
    };
    const stages = memo.stages.map((stage) => ({
      ...stage,
      steps: stage.steps.map((step) => ({
        ...step,
        inputs: step.inputs.map((one) => (one.stage === out ? { ...one, required: false } : one)),
      })),
    }));
    const process = configureProcess({ ...memo, stages, askStage: out }, settings);
    const sessionId = await start({ process });
    await runUntil(database, { tenantId, sessionId }, 'completed');
    await expect(give(sessionId, { stageKey: out, text: 'Harder.' })).rejects.toThrow(
      `This run leaves the stage ${out} out`,
    );
  });

  test('gives feedback only to steps that ask a model', () => {
    const stage = memo.stages.at(-1)!;
    const [writes, ranks] = stage.steps;
    const copied = { ...stage, steps: [{ ...writes!, prompt: null, compute: 'copy' }, ranks!] };
    const subject = { stage: stage.key, documentKey: writes!.output.documentKey, iteration: 1 };
    expect(stepsGiven(stage, subject, 2)).toEqual([writes]);
    expect(stepsGiven(copied as Stage, subject, 2)).toEqual([ranks]);
  });

  test('gives feedback on a stage that reads none to its first steps', async () => {
    const last = memo.stages.at(-1)!.key;
    const process = { ...memo, stages: withoutFeedback(memo, (key) => key === last).stages };
    const isPrompt = (path: string) => path.startsWith('prompts/');
    const stages = process.stages.map((stage) => ({
      ...stage,
      files: Object.fromEntries(
        Object.entries(stage.files).map(([path, text]) => [path, isPrompt(path) ? 'Write.' : text]),
      ),
    }));
    const sessionId = await start({ process: { ...process, stages } });
    await runUntil(database, { tenantId, sessionId }, 'completed');
    const { id, readBy } = await give(sessionId, { stageKey: memo.stages[1]!.key, text: 'More.' });
    expect(readBy.steps).toEqual([memo.stages[1]!.steps[0]!.key]);
    await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
    const { execute, given } = recordGiven();
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    expect(given.filter((job) => job.inputIds.includes(id)).length).toBe(1);
  });
});
