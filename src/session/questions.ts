import { hash } from 'node:crypto';
import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { Slices } from '../platform/clock.ts';
import { contractOf } from '../recipe/contract.ts';
import { requireStage } from '../recipe/find-stage.ts';
import { gatherOpenQuestions, questionKey } from '../recipe/open-questions.ts';
import type { Process } from '../recipe/types.ts';
import { addFeedback, findReading, type GivenFeedback, readLocked } from './feedback.ts';
import { nameOf, shortId } from './name-document.ts';
import type { SessionView } from './read.ts';

/** A question that documents leave to people, once however many of them ask it. */
export type Question = {
  /** Its place in the list; later documents may move it. */
  readonly number: number;
  /** The same for the same question in every list. */
  readonly id: string;
  readonly question: string;
  /** What the documents work with until there is an answer. */
  readonly assumption: string | null;
  readonly askedBy: readonly {
    readonly id: string;
    readonly name: string;
    readonly stage: string;
    readonly key: string;
    readonly lane: number;
    /** Whether it is written for people, in contrast to the steps on the way. */
    readonly rendered: boolean;
  }[];
  readonly answers: readonly string[];
};

/** A document that may ask. */
export type Asker = {
  readonly id: string;
  readonly stage: string;
  readonly step: string;
  readonly key: string;
  readonly lane: number;
  readonly identity: string;
  readonly iteration: number;
  readonly content: unknown;
};

/** Who asks, each document once with its lanes: `thesis/business_case@1,2`. */
export function nameAskers({ askedBy }: Question): string[] {
  const lanes = new Map<string, Set<number>>();
  for (const { stage, key, lane } of askedBy) {
    const place = `${stage}/${key}`;
    lanes.set(place, (lanes.get(place) ?? new Set()).add(lane));
  }
  return [...lanes].map(([place, ordinals]) => `${place}@${[...ordinals].join(',')}`);
}

/** All questions of the newest documents, in the order of the process; answered ones included. */
export async function readQuestions(tx: Transaction, session: SessionView): Promise<Question[]> {
  return gatherQuestions(tx, session, await readAskers(tx, session));
}

/** As `readQuestions`, where the documents of the session have been read already. */
export async function gatherQuestions(
  tx: Transaction,
  session: SessionView,
  documents: readonly Asker[],
  slices = new Slices(),
): Promise<Question[]> {
  const { process } = session;
  const found = new Map<string, Omit<Question, 'number' | 'answers'>>();
  for (const row of newestOf(session, documents)) {
    await slices.rest();
    const stage = process.stages.find(({ key }) => key === row.stage);
    const step = stage?.steps.find(({ key }) => key === row.step);
    if (!stage || !step) continue;
    const { id: document, key: documentKey, lane } = row;
    const rendered = step.output.template !== null;
    const asker = {
      id: document,
      name: nameOf(row),
      stage: row.stage,
      key: documentKey,
      lane,
      rendered,
    };
    for (const { question, assumption } of gatherOpenQuestions(
      row.content,
      contractOf(stage, step),
    )) {
      const key = questionKey(question);
      const known = found.get(key);
      const id = `q${hash('sha256', key, 'hex').slice(0, 6)}`;
      const askedBy = known?.askedBy.some((one) => one.id === row.id)
        ? known.askedBy
        : [...(known?.askedBy ?? []), asker];
      found.set(key, {
        id,
        question: known?.question ?? question,
        assumption: known?.assumption ?? assumption,
        askedBy,
      });
    }
  }
  const answers = await readAnswers(tx, session);
  return [...found].map(([key, question], at) => ({
    number: at + 1,
    ...question,
    answers: answers.get(key) ?? [],
  }));
}

const readAskers = (tx: Transaction, { id }: SessionView): Promise<Asker[]> =>
  tx.query<Asker>(
    `select d.id, d.stage_key as stage, d.step_key as step, d.document_key as key,
       l.ordinal as lane, d.identity, d.iteration, d.content
     from documents d join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
     where d.session_id = $1 and d.kind = 'document' and not d.superseded`,
    [id],
  );

