import { Command } from 'commander';
import { choosePerson } from '../session/converge.ts';
import { addFeedback, type FeedbackReading } from '../session/feedback.ts';
import { readSession } from '../session/read.ts';
import { printResult } from './output.ts';
import { findSession } from './sessions.ts';
import { withStore } from './store.ts';

type Options = {
  data?: string;
  json?: boolean;
  session?: string;
  document?: string;
  question?: string;
};

const withCommon = (command: Command): Command =>
  command
    .option('-s, --session <id>', 'its id or the end of it (default: the newest)')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON');

/** `dialectic feedback`: what a person says about a stage or a document. */
export function feedbackCommand(): Command {
  return withCommon(new Command('feedback'))
    .description('say something about a stage or a document; the next stage or pass reads it')
    .argument('<stage>')
    .argument('<text>')
    .option('-d, --document <name>', 'the document it is about: key, key@lane or id, as in show')
    .action((stage: string, text: string, options: Options) => give(stage, text, options));
}

/** `dialectic answer`: the answer to an open question. */
export function answerCommand(): Command {
  return withCommon(new Command('answer'))
    .description('answer an open question of a stage')
    .argument('<stage>')
    .argument('<question>')
    .argument('<answer>')
    .action((stage: string, question: string, answer: string, options: Options) =>
      give(stage, answer, { ...options, question }),
    );
}

async function give(stageKey: string, text: string, options: Options): Promise<void> {
  await withStore(options.data, async (store) => {
    const { id, iteration } = await findSession(store, options.session);
    const { document = null, question = null } = options;
    const given = await store.database.asTenant(store.tenantId, (tx) =>
      addFeedback(tx, { tenantId: store.tenantId, id }, { stageKey, text, document, question }),
    );
    const { readBy } = given;
    const result = { session: id, feedback: given.id, readBy };
    printResult(options.json === true, result, [describeReading(readBy, iteration)]);
  });
}

/** Where it will be read, and the command that gets there. */
function describeReading({ stage, iteration, steps }: FeedbackReading, current: number): string {
  const where = `Noted. Stage ${stage} of pass ${iteration} reads it (${steps.join(', ')})`;
  return iteration > current ? `${where}. Start that pass with: dialectic iterate` : `${where}.`;
}

/** `dialectic choose`: the lane that the results follow. */
export function chooseCommand(): Command {
  return withCommon(new Command('choose'))
    .description('choose the participant that the readme, Pending/ and every export follow')
    .argument('<lane>', 'its number')
    .action(async (lane: string, options: Options) => {
      await withStore(options.data, async (store) => {
        const { id } = await findSession(store, options.session);
        await store.database.asTenant(store.tenantId, async (tx) => {
          await choosePerson(tx, await readSession(tx, store.tenantId, id), Number(lane));
        });
        const line = `The results follow lane ${lane}. Write them with: dialectic export`;
        printResult(options.json === true, { session: id, lane: Number(lane) }, [line]);
      });
    });
}
