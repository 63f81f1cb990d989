import { Slices } from '../platform/clock.ts';
import { type Listed, listSources } from '../sources/list-sources.ts';
import { hideMarkers } from '../sources/markers.ts';
import { scoreRelevance } from '../sources/score-relevance.ts';
import type { Source } from '../sources/source.ts';
import type { SourceSet } from '../sources/source-set.ts';

/** The heading of the message that lists the sources, and of the one that holds their texts. */
export const SOURCES_HEADING = '# Sources';
export const TEXTS_HEADING = '# Texts of the sources';

/** The list gives titles and addresses as far as this many characters go, then ids alone. */
const LIST_ROOM = 60_000;

const RULES = [
  'Behind a statement that rests on a source stands its id in square brackets: [S1], or [S1][S2] for two.',
  '- Cite only ids of this list. Write no addresses, no titles in place of an id, no numbering of your own and no list of references: they are made from the ids.',
  '- Quotations are verbatim, and figures are those of the source.',
  '- What rests on no source carries no citation. Where sources contradict each other, cite both sides.',
  '- Documents that you are given cite the same ids: keep a citation with its statement when you take it over.',
].join('\n');

/** One text of a source as a prompt shows it. */
export type SourceText = {
  readonly source: Source;
  /** `S1`, or `S1.e2` where more than one excerpt is known. */
  readonly id: string;
  readonly text: string;
};

/** How much a prompt shows of a source's text: all, some passages, or nothing beside the list. */
export type SourceLevels = ReadonlyMap<string, 0 | null | SourcePassages>;

/** Key sentences of a source or passages that were found for the stage, in the order of the source. */
export type SourcePassages = { readonly passages: readonly string[] };

/** Stands between parts of a text that do not follow each other. */
export const GAP = '\n[…]\n';

/** The texts of the sources that a prompt shows, in the order of their ids. */
export const findSourceTexts = (
  sources: SourceSet | undefined,
  levels: SourceLevels = new Map(),
): SourceText[] =>
  (sources?.standing ?? []).flatMap((source): SourceText[] => {
    const level = levels.get(source.id);
    if (level === null) return [];
    if (typeof level === 'object') {
      const text = level.passages.join(GAP);
      return text === '' ? [] : [{ source, id: source.id, text }];
    }
    return source.excerpts.map((text, at) => ({
      source,
      id: source.excerpts.length === 1 ? source.id : `${source.id}.e${at + 1}`,
      text,
    }));
  });

/**
 * What a prompt says of the sources: how to cite, the list, which only grows at its end, and their
 * texts behind it. Nothing where there are none, so that such prompts stay as they were.
 */
export function packSources(
  sources: SourceSet | undefined,
  shown: ReadonlyMap<string, string>,
  asData: (text: string) => string,
  levels?: SourceLevels,
  request = '',
): string[] {
  if (sources === undefined || sources.size === 0) return [];
  const listed = listWithScores(sources, request);
  const list = listSources(listed, LIST_ROOM).text.trimEnd();
  const texts = findSourceTexts(sources, levels).map(({ source, id, text }) => {
    const excerpt = id === source.id ? '' : ` excerpt="${id}"`;
    return `<source id="${source.id}"${excerpt}>\n${asData(hideMarkers((shown.get(id) ?? text).trim()))}\n</source>`;
  });
  return [
    `${SOURCES_HEADING}\n\n${RULES}\n\n<sources>\n${asData(list)}\n</sources>`,
    ...(texts.length > 0 ? [`${TEXTS_HEADING}\n\n${texts.join('\n\n')}`] : []),
  ];
}

/** The scores of texts for one request, as long as the sources are in memory. */
type Scores = { readonly request: string; readonly byText: Map<string, number> };
const known = new WeakMap<SourceSet, Scores>();

/**
 * The sources with their scores. A score depends on the request and on what was read first, which stays
 * first: a source keeps it, and the list only grows at its end.
 */
const listWithScores = (sources: SourceSet, request: string): Listed[] => [
  ...listEach(sources, request),
];

/** Scores the sources a few at a time, so that the list of a prompt finds the scores of thousands. */
export async function scoreSources(sources: SourceSet, request: string): Promise<void> {
  const slices = new Slices();
  for (const _ of listEach(sources, request)) await slices.rest();
}

function* listEach(sources: SourceSet, request: string): Generator<Listed> {
  const before = known.get(sources);
  const scores = before?.request === request ? before : { request, byText: new Map() };
  known.set(sources, scores);
  const relevanceOf = scoreRelevance(request);
  for (const source of sources.standing) {
    const [first] = source.excerpts;
    if (first === undefined || request === '') yield { source };
    else {
      const relevance = scores.byText.get(first) ?? relevanceOf(first);
      scores.byText.set(first, relevance);
      yield { source, scores: { relevance } };
    }
  }
}
