import { safeInline } from '../text/markdown-text.ts';
import { quoteWord } from '../text/quote-word.ts';
import { shortId } from './name-document.ts';
import { nameAskers, type Question } from './questions.ts';
import type { SessionView } from './read.ts';

const MOST_ASKERS = 3;

/**
 * The readme's list of what people should answer: what they were asked first and left open, and what
 * the documents of the lane that it follows do, as far as they are written for people. The commands
 * name the session: without it they would take the newest one, which is another by the time that
 * somebody reads the page.
 */
export function describeQuestions(
  { id: sessionId, lanes, chosenLaneId, process }: SessionView,
  questions: readonly Question[],
): string[] {
  const open = questions.filter(({ answers }) => answers.length === 0);
  if (open.length === 0) return [];
  const chosen = lanes.find(({ id }) => id === chosenLaneId)?.ordinal;
  const own = open.filter(({ askedBy }) =>
    askedBy.some(
      ({ stage, lane, rendered }) =>
        stage === process.askStage || (rendered && (chosen ?? lane) === lane),
    ),
  );
  const others = open.length - own.length;
  const session = shortId(sessionId);
  const list = `\`dialectic questions ${quoteWord(session)}\``;
  const more = others > 0 ? [`${others} more stand in other documents: ${list}.`, ''] : [];
  const answer = `\`dialectic answer NUMBER ANSWER -s ${quoteWord(session)}\``;
  const how = `Answer one with ${answer}; the next stage or pass reads it.`;
  return ['## Open questions', '', how, '', ...own.map(describe), '', ...more];
}

function describe(question: Question): string {
  const { number, assumption } = question;
  const askers = nameAskers(question);
  const rest = askers.length - MOST_ASKERS;
  const names = [...askers.slice(0, MOST_ASKERS), ...(rest > 0 ? [`${rest} more`] : [])];
  const end = /[.?!…]$/.test(question.question) ? '' : '.';
  const until = assumption === null ? '' : `${end} Assumed until then: ${safeInline(assumption)}`;
  return `- **${number}:** ${safeInline(question.question)}${until} (${names.join('; ')})`;
}
