import type { Plain } from '../api/plain.ts';
import type { SourceDetail, SourceInfo } from '../session/source-info.ts';
import type { RunResult } from '../session/summary.ts';
import type { Trace, TracedCitation } from '../session/trace-citation.ts';
import type { Near } from '../sources/source-index.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { describeState } from './check-sources.ts';

type Info = Plain<SourceInfo>;

/** What a table tells of a source. */
type Row = Pick<Info, 'id' | 'title'> & Partial<Pick<Info, 'url' | 'aliasOf'>>;

/** Ids, titles and addresses in columns. */
function tabulateSources(sources: readonly Row[]): string[] {
  const rows = sources.map(({ id, title, url, aliasOf }) => ({
    id,
    title: aliasOf === undefined ? shorten(title) : `the same as ${aliasOf}`,
    url: aliasOf === undefined ? (url ?? '') : '',
  }));
  const wide = (column: 'id' | 'title'): number =>
    Math.max(...rows.map((row) => row[column].length));
  return rows.map(({ id, title, url }) =>
    `  ${id.padEnd(wide('id'))}  ${title.padEnd(wide('title'))}  ${url}`.trimEnd(),
  );
}

const LONGEST_TITLE = 60;

const shorten = (title: string): string =>
  title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title;

const MOST_LISTED = 20;

/** The sources under the summary of a run, and what is wrong with its citations. */
export function describeCitations({
  citations,
  usage,
}: Pick<RunResult, 'citations' | 'usage'>): string[] {
  if (citations === null) return [];
  const { sources, statements, citedStatements, orphans, unverified } = citations;
  const { calls, costUsd } = citations.askedForSources;
  const rest = sources.length - MOST_LISTED;
  return [
    ...(sources.length > 0
      ? [
          `Sources: ${citedStatements.toLocaleString('en')} of ` +
            `${countNoun(statements, 'statement')} cited`,
        ]
      : []),
    ...tabulateSources(sources.slice(0, MOST_LISTED)),
    ...(rest > 0 ? [`  and ${rest} more: dialectic sources list`] : []),
    ...(orphans.length > 0
      ? [`Cited by no document: ${orphans.slice(0, MOST_LISTED).join(', ')}`]
      : []),
    ...(calls > 0
      ? [
          `Asked again ${countNoun(calls, 'time')} because too few sources were cited: ` +
            `${dollars(costUsd)} of ${dollars(usage.costUsd)}`,
        ]
      : []),
    ...unverified.map(
      ({ name, faults }) =>
        `Citations not verified: ${name}, ${countNoun(faults.length, 'fault')}, such as ${faults[0]}`,
    ),
  ];
}

const dollars = (usd: number | null): string =>
  usd === null ? 'an unknown price' : `$${usd.toFixed(4)}`;

/** The lines of `sources list`. */
export function describeSources(project: string, sources: readonly Info[]): string[] {
  if (sources.length === 0) {
    return [`Project ${project} has no sources. Add one with: dialectic sources add FILE`];
  }
  const uncited = sources.filter(({ uses, aliasOf }) => uses === 0 && aliasOf === undefined);
  const degraded = sources.filter((source) => source.degraded !== undefined);
  return [
    `Project ${project}: ${countNoun(sources.length, 'source')}.`,
    ...tabulateSources(sources),
    ...(uncited.length > 0 ? [`Cited by no document: ${namesOf(uncited)}`] : []),
    ...describeLastChecks(sources),
    ...suggestMerges(sources),
    ...degraded.map(({ id, degraded: reason }) => `${id} could not be checked: ${reason}`),
    'Read one with: dialectic sources show ID',
  ];
}

/** How the sources stood when they were checked: those that are as they were by their number alone. */
function describeLastChecks(sources: readonly Info[]): string[] {
  const checked = sources.flatMap(({ id, checked: check }) => (check ? [{ id, ...check }] : []));
  if (checked.length === 0) return [];
  const states = [...Map.groupBy(checked, ({ state }) => state)].map(([state, own]) => {
    const names = state === 'unchanged' ? '' : ` (${own.map(({ id }) => id).join(', ')})`;
    return `${own.length} ${state}${names}`;
  });
  const last = checked.map(({ at }) => at.slice(0, 10)).toSorted();
  const when = last[0] === last.at(-1) ? last[0] : `between ${last[0]} and ${last.at(-1)}`;
  return [`Checked ${when}: ${states.join(', ')}`];
}

