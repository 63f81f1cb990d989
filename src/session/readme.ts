import type { Loss } from '../planning/types.ts';
import { describeVote, tellChoice } from './choice-text.ts';
import type { DocumentRow, ExportedDocument } from './export.ts';
import { missingSection } from './missing-text.ts';
import type { Question } from './questions.ts';
import type { SessionView } from './read.ts';
import { describeQuestions } from './readme-questions.ts';
import { describeStanding } from './standing.ts';
import { viewVote } from './vote-view.ts';

/** The first page of the folder: what this is, whom the result follows, what to read first. */
export function writeReadme(
  session: SessionView,
  documents: readonly ExportedDocument[],
  rows: readonly DocumentRow[],
  questions: readonly Question[],
  missing: readonly Loss[],
): string {
  const { process, lanes, chosenLaneId, chosenBy, iteration } = session;
  const chosen = lanes.find((lane) => lane.id === chosenLaneId);
  const lines = [`# ${process.name}`, '', process.description, ''];
  lines.push(`Session \`${session.id}\`, pass ${iteration}, ${describeStanding(session)}.`, '');
  lines.push(...missingSection(session, missing));
  lines.push(...howToGoOn(session));
  const names = lanes.map(({ ordinal, model }) => `- Lane ${ordinal}: \`${model}\``);
  lines.push('## Participants', '', ...names, '');
  if (lanes.some(({ model }) => model.startsWith('offline/'))) {
    lines.push('**No language model wrote the documents of the offline participants.**', '');
  }
  const costs = documents.map(({ costUsd }) => costUsd);
  if (costs.length > 0) {
    const sum = costs.reduce<number>((total, cost) => total + (cost ?? 0), 0);
    const unknown = costs.includes(null) ? ', without those of unknown price' : '';
    lines.push(`The documents cost $${sum.toFixed(4)} to write${unknown}.`, '');
  }
  const vote = viewVote(session);
  if (chosen) {
    const choice = { lane: chosen.ordinal, model: `\`${chosen.model}\``, by: chosenBy! };
    lines.push(tellChoice(choice, vote, lanes.length), '');
  }
  const current = documents.filter((document) => document.iteration === iteration);
  const results = process.results.flatMap(({ stage, documentKey }) =>
    current.filter(
      (document) =>
        document.stage === stage &&
        document.key === documentKey &&
        document.path !== null &&
        (!chosen || document.lane.id === chosen.id),
    ),
  );
  if (results.length > 0) lines.push('## Read first', '', ...results.map(link), '');
  lines.push(...describeQuestions(session, questions));
  for (const stage of process.stages) {
    const own = current.filter(
      (document) => document.stage === stage.key && document.path !== null,
    );
    if (own.length > 0) lines.push(`## ${stage.name}`, '', ...own.map(link), '');
  }
  if (vote) lines.push('## How the lanes voted', '', ...describeVote(vote), '');
  const empty = rows.length === 0 ? ['Nothing has been written yet.', ''] : [];
  return `${[...lines, ...empty].join('\n').trimEnd()}\n`;
}

/** A run that stopped where it was asked to is not over. */
function howToGoOn({ id, awaiting, untilStage, process }: SessionView): string[] {
  if (awaiting !== 'until') return [];
  const keys = process.stages.map((stage) => stage.key);
  const rest = keys.slice(keys.indexOf(untilStage!) + 1).join(', ');
  return [`The run was asked to stop here; \`dialectic resume ${id}\` goes on with ${rest}.`, ''];
}

/** The other sessions of the project, by their folders; empty where there is none. */
export function listSessions(others: readonly SessionView[]): string {
  if (others.length === 0) return '';
  const lines = others.map((session) => {
    const models = session.lanes.map(({ model }) => model).join(', ');
    const folder = `session_${session.id.slice(-12)}/`;
    return `- \`${folder}\`: ${session.process.name}, ${describeStanding(session)}, ${models}`;
  });
  return `\n## Other sessions of this project\n\n${lines.join('\n')}\n`;
}

const link = (document: ExportedDocument): string =>
  `- [${document.key.replaceAll('_', ' ')}](${encodeURI(document.path!)}) · lane ${document.lane.ordinal}`;
