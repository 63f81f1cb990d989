import type { Convergence } from '../recipe/types.ts';
import { readRecords } from '../text/dotted-path.ts';
import { optionLabel } from './deal-labels.ts';

/** Why a ballot cannot be counted, in words that can be sent to the model that wrote it. */
type BallotProblem = { readonly path: string; readonly message: string };

type BallotReading = {
  /** The rivals by rank, the best first; empty where there are problems. */
  readonly ranking: readonly string[];
  readonly problems: readonly BallotProblem[];
};

/**
 * Reads the ranking out of a ballot document. `rivals` stand in the order of their labels. A model
 * may write `B`, `Option B` or `plan b`; every rival must be ranked once, and no rank given twice.
 * An entry that names no rival is passed over if all rivals are ranked beside it.
 */
export function readBallot(
  convergence: Convergence,
  content: unknown,
  rivals: readonly string[],
): BallotReading {
  const { rankings: path, option, rank } = convergence;
  const labels = rivals.map((_, at) => optionLabel(at));
  const entries = readRecords(content, path).map((item, at) => ({
    said: item[option],
    label: readLabel(item[option], labels),
    rank: readRank(item[rank], at),
  }));
  const named = entries.flatMap(({ label, rank }) => (label === null ? [] : [{ label, rank }]));
  const problems: BallotProblem[] = [];
  const missing = labels.filter((label) => !named.some((entry) => entry.label === label));
  if (missing.length > 0) {
    problems.push({ path, message: `does not rank ${listWords(missing)}.` });
    const unknown = entries.filter((entry) => entry.label === null).map(({ said }) => quote(said));
    if (unknown.length > 0) {
      const message = `says ${listWords(unknown)}, which is no label of a rival.`;
      problems.push({ path: `${path}[].${option}`, message });
    }
  }
  for (const label of findRepeated(named.map((entry) => entry.label))) {
    problems.push({ path, message: `ranks ${label} more than once.` });
  }
  for (const twice of findRepeated(named.map((entry) => entry.rank))) {
    problems.push({ path: `${path}[].${rank}`, message: `gives the rank ${twice} twice.` });
  }
  if (problems.length > 0) {
    const message = `must rank each of ${listWords(labels)} exactly once, named by its label in ${option}.`;
    return { ranking: [], problems: [...problems, { path, message }] };
  }
  const ordered = named.toSorted((a, b) => a.rank - b.rank);
  return { ranking: ordered.flatMap(({ label }) => rivals[labels.indexOf(label)] ?? []), problems };
}

/**
 * The one label that the text names in capitals, else as its last word, since `a` may be an
 * article; null where it names none or several.
 */
function readLabel(value: unknown, labels: readonly string[]): string | null {
  if (typeof value !== 'string') return null;
  const capitals = (value.match(/\b[A-Z]+\b/g) ?? []).filter((word) => labels.includes(word));
  const [named, ...others] = new Set(capitals);
  if (named !== undefined) return others.length === 0 ? named : null;
  const last = /(?<![a-z])([a-z]+)\W*$/i.exec(value)?.[1]?.toUpperCase() ?? '';
  return labels.includes(last) ? last : null;
}

function readRank(value: unknown, position: number): number {
  const rank = typeof value === 'string' ? Number.parseFloat(value.replace(/^\D+/, '')) : value;
  return typeof rank === 'number' && Number.isFinite(rank) ? rank : position + 1;
}

const findRepeated = <T>(values: readonly T[]): T[] => [
  ...new Set(values.filter((value, at) => values.indexOf(value) < at)),
];

/** Long answers are cut: the text goes into prompts and into the readme. */
const quote = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`;
};

const listWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
