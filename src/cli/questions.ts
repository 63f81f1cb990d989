import { Command } from 'commander';
import { shortId } from '../session/name-document.ts';
import { nameAskers, type Question } from '../session/questions.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { printRows } from './output.ts';
import { findSession } from './sessions.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean };

/** `dialectic questions`: what the documents leave to people, and what was answered. */
export function questionsCommand(): Command {
  return new Command('questions')
    .description('list the questions that the documents leave to people')
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((wanted: string | undefined, options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        const { id } = await findSession(dialectic, wanted);
        const questions = await dialectic.questions(id);
        const open = questions.filter(({ answers }) => answers.length === 0).length;
        printRows(options.json === true, { session: id, open, questions }, [
          `${open} of ${countNoun(questions.length, 'question is', 'questions are')} open.`,
          ...questions.flatMap(describe),
          ...(open > 0
            ? [`Answer one with: dialectic answer NUMBER ANSWER -s ${quoteWord(shortId(id))}`]
            : []),
        ]);
      }),
    );
}

function describe(one: Question): string[] {
  const { number, id, question, assumption, answers } = one;
  return [
    `${String(number).padStart(3)}  ${id}  ${question}`,
    `       asked by ${nameAskers(one).join('; ')}`,
    ...(assumption === null ? [] : [`       assumed until then: ${assumption}`]),
    ...answers.map((answer) => `       answered: ${answer}`),
  ];
}
