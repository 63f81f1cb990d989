import type { Source } from '../sources/source.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { isRecord } from '../text/is-record.ts';
import type { DocumentDefect } from './audit-document.ts';
import { namePlace } from './document-texts.ts';

/** What a record rests on: a source, and words that are copied from it. */
type Evidence = {
  readonly section: string;
  readonly place: string;
  /** As the document names the source. */
  readonly source: string;
  readonly excerpt: string;
};

/** The evidence in a document: every record with the fields `source` and `excerpt`. */
export function* findEvidence(content: object): Generator<Evidence> {
  for (const [section, value] of Object.entries(content)) {
    yield* evidenceIn(value, section, section);
  }
}

function* evidenceIn(value: unknown, section: string, place: string): Generator<Evidence> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* evidenceIn(item, section, place === section ? namePlace(section, item, index) : place);
    }
  } else if (isRecord(value)) {
    const { source, excerpt } = value;
    if (typeof source === 'string' && typeof excerpt === 'string') {
      yield { section, place, source, excerpt };
    } else for (const field of Object.values(value)) yield* evidenceIn(field, section, place);
  }
}

/** The source that evidence names, as `S1`, `[S1]` or `S1.e2`. */
export const sourceOfEvidence = ({ source }: Evidence, sources: SourceSet): Source | undefined =>
  sources.find(/S[1-9]\d{0,8}/.exec(source)?.[0] ?? '');

/** What is wrong with a piece of evidence: its source is none, or does not say these words. */
export function auditEvidence(
  evidence: Evidence,
  sources: SourceSet,
  isQuoted: (id: string, quote: string) => boolean,
): DocumentDefect[] {
  const { section, excerpt } = evidence;
  const source = sourceOfEvidence(evidence, sources);
  if (!source) return [{ section, code: 'unknown_source', text: evidence.source }];
  if (isQuoted(source.id, excerpt)) return [];
  return [{ section, code: 'quote_not_in_source', text: excerpt }];
}
