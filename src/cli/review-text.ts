import type { Dialectic } from '../api/dialectic.ts';
import { splitFrontMatter } from '../documents/front-matter.ts';
import { describeDocument } from '../recipe/contract.ts';
import { stageOf } from '../recipe/edges.ts';
import type { Stage } from '../recipe/types.ts';
import type { Question } from '../session/questions.ts';
import type { RunResult } from '../session/summary.ts';
import { countNoun } from '../text/count-noun.ts';
import { showPath } from './plan-folder.ts';
import { nameParticipant } from './screen/run-view.ts';

/** A stage that waits for a person, with what there is to look at. */
export type StageToReview = {
  readonly stage: Stage;
  /** The stage that begins with the approval. */
  readonly next: Stage | undefined;
  /** What people can read, in the order in which it is listed. */
  readonly documents: readonly {
    readonly id: string;
    readonly title: string;
    readonly author: string;
    readonly path: string;
    readonly opening: string;
  }[];
  /** Open questions by their numbers. */
  readonly questions: readonly Question[];
};

/** Reads what a stage has written and asks. */
export async function readStageToReview(
  dialectic: Dialectic,
  result: RunResult,
  stageKey: string,
): Promise<StageToReview> {
  const { session } = result;
  const { process, lanes, iteration } = await dialectic.session(session);
  const stage = stageOf(process, stageKey);
  const written = result.documents.filter(
    (one) => one.stage === stageKey && one.iteration === iteration && one.path !== null,
  );
  const documents = await Promise.all(
    written.map(async ({ id, key, lane, model, path }) => {
      const step = stage.steps.find(({ output }) => output.documentKey === key);
      const { markdown } = await dialectic.document(session, id);
      return {
        id,
        title: step ? describeDocument(stage, step).title : key,
        author: nameParticipant({ ordinal: lane, model }, lanes.length),
        path: path ?? '',
        opening: readOpening(markdown ?? ''),
      };
    }),
  );
  const questions = await dialectic.questions(session);
  return {
    stage,
    next: process.stages[process.stages.indexOf(stage) + 1],
    documents,
    questions: questions.filter(({ answers }) => answers.length === 0),
  };
}

/** The first line of a page that is text: neither heading nor table. */
function readOpening(markdown: string): string {
  const lines = splitFrontMatter(markdown).text.split('\n');
  const texts = lines.map((line) => line.replace(/^(?:[-*>]|\d+\.) /, '').trim());
  return texts.find((line) => /^[\p{L}\p{N}"'(*]/u.test(line)) ?? '';
}

const MOST_CHARACTERS = 100;

const shorten = (text: string): string =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;

/** What was written, with the numbers by which it can be spoken of, and what is asked. */
export function describeStage({ stage, documents, questions }: StageToReview): string[] {
  const count = countNoun(documents.length, 'document');
  return [
    '',
    `${stage.name} is done and waits for you: ${count}.`,
    ...documents.flatMap(({ title, author, path, opening }, at) => [
      `  d${at + 1}  ${title} · ${author}`,
      ...(opening === '' ? [] : [`      ${shorten(opening)}`]),
      `      ${showPath(path)}`,
    ]),
    ...(questions.length > 0 ? ['Open questions:'] : []),
    ...questions.flatMap(({ number, question, assumption }) => [
      `  ${number}  ${question}`,
      ...(assumption === null ? [] : [`      assumed until then: ${assumption}`]),
    ]),
  ];
}

/** What can be typed. */
export const describeChoices = ({ stage, next, documents, questions }: StageToReview): string[] => [
  '',
  ...(questions.length > 0 ? [`${questions[0]!.number} TEXT  answers a question`] : []),
  ...(documents.length > 0 ? ['d1 TEXT  says something about a document'] : []),
  `TEXT  says something about ${stage.name} as a whole`,
  'e  writes answers and feedback in your editor',
  `Enter  goes on with ${next?.name ?? 'the run'};  q  stops here, to go on later`,
];
