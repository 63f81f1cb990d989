import { join } from 'node:path';
import type { RunResult } from '../session/summary.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { adviseGates } from './gate-advice.ts';
import { showPath } from './plan-folder.ts';

/** The last lines of every verb that changes a session: its folder, and the command that goes on. */
export const describeNext = (result: RunResult): string[] => [
  ...describeFolder(result),
  ...describeGoOn(result),
];

/** Where the documents can be read, or why they cannot be read there yet. */
export function describeFolder(result: RunResult): string[] {
  const { folder, folderProblem } = result;
  if (folder === null) return [];
  if (folderProblem !== null) return [`The folder is not up to date: ${folderProblem}`];
  return [...describeChanged(result), `Open ${showPath(join(folder, 'project_readme.md'))}`];
}

const MOST_NAMED = 5;

/** Files of the folder that a person has changed: nobody may believe that the run has read them. */
function describeChanged({ changedFiles }: RunResult): string[] {
  if (changedFiles.length === 0) return [];
  const named = changedFiles.slice(0, MOST_NAMED).join(', ');
  const more = changedFiles.length - MOST_NAMED;
  const it = changedFiles.length === 1 ? 'it' : 'them';
  return [`Kept as you changed ${it}: ${named}${more > 0 ? ` and ${more} more` : ''}`];
}

function describeGoOn(result: RunResult): string[] {
  const { session, status, standing, awaiting } = result;
  if (status === 'cancelled')
    return [`Look at what is kept with: dialectic show ${quoteWord(session)}`];
  if (status === 'completed')
    return [`Make another pass with: dialectic iterate ${quoteWord(session)}`];
  if (standing === 'running')
    return [`A worker goes on with it. Follow it with: dialectic watch ${quoteWord(session)}`];
  if (awaiting?.reason !== 'review') {
    const { parameters } = adviseGates(result);
    return [`Go on with: dialectic resume ${quoteWord(session)}${parameters}`];
  }
  if (typeof awaiting.openQuestions !== 'number') {
    const { stage } = awaiting;
    return [
      `Stage ${stage} has ended and waits for you. Comment on it with: ` +
        `dialectic feedback ${quoteWord(stage)} TEXT -s ${quoteWord(session)}`,
      `Go on with: dialectic approve ${quoteWord(session)}`,
    ];
  }
  return [
    `${countNoun(awaiting.openQuestions, 'question is', 'questions are')} open. List them with: dialectic questions ${quoteWord(session)}`,
    `Answer one with: dialectic answer NUMBER ANSWER -s ${quoteWord(session)}`,
    `Go on with: dialectic approve ${quoteWord(session)} (what stays open is assumed as its question says)`,
  ];
}
