import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { approveStage } from '../../src/session/advance.ts';
import { exportSession } from '../../src/session/export.ts';
import { addFeedback } from '../../src/session/feedback.ts';
import { answerQuestion, readQuestions } from '../../src/session/questions.ts';
import { readSession } from '../../src/session/read.ts';
import { type NewRun, startRun } from '../../src/session/start.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const memo = shipped('decision-memo');
let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

const start = async (run: Partial<NewRun>): Promise<string> => {
  const models = ['x/a', 'x/b'];
  const defaults = {
    name: 'A project',
    brief: 'Open on Sundays?',
    process: memo,
    models,
  };
  return (await database.asTenant(tenantId, (tx) => startRun(tx, { ...defaults, ...run })))
    .sessionId;
};
const read = (id: string) =>
  database.asTenant(tenantId, async (tx) => readQuestions(tx, await readSession(tx, id)));
const answer = (id: string, question: string, text: string, stageKey?: string) =>
  database.asTenant(tenantId, (tx) =>
    answerQuestion(tx, id, { question, text, stageKey: stageKey ?? null }),
  );

/** Both lanes ask the same in clarify; the proposals ask it again in other spelling. */
const asking = writeTrivially(({ stage }: PlannedJob) => {
  if (stage === 'clarify') {
    return { questions: [{ question: 'Who pays?', assumption: 'The town.' }] };
  }
  return stage === 'propose' ? { open_questions: ['who  pays', 'Who opens the door?'] } : {};
});

test('several documents that ask the same ask it once, and an answer closes it', async () => {
  const sessionId = await start({});
  await runUntil(database, { tenantId, sessionId }, 'completed', asking);
  const [first, second, ...more] = await read(sessionId);
  expect(more).toEqual([]);
  expect(first).toMatchObject({ number: 1, question: 'Who pays?', assumption: 'The town.' });
  expect(first!.askedBy.map(({ name }) => name)).toEqual([
    'clarify/questions@1',
    'clarify/questions@2',
    'propose/proposal@1',
    'propose/proposal@2',
  ]);
  expect(second).toMatchObject({ question: 'Who opens the door?', assumption: null, answers: [] });

  const readme = async (): Promise<string> => {
    const { files } = await database.asTenant(tenantId, async (tx) =>
      exportSession(tx, await readSession(tx, sessionId)),
    );
    return files.get('project_readme.md')!;
  };
  expect(await readme()).toContain('Who pays?');
  // Both stages that ask it are told in the next pass.
  const { given } = await answer(sessionId, '1', 'The state pays.');
  expect(given.map(({ readBy }) => readBy)).toMatchObject([
    { stage: 'clarify', iteration: 2 },
    { stage: 'propose', iteration: 2 },
  ]);
  expect((await read(sessionId))[0]!.answers).toEqual(['The state pays.']);
  expect(await readme()).not.toContain('Who pays?');
  expect(await readme()).toContain('Who opens the door?');
});

test('the pages name the session in every command, since another one may be the newest', async () => {
  const sessionId = await start({});
  await runUntil(database, { tenantId, sessionId }, 'completed', asking);
  const { files } = await database.asTenant(tenantId, async (tx) =>
    exportSession(tx, await readSession(tx, sessionId)),
  );
  const short = sessionId.slice(-8);
  for (const path of ['project_readme.md', `session_${sessionId.slice(-12)}/contents.md`]) {
    const named = [...files.get(path)!.matchAll(/`dialectic [^`]*`/g)].map(([command]) => command);
    expect(named, path).toContain(`\`dialectic answer NUMBER ANSWER -s ${short}\``);
    for (const command of named) expect(command, path).toContain(short);
  }
});

test('a question is named by number, id or text; what nobody asks is refused', async () => {
  const sessionId = await start({});
  await runUntil(database, { tenantId, sessionId }, 'completed', asking);
  const [, door] = await read(sessionId);
  for (const name of ['2', door!.id, 'who opens the door']) {
    expect((await answer(sessionId, name, `By ${name}.`)).question.id).toBe(door!.id);
  }
  const refused = answer(sessionId, 'Who sleeps?', 'I do.');
  await expect(refused).rejects.toMatchObject({ code: 'not_found' });
  await expect(refused).rejects.toThrow('Who pays?');
  await expect(refused).rejects.not.toThrow('Who opens the door?');
  // The documents of clarify do not ask it.
  await expect(answer(sessionId, '2', 'The janitor.', 'clarify')).rejects.toThrow(
    'No document of clarify asks',
  );
});

test('at a gate the next stage is told once, and the folder says who read it', async () => {
  const sessionId = await start({ reviewStages: true });
  const place = { tenantId, sessionId };
  await runUntil(database, place, 'awaiting_review', asking);
  await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
  await runUntil(database, place, 'awaiting_review', asking);
  const { given } = await answer(sessionId, 'Who pays?', 'The state pays.');
  expect(given.map(({ readBy }) => readBy)).toMatchObject([{ stage: 'challenge', iteration: 1 }]);
  await database.asTenant(tenantId, (tx) =>
    addFeedback(tx, sessionId, {
      stageKey: 'propose',
      document: 'proposal@2',
      text: 'Say it shorter.',
    }),
  );
  const files = () =>
    database.asTenant(tenantId, async (tx) => {
      const exported = await exportSession(tx, await readSession(tx, sessionId));
      return [...exported.files].filter(
        ([path]) => path.endsWith('.md') && !path.includes('/recipe/') && path.includes('feedback'),
      );
    });
  expect((await files()).every(([, text]) => text.includes('not read yet'))).toBe(true);
  await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
  const written = await files();
  expect(written.map(([path]) => path.split('/').at(-1)!)).toEqual([
    'user_feedback_clarify.md',
    'x-b_1_proposal_feedback.md',
  ]);
  for (const [path, text] of written) expect(text, path).toContain('read in pass 1, challenge');
});