const MOST_SUGGESTED = 5;

/** Sources that may be one, and how to make them one. */
function suggestMerges(sources: readonly Info[]): string[] {
  const alike = sources.filter(({ near }) => near !== undefined);
  const rest = alike.length - MOST_SUGGESTED;
  return [
    ...alike.slice(0, MOST_SUGGESTED).flatMap(({ id, near }) => (near ? suggest(id, near) : [])),
    ...(rest > 0 ? [`and ${rest} more that are nearly the same as another`] : []),
  ];
}

/** What to do about a source that is nearly another. */
export const suggest = (id: string, near: Near): string =>
  `${Math.floor(near.likeness * 100)} % of ${id} is the text of ${near.id}. ` +
  `If they are one: dialectic sources merge ${quoteWord(id)} ${quoteWord(near.id)}`;

const namesOf = (sources: readonly Info[]): string => sources.map(({ id }) => id).join(', ');

/** The lines of `sources show`. */
export function describeSource(source: Plain<SourceDetail>): string[] {
  const { id, title, url, author, publisher, year, aliasOf, aliases, citedBy, excerpts } = source;
  const by = [author, publisher, year].filter((part) => part !== undefined && part !== '');
  return [
    `${id}  ${title}`,
    ...(by.length > 0 ? [`  ${by.join(', ')}`] : []),
    ...(url === undefined ? [] : [`  ${url}`]),
    ...(source.degraded === undefined ? [] : [`  could not be checked: ${source.degraded}`]),
    ...(aliasOf === undefined ? [] : [`  the same as ${aliasOf}`]),
    ...(aliases.length > 0 ? [`  the same: ${aliases.join(', ')}`] : []),
    `  ${source.origin}, ${source.admittedAt.slice(0, 10)}`,
    ...(source.checked
      ? [`  checked ${source.checked.at.slice(0, 10)}: ${describeState(source.checked)}`]
      : []),
    ...source.copies.map(
      ({ mediaType, size, fetchedAt, sha256, isKept }) =>
        `  ${isKept ? 'archived' : 'too large to archive'} ${fetchedAt.slice(0, 10)}: ` +
        `${mediaType}, ${countNoun(size, 'byte')}, SHA-256 ${sha256}`,
    ),
    ...excerpts.flatMap((text, at) => ['', `${id}.e${at + 1}`, text.trim()]),
    '',
    citedBy.length === 0
      ? 'Cited by no document.'
      : `Cited in ${countNoun(citedBy.length, 'place')}:`,
    ...[...Map.groupBy(citedBy, ({ document }) => document).values()].map((uses) => {
      const aliases = new Set(uses.map(({ cited }) => cited).filter((cited) => cited !== id));
      const as = aliases.size === 0 ? '' : ` as ${[...aliases].join(', ')}`;
      const places = [...new Set(uses.map(({ place }) => place))];
      return `  ${uses[0]!.name}  ${places.join(', ')}${as}`;
    }),
  ];
}

const MOST_CARRIERS = 12;

/** The lines of `sources trace`. */
export function describeTrace({ name, line, text, citations, citedLines }: Trace): string[] {
  if (citations.length === 0) {
    const others = citedLines.length > 0 ? ` These lines do: ${citedLines.join(', ')}.` : '';
    return [`Line ${line} of ${name} cites nothing.${others}`];
  }
  return [`${name}, line ${line}:`, `  ${text}`, ...citations.flatMap(describeCitation)];
}

function describeCitation({ id, title, url, passage, carriedBy }: TracedCitation): string[] {
  const rest = carriedBy.length - MOST_CARRIERS;
  return [
    '',
    `${id}  ${title}${url === undefined ? '' : `  ${url}`}`,
    ...(passage === null
      ? ['  Nothing was read of it.']
      : [`  ${passage.excerpt}: ${passage.text}`]),
    ...(carriedBy.length > 0 ? ['  carried by'] : []),
    ...carriedBy.slice(0, MOST_CARRIERS).map((one) => `    ${one.name}, ${one.place}: ${one.text}`),
    ...(rest > 0 ? [`    and ${rest} more: dialectic sources show ${quoteWord(id)}`] : []),
  ];
}
