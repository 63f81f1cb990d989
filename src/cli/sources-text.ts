import type { Plain } from '../api/plain.ts';
import type { SourceDetail, SourceInfo } from '../session/source-info.ts';
import { countNoun } from '../text/count-noun.ts';

type Info = Plain<SourceInfo>;

/** What a table tells of a source. */
type Row = Pick<Info, 'id' | 'title' | 'url' | 'aliasOf'>;

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
    ...degraded.map(({ id, degraded: reason }) => `${id} could not be checked: ${reason}`),
    'Read one with: dialectic sources show ID',
  ];
}

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
    '',
    citedBy.length === 0
      ? 'Cited by no document.'
      : `Cited in ${countNoun(citedBy.length, 'place')}:`,
    ...citedBy.map(({ name, place, cited }) => {
      const alias = cited === id ? '' : ` as ${cited}`;
      return `  ${name}  ${place}${alias}`;
    }),
    ...excerpts.flatMap((text, at) => ['', `${id}.e${at + 1}`, text]),
  ];
}
