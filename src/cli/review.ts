import { Command } from 'commander';
import type { NewAnswer } from '../api/data.ts';
import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import type { FeedbackReading } from '../session/feedback.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { withExample } from './help-text.ts';
import { describeNext } from './next-step.ts';
import { printResult } from './output.ts';
import { findSession } from './sessions.ts';
import { withDialectic } from './store.ts';

type Options = {
  data?: string;
  json?: boolean;
  session?: string;
  document?: string;
  out?: string;
};

const withCommon = (command: Command): Command =>
  command
    .option('-s, --session <id>', 'its id or the end of it (default: the newest)')
    .option('-o, --out <dir>', "the folder to write from now on (default: the session's)")
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON');

/** `dialectic feedback`: what a person says about a stage or a document. */
export function feedbackCommand(): Command {
  const command = withCommon(new Command('feedback'))
    .description('say something about a stage or a document; the next stage or pass reads it')
    .argument('<stage>', 'its key or name, as in `dialectic show`')
    .argument('<text>', 'what you say, in quotes')
    .option('-d, --document <name>', 'the document it is about: title, key, key@lane, id or path')
    .action((stage: string, text: string, options: Options) => give(stage, text, options));
  return withExample(command, "dialectic feedback thesis 'We cannot hire anybody before June.'");
}

/** `dialectic answer`: the answer to an open question. */
export function answerCommand(): Command {
  const command = withCommon(new Command('answer'))
    .description('answer an open question, for every stage that asks it or for one')
    .usage('[options] [stage] <question> <answer>')
    .argument(
      '<words...>',
      'the question by its number, id or text as in `dialectic questions`, then the answer',
    )
    .action((words: string[], options: Options) => {
      if (words.length < 2 || words.length > 3) {
        const message = `Give a question and its answer, each as one word or in quotes: ${ANSWER}`;
        throw new DialecticError('usage_invalid', message);
      }
      const [text, question, stageKey] = words.toReversed();
      return answer({ text: text!, question: question!, stage: stageKey ?? null }, options);
    });
  return withExample(command, ANSWER);
}

const ANSWER = "dialectic answer 1 'The mayor decides, by March.'";

async function answer(wanted: NewAnswer, options: Options): Promise<void> {
  await withDialectic(options.data, async (dialectic) => {
    const { id, iteration } = await findSession(dialectic, options.session);
    const given = await dialectic.answer(id, wanted);
    const lines = given.given.map(({ readBy }) => describeReading(readBy, iteration));
    await conclude(dialectic, given, [`Answered: ${given.text}`, ...lines], options);
  });
}

async function give(stage: string, text: string, options: Options): Promise<void> {
  await withDialectic(options.data, async (dialectic) => {
    const { id, iteration } = await findSession(dialectic, options.session);
    const given = await dialectic.feedback(id, { stage, text, document: options.document });
    await conclude(dialectic, given, [describeReading(given.readBy, iteration)], options);
  });
}

/** Brings the folder up to date, and prints what was noted, the folder and the command that goes on. */
async function conclude(
  dialectic: Dialectic,
  given: { readonly session: string },
  lines: readonly string[],
  { json, out }: Options,
): Promise<void> {
  const result = await dialectic.updateFolder(given.session, out);
  const { folder, folderProblem, changedFiles } = result;
  const value = { ...given, folder, folderProblem, changedFiles };
  printResult(json === true, value, [...lines, ...describeNext(result)]);
}

/** Where it will be read, and the command that gets there. */
function describeReading({ stage, iteration, steps }: FeedbackReading, current: number): string {
  const count = countNoun(steps.length, 'step reads', 'steps read');
  const where = `Noted: ${count} it in stage ${stage} of pass ${iteration}`;
  return iteration > current ? `${where}, which the next pass begins.` : `${where}.`;
}

/** `dialectic choose`: the lane that the results follow. */
export function chooseCommand(): Command {
  const command = withCommon(new Command('choose'))
    .description('choose the participant that the readme, Pending/ and every export follow')
    .argument('<participant>', 'its number or model')
    .action(async (participant: string, options: Options) => {
      await withDialectic(options.data, async (dialectic) => {
        const { id } = await findSession(dialectic, options.session);
        const choice = await dialectic.choose(id, participant);
        const { owedStage: owed, lane } = choice;
        const owes =
          `Lane ${lane} has not written the stage ${owed}, another lane did. ` +
          `Let it write its own with: dialectic resume ${quoteWord(id)}`;
        const lines = [`The results follow lane ${lane}.`, ...(owed === null ? [] : [owes])];
        await conclude(dialectic, choice, lines, options);
      });
    });
  return withExample(command, 'dialectic choose 2');
}
