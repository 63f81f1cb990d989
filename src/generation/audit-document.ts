import { describeDocument, requireContract } from '../recipe/contract.ts';
import type { CitationRecord } from '../session/citation-record.ts';
import {
  type CitationDefect,
  createAuditor,
  createQuoteCheck,
} from '../sources/audit-citations.ts';
import { findMarkers, normaliseMarkers, settleMarkers } from '../sources/markers.ts';
import { findProse } from '../sources/prose-spans.ts';
import type { Citation } from '../sources/source.ts';
import { SourceSet } from '../sources/source-set.ts';
import type { Assembly } from './assemble-request.ts';
import { findTexts, mapTexts, type PlacedText } from './document-texts.ts';
import { auditEvidence, findEvidence, sourceOfEvidence } from './find-evidence.ts';
import type { JsonRecord } from './json-reader.ts';

/** A citation that is wrong, or a statement that lacks one. */
export type DocumentDefect = Pick<CitationDefect, 'code' | 'text'> & { readonly section: string };

/** A source that a place of a document cites. */
type DocumentUse = Citation & { readonly source: string };

/** What the audit found in a document. */
export type DocumentAudit = Omit<CitationRecord, 'faults'> & {
  /** What is wrong; statements without a citation only where the coverage is too low. */
  readonly defects: readonly DocumentDefect[];
  readonly uses: readonly DocumentUse[];
};

/** Where there is no registry only what can be nothing else is taken for a citation. */
const SURE = /\[S[1-9]\d{0,8}(?:\.e\d{1,4})?\]|\[unknown source: /;

/**
 * Compares the citations of a document with the sources, section by section. Null where there are no
 * sources and the document cites none.
 */
export function auditDocument(assembly: Assembly, content: object): DocumentAudit | null {
  const { stage, step, sources = new SourceSet() } = assembly;
  // Code joins statements of documents that were audited: their faults are told there, and a figure
  // of one statement would be looked for in the sources of the next.
  const isCollected = step.compute !== null && step.compute !== 'copy';
  const contract = requireContract(stage, step);
  const all = [...findTexts(contract, content)];
  const texts = sources.size > 0 ? all : all.filter(({ text }) => SURE.test(text));
  if (texts.length === 0 && sources.size === 0) return null;
  const standing = sources.standing.map(({ id }) => id);
  const said = saidTexts(assembly);
  const read = sources.standing.map(({ excerpts }) => excerpts);
  const given = [said, Object.values(assembly.facts.resources), ...read];
  const audit = createAuditor(sources.find, standing, { given, said });
  const audited = texts.map((text) => ({ ...text, ...audit(text.text) }));
  const wantsAll = !describeDocument(stage, step).cites;
  const counted = audited.filter(({ cites }) => cites || wantsAll);
  const statements = add(counted.map((one) => one.statements));
  const citedStatements = add(counted.map((one) => one.citedStatements));
  const coverage = statements === 0 ? 1 : citedStatements / statements;
  const wanted = contract['x-coverage'] ?? 0;
  const evidence = sources.size > 0 ? [...findEvidence(content)] : [];
  const isQuoted = createQuoteCheck(sources.find);
  const rests = evidence.flatMap((one) => {
    const source = sourceOfEvidence(one, sources)?.id;
    return source ? [{ source, kind: kindOf(one), place: one.place }] : [];
  });
  const cited = [
    ...new Set([...audited.flatMap((one) => one.cited), ...rests.map(({ source }) => source)]),
  ];
  const standingOf = (id: string): string => sources.find(id)?.aliasOf ?? id;
  const used = new Set(cited.map(standingOf));
  const isShown = (code: string, cites: boolean): boolean =>
    code !== 'uncited_statement' || (coverage < wanted && (cites || wantsAll));
  return {
    statements,
    citedStatements,
    coverage,
    wanted,
    cited,
    orphans: standing.filter((id) => !used.has(id)),
    defects: isCollected
      ? []
      : [
          ...audited.flatMap(({ section, defects, cites }) =>
            defects
              .filter(({ code }) => isShown(code, cites))
              .map(({ code, text }) => ({ section, code, text })),
          ),
          ...evidence.flatMap((one) => auditEvidence(one, sources, isQuoted)),
        ],
    uses: onceEach([...texts.flatMap((text) => usesOf(text, sources)), ...rests]),
  };
}

const add = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** What a person has said of the task: it is no source, so that nothing of it can be cited. */
const saidTexts = ({ facts, inputs }: Assembly): string[] => [
  facts.userRequest,
  ...inputs.filter(({ type }) => type === 'feedback').map(({ text }) => text),
];

const KINDS: Readonly<Record<string, Citation['kind']>> = {
  findings: 'finding',
  clusters: 'cluster',
  contradictions: 'contradiction',
};

function usesOf({ section, place, text }: PlacedText, sources: SourceSet): DocumentUse[] {
  if (!text.includes('[S')) return [];
  const ids = new Set(findMarkers(text, findProse(text)).flatMap((marker) => marker.ids));
  const kind = kindOf({ section, place });
  return [...ids]
    .filter((id) => sources.find(id) !== undefined)
    .map((source) => ({ source, kind, place }));
}

const kindOf = ({ section, place }: Pick<PlacedText, 'section' | 'place'>): Citation['kind'] =>
  place === section ? 'section' : (KINDS[section] ?? 'section');

/** A record may cite a source in several of its fields; its place is one. */
const onceEach = (uses: readonly DocumentUse[]): DocumentUse[] => [
  ...new Map(uses.map((use) => [`${use.source} ${use.place}`, use])).values(),
];

/** The content with every citation written as `[S1]`. */
export const normaliseCitations = (
  { sources }: Pick<Assembly, 'sources'>,
  content: JsonRecord,
): JsonRecord => (sources && sources.size > 0 ? mapTexts(content, normaliseMarkers) : content);

/** The content with a mark in place of every citation of a source that does not exist. */
export const settleCitations = (
  { sources = new SourceSet() }: Pick<Assembly, 'sources'>,
  content: JsonRecord,
): JsonRecord =>
  mapTexts(content, (text) =>
    sources.size > 0 || SURE.test(text)
      ? settleMarkers(text, (id) => sources.find(id) !== undefined)
      : text,
  );