/** What each stage made in the last pass in which it ran, in the order of the process. */
function newestOf({ process }: SessionView, documents: readonly Asker[]): Asker[] {
  const last = new Map<string, number>();
  for (const { stage, iteration } of documents) {
    last.set(stage, Math.max(iteration, last.get(stage) ?? 0));
  }
  const order = process.stages.map(({ key }) => key);
  return documents
    .filter(({ stage, iteration }) => iteration === last.get(stage))
    .filter((row) => !isPrinted(process, row, documents))
    .toSorted(
      (a, b) =>
        order.indexOf(a.stage) - order.indexOf(b.stage) ||
        a.lane - b.lane ||
        (a.identity < b.identity ? -1 : 1),
    );
}

/** Whether code has printed a document under another key: that one asks the same, with figures. */
function isPrinted({ stages }: Process, row: Asker, documents: readonly Asker[]): boolean {
  const steps = stages.find(({ key }) => key === row.stage)?.steps ?? [];
  const printed = steps
    .filter(({ compute, inputs }) => compute === 'print' && inputs[0]?.documentKey === row.key)
    .map(({ output }) => output.documentKey);
  return documents.some(
    ({ stage, key, lane, iteration }) =>
      stage === row.stage &&
      lane === row.lane &&
      iteration === row.iteration &&
      printed.includes(key),
  );
}

async function readAnswers(tx: Transaction, session: SessionView): Promise<Map<string, string[]>> {
  const rows = await tx.query<{ question: string; body: string }>(
    `select question, body from feedback
     where session_id = $1 and question is not null order by created_at, id`,
    [session.id],
  );
  const answers = new Map<string, string[]>();
  for (const { question, body } of rows) {
    const key = questionKey(question);
    const known = answers.get(key) ?? [];
    if (!known.includes(body)) answers.set(key, [...known, body]);
  }
  return answers;
}

type NewAnswer = {
  /** The number, id or text of the question. */
  readonly question: string;
  /** Only questions that documents of this stage ask. */
  readonly stageKey?: string | null;
  readonly text: string;
};

/** Answers a question for every stage that asks it; refuses what no document asks. */
export async function answerQuestion(
  tx: Transaction,
  sessionId: string,
  answer: NewAnswer,
): Promise<{ readonly question: Question; readonly given: readonly GivenFeedback[] }> {
  const session = await readLocked(tx, sessionId);
  const all = await readQuestions(tx, session);
  const stageKey = answer.stageKey ? requireStage(session.process, answer.stageKey).key : null;
  const question = findQuestion(sessionId, all, { ...answer, stageKey });
  const given: GivenFeedback[] = [];
  const taken = new Set<string>();
  for (const stageKey of new Set(question.askedBy.map(({ stage }) => stage))) {
    const { stage, iteration } = await findReading(tx, session, stageKey, null);
    // At a gate one stage takes up what all earlier ones asked: once is enough.
    if (taken.has(`${iteration}/${stage}`)) continue;
    taken.add(`${iteration}/${stage}`);
    const piece = { stageKey, question: question.question, text: answer.text };
    given.push(await addFeedback(tx, sessionId, piece));
  }
  return { question, given };
}

function findQuestion(
  sessionId: string,
  all: readonly Question[],
  { question, stageKey }: NewAnswer,
): Question {
  const asked = all.filter(
    ({ askedBy }) => !stageKey || askedBy.some(({ stage }) => stage === stageKey),
  );
  const key = questionKey(question);
  const found = asked.find(
    (one) =>
      String(one.number) === question || one.id === question || questionKey(one.question) === key,
  );
  if (found) return found;
  const from = stageKey ? `No document of ${stageKey} asks` : 'No document asks';
  const open = asked.filter(({ answers }) => answers.length === 0);
  const lines = open.map((one) => `  ${one.number}  ${one.id}  ${one.question}`);
  const list = lines.length > 0 ? `Open are:\n${lines.join('\n')}` : 'None is open.';
  throw new DialecticError('not_found', `${from} "${question}". ${list}`, {
    action: `\`dialectic questions ${shortId(sessionId)}\` lists the questions, answered ones too.`,
  });
}
