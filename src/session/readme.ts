import type { DocumentRow, ExportedDocument } from './export.ts';
import type { Question } from './questions.ts';
import type { SessionView } from './read.ts';
import { describeQuestions } from './readme-questions.ts';

/** The first page of the folder: what this is, whom the result follows, what to read first. */
export function writeReadme(
  session: SessionView,
  documents: readonly ExportedDocument[],
  rows: readonly DocumentRow[],
  questions: readonly Question[],
): string {
  const { process, lanes, chosenLaneId, chosenBy, iteration } = session;
  const chosen = lanes.find((lane) => lane.id === chosenLaneId);
  const lines = [`# ${process.name}`, '', process.description, ''];
  lines.push(`Session \`${session.id}\`, pass ${iteration}, ${session.status}.`, '');
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
  if (chosen) {
    const by =
      chosenBy === 'person' ? 'chosen by a person' : "chosen by the participants' rankings";
    lines.push(`The results follow lane ${chosen.ordinal} (\`${chosen.model}\`), ${by}.`, '');
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
  const missing = rows.length === 0 ? ['Nothing has been written yet.', ''] : [];
  return `${[...lines, ...missing].join('\n').trimEnd()}\n`;
}

const link = (document: ExportedDocument): string =>
  `- [${document.key.replaceAll('_', ' ')}](${encodeURI(document.path!)}) · lane ${document.lane.ordinal}`;
