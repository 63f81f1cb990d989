import { splitFrontMatter } from '../documents/front-matter.ts';
import { contractOf } from '../recipe/contract.ts';
import type { DocumentRef, Process, Stage, Step } from '../recipe/types.ts';
import { isRecord } from '../text/is-record.ts';
import { findResult } from './export-results.ts';
import type { DocumentRow } from './export-rows.ts';
import type { SessionView } from './read.ts';

/** What a run came to, for readers who have only a minute. */
export type Outcome = {
  /** What was decided, the weightiest first; empty before there is a result. */
  readonly decided: readonly string[];
  /** What the participants did not agree on, or left open; a sentence each. */
  readonly disagreements: readonly string[];
};

/** Reads the outcome out of the documents of the lane that the results follow. */
export function readOutcome(session: SessionView, rows: readonly DocumentRow[]): Outcome {
  const { process } = session;
  const refs = [...(process.firstPage ? [process.firstPage] : []), ...process.results];
  const results = refs.flatMap((ref) => findResult(session, rows, ref) ?? []);
  const decided = results.map(readDecisions).find((lines) => lines.length > 0);
  const opening = results.map(({ markdown }) => readOpening(markdown ?? ''));
  const findings = readOpenFindings(session, rows);
  return {
    decided: decided ?? opening.find((lines) => lines.length > 0) ?? [],
    disagreements: findings.length > 0 ? findings : readDisagreements(session, rows),
  };
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : '';

/** The fields `decisions` and `decision` of a document, by which recipes call what they hold. */
function readDecisions({ content }: DocumentRow): string[] {
  if (!isRecord(content)) return [];
  const several = list(content['decisions']).map((one) =>
    textOf(isRecord(one) ? one['decision'] : one),
  );
  const single = textOf(content['decision']);
  return [...several, ...splitSentences(single)].filter((line) => line !== '');
}

const splitSentences = (text: string): string[] => text.split(/(?<=[.!?]) (?=\p{Lu})/u);

const MOST_OPENING = 3;

/** The first sentences of a page: neither headings nor tables. */
function readOpening(markdown: string): string[] {
  const lines = splitFrontMatter(markdown).text.split('\n');
  // A footnote stays with the page that it is of.
  const prose = lines.map((line) =>
    line
      .replace(/^(?:[-*]|\d+\.) /, '')
      .replace(/\[\^\d{1,6}\]/g, '')
      .trim(),
  );
  const texts = prose.filter((line) => /^[\p{L}\p{N}"'(]/u.test(line));
  return texts.flatMap(splitSentences).slice(0, MOST_OPENING);
}

const HEAVY_FIRST = ['heavy', 'medium', 'light'];

/** Findings without a weight come last. */
const rankOf = (weight: string): number =>
  HEAVY_FIRST.includes(weight) ? HEAVY_FIRST.indexOf(weight) : HEAVY_FIRST.length;

/** Findings that the last list of them leaves open, or that were rejected; the heavy ones first. */
function readOpenFindings(session: SessionView, rows: readonly DocumentRow[]): string[] {
  const lists = makersOf(session.process).flatMap(({ stage, step, ref }) => {
    const fields = Object.entries(contractOf(stage, step)?.properties ?? {});
    const field = fields.find(([, node]) => node['x-records'] === 'findings')?.[0];
    const content = findResult(session, rows, ref)?.content;
    return field !== undefined && isRecord(content) ? [list(content[field])] : [];
  });
  const records = (lists.at(-1) ?? []).filter(isRecord);
  const open = records.flatMap((record) => {
    const [, verdict] = /^(open|rejected)\b/.exec(textOf(record['decision'])) ?? [];
    const weight = textOf(record['weight']);
    const claim = textOf(record['claim']);
    if (verdict === undefined || claim === '') return [];
    return [{ weight, text: `${verdict}${weight && ` (${weight})`}: ${claim}` }];
  });
  return open.toSorted((a, b) => rankOf(a.weight) - rankOf(b.weight)).map(({ text }) => text);
}

/** What documents list under `disagreements`: those of the followed lane, else of the first. */
function readDisagreements(session: SessionView, rows: readonly DocumentRow[]): string[] {
  const { iteration, chosenLaneId, lanes, process } = session;
  const order = [chosenLaneId, ...lanes.map(({ id }) => id)];
  for (const laneId of order) {
    const lines = makersOf(process).flatMap(({ ref }) =>
      rows
        .filter((row) => row.lane_id === laneId && row.iteration === iteration && isOf(row, ref))
        .flatMap(({ content }) => (isRecord(content) ? list(content['disagreements']) : []))
        .map((one) => textOf(isRecord(one) ? one['about'] : one)),
    );
    const found = [...new Set(lines)].filter((line) => line !== '');
    if (found.length > 0) return found;
  }
  return [];
}

const isOf = (row: DocumentRow, { stage, documentKey }: DocumentRef): boolean =>
  row.kind === 'document' && row.stage_key === stage && row.document_key === documentKey;

/** Every step of the process with what it makes, in the order of the stages. */
const makersOf = ({ stages }: Process): { stage: Stage; step: Step; ref: DocumentRef }[] =>
  stages.flatMap((stage) =>
    stage.steps.map((step) => ({
      stage,
      step,
      ref: { stage: stage.key, documentKey: step.output.documentKey },
    })),
  );
