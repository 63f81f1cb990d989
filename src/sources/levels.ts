import { hash } from 'node:crypto';
import { DialecticError } from '../errors/errors.ts';
import { toLine } from '../text/clean-text.ts';
import { fenceText } from '../text/fence-text.ts';
import { keySentences } from './key-sentences.ts';
import { hideMarkers } from './markers.ts';
import type { Source } from './source.ts';

/** How much of a source a context shows: 0 all, 1 key sentences, 2 title and address, 3 its id. */
export type Level = 0 | 1 | 2 | 3;

/** What is known of a source's worth when it is admitted, each from 0 to 1; it does not change later. */
export type SourceScores = { readonly relevance?: number; readonly credibility?: number };

/** A source at one level. */
export type ShownSource = {
  readonly id: string;
  readonly level: Level;
  readonly text: string;
  /** SHA-256 of the text at level 0, under which the caller keeps it. */
  readonly digest: string;
};

/**
 * A source at a level. Titles and excerpts stand in code, so that what looks like a citation in them is
 * read as none: the only ids in the text are those of sources.
 */
export function showSource(
  source: Source,
  level: Level,
  scores: SourceScores = {},
  objective = '',
): ShownSource {
  const { id } = source;
  const full = `${lineOf(source, 2, scores)}${showExcerpts(source.excerpts)}`;
  const digest = digestOf(full);
  if (level === 0) return { id, level, digest, text: full };
  if (level !== 1) return { id, level, digest, text: lineOf(source, level, scores) };
  const sentences = keySentences(source.excerpts, `${source.title} ${objective}`);
  const key = showExcerpts(sentences.length === 0 ? [] : [sentences.join('\n[…]\n')]);
  return { id, level, digest, text: `${lineOf(source, 2, scores)}${key}` };
}

/** The line of a source in a list: title, address and scores at level 2, its id at level 3. */
export const lineOf = (source: Source, level: 2 | 3, scores: SourceScores = {}): string =>
  `- ${level === 2 ? describe(source, scores) : `[${source.id}]`}\n`;

/** The text of a source at level 0, from where it is kept by digest: the same bytes, or an error. */
export function restoreSource(
  { id, digest }: Pick<ShownSource, 'id' | 'digest'>,
  read: (digest: string) => string | undefined,
): string {
  const text = read(digest);
  if (text === undefined) {
    throw new DialecticError('not_found', `The text of source ${id} (${digest}) is not stored.`);
  }
  if (digestOf(text) === digest) return text;
  throw new DialecticError(
    'sources_damaged',
    `The stored text of source ${id} has changed: it is not the text with digest ${digest}.`,
  );
}

const digestOf = (text: string): string => hash('sha256', text, 'hex');

/** One line: id, title, address and scores. */
function describe({ id, title, url, degraded }: Source, scores: SourceScores): string {
  const parts = [
    `[${id}] ${codeSpan(hideMarkers(title))}`,
    url === undefined ? '' : `<${url.replace(/[\s<>`]/g, encodeURIComponent)}>`,
    scores.relevance === undefined ? '' : `relevance ${scores.relevance.toFixed(2)}`,
    scores.credibility === undefined ? '' : `credibility ${scores.credibility.toFixed(2)}`,
    degraded === undefined ? '' : `not checked: ${codeSpan(degraded)}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

const showExcerpts = (excerpts: readonly string[]): string =>
  excerpts.map((excerpt) => `\n${fenceText(excerpt)}\n`).join('');

/** One line of text as code; its own backticks cannot end it (CommonMark 6.1). */
function codeSpan(text: string): string {
  const line = toLine(text).replace(/\s+/g, ' ').trim() || 'unknown';
  const longest = [...line.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 0);
  const ticks = '`'.repeat(longest + 1);
  return line.startsWith('`') || line.endsWith('`')
    ? `${ticks} ${line} ${ticks}`
    : `${ticks}${line}${ticks}`;
}
