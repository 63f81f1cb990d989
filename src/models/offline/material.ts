import { isAboutDocuments } from './own-sentences.ts';
import { type DocumentItem, type Piece, toKey } from './piece-reader.ts';
import { readDocument } from './read-document.ts';
import type { Block, BlockKind, ReadRequest } from './read-request.ts';
import { readSources } from './read-sources.ts';
import { findRequirements, type Requirement } from './requirements.ts';
import { makeStatement, type Statement, toStatement } from './statement.ts';
import { findSystems } from './systems.ts';
import { createTermIndex, type TermIndex } from './term-index.ts';

/** A statement among all that the request holds, and who made it. */
export type Source = {
  readonly statement: Statement;
  /** Labels of the inputs that say it; empty for the request itself. */
  readonly labels: string[];
  /** Keys of the headings that it stands under, in all of them. */
  readonly sections: Set<string>;
  /** What a document says counts as its word, also where it repeats the request. */
  kind: BlockKind;
  readonly at: number;
};

/** One input document with what it says. */
export type Input = {
  readonly block: Block;
  readonly sources: readonly Source[];
  readonly items: readonly DocumentItem[];
};

/** Everything that a document may be made of. */
export type Material = {
  readonly title: string;
  readonly requirements: readonly Requirement[];
  readonly sources: readonly Source[];
  readonly inputs: readonly Input[];
  readonly index: TermIndex;
  /** Systems by name, the most frequent first. */
  readonly systems: readonly string[];
};

/** What people gave; what was made of it only repeats the names. */
const GIVEN: ReadonlySet<BlockKind> = new Set(['request', 'seed', 'resource', 'feedback']);

/** Gathers what a request holds; every sentence once, whoever repeats it. */
export function gatherMaterial(request: ReadRequest): Material {
  const allowed = findAllowed(request.blocks);
  const byCore = new Map<string, Source>();
  const inputs = request.blocks.map((block) => readInput(block, allowed, byCore));
  const read = [...byCore.values()];
  const brief = inputs.find((input) => input.block.kind === 'request') ?? inputs[0]!;
  const asked = readDemands(brief.sources.map((source) => source.statement));
  const requirements = findRequirements(asked);
  const sources = addDemands(read, asked, requirements);
  const given = sources.filter(({ kind }) => GIVEN.has(kind)).map((source) => source.statement);
  return {
    title: findTitle(brief),
    requirements,
    sources,
    inputs,
    index: createTermIndex(sources.map((source) => source.statement.terms)),
    systems: findSystems(given),
  };
}

/** In a language whose verbs are not known, every sentence of the brief may be a demand. */
function readDemands(brief: readonly Statement[]): readonly Statement[] {
  const telling = brief.filter((one) => one.role === 'task' || one.role === 'limit');
  if (telling.length * 4 >= brief.length) return brief;
  return brief.map((one) => (one.role === 'context' ? { ...one, role: 'task' } : one));
}

/** Puts the sentences as they were understood in place, and the clauses of a short brief beside. */
function addDemands(
  read: readonly Source[],
  asked: readonly Statement[],
  requirements: readonly Requirement[],
): Source[] {
  const byText = new Map(asked.map((one) => [one.text, one]));
  const sources = read.map((source) => {
    const statement = byText.get(source.statement.text);
    return statement && statement !== source.statement ? { ...source, statement } : source;
  });
  if (asked.length >= SHORT) return sources;
  const known = new Set(sources.map((source) => source.statement.core));
  for (const { statement } of requirements) {
    if (known.has(statement.core)) continue;
    sources.push(newSource(statement, 'request', sources.length));
  }
  return sources;
}

const SHORT = 6;

/** Ids that the list of sources knows; null where the request has no such list. */
function findAllowed(blocks: readonly Block[]): ReadonlySet<string> | null {
  const lists = blocks.filter((block) => block.kind === 'sources');
  if (lists.length === 0) return null;
  return new Set(lists.flatMap(({ text }) => text.match(/\bS\d+\b/g) ?? []));
}

/** A statement that nobody else makes yet. */
export const newSource = (statement: Statement, kind: BlockKind, at: number): Source => ({
  statement,
  labels: [],
  sections: new Set(statement.sections),
  kind,
  at,
});

/** Sentences with the same words say the same; of made ones and verdicts every word counts. */
const keyOf = ({ role, verdict, text, terms, core }: Statement): string =>
  role === 'made' || verdict ? text : terms.join(' ') || core;

function readInput(
  block: Block,
  allowed: ReadonlySet<string> | null,
  byCore: Map<string, Source>,
): Input {
  const { pieces, items } =
    block.kind === 'sources' ? readSources(block.text) : readDocument(block.text);
  const sources: Source[] = [];
  for (const piece of pieces) {
    const statement = readPiece(piece, block.kind, allowed);
    if (!statement) continue;
    const key = keyOf(statement);
    const known = byCore.get(key);
    const source = known ?? newSource(statement, block.kind, byCore.size);
    byCore.set(key, source);
    if (block.kind === 'document') source.kind = 'document';
    for (const section of statement.sections) source.sections.add(section);
    const named = !/^(?:request|sources|seed|header)$/.test(block.kind);
    if (named && !source.labels.includes(block.label)) source.labels.push(block.label);
    sources.push(source);
  }
  return { block, sources, items };
}

/** Markers that nobody vouches for are dropped. */
function readPiece(
  piece: Piece,
  kind: BlockKind,
  allowed: ReadonlySet<string> | null,
): Statement | null {
  const sections = piece.path.map((part) => toKey(part.replace(/^#\d+ /, '')));
  const statement = toStatement(piece, sections);
  if (statement.core.length < 3) return null;
  if (kind === 'sources') return statement.cites.length > 0 ? asEvidence(statement) : null;
  if (isInstruction(piece, kind)) return null;
  if (kind !== 'request' && isLabel(piece)) return null;
  if (!allowed || statement.cites.every((cite) => isAllowed(cite, allowed))) return statement;
  const text = statement.text.replace(/(?:(?<!\s)\s+)?\[S\d[^\]]{0,200}\]/g, (cite) =>
    isAllowed(cite, allowed) ? cite : '',
  );
  return makeStatement(text, sections);
}

/** A source asks for nothing, whatever its words. */
const asEvidence = (statement: Statement): Statement => ({ ...statement, role: 'context' });

/** What a seed prompt says above its first part, and what a prompt says about its guidance. */
const isInstruction = ({ path, text }: Piece, kind: BlockKind): boolean =>
  (kind === 'seed' && path.length < 2) ||
  (kind === 'header' && (path.length < 1 || /\bguidance\b|the documents of the stage/i.test(text)));

/** Entries of a table of contents and sentences on the document itself say nothing new. */
const isLabel = ({ text, entry }: Piece): boolean =>
  isAboutDocuments(text) || (entry && /^[\x20-\x7e]+$/.test(text) && text.split(' ').length < 4);

const isAllowed = (cite: string, allowed: ReadonlySet<string>): boolean =>
  (cite.match(/S\d+/g) ?? []).every((id) => allowed.has(id));

/** The brief's own heading, or what its first sentence is about. */
function findTitle({ block, sources }: Input): string {
  const heading = /^#{1,3}\s+(.{3,80})$/m.exec(block.text)?.[1];
  const named = heading
    ?.replace(/[*`#]/g, '')
    .split(/[,:;(–—]\s/, 1)[0]!
    .trim();
  return named || sources[0]?.statement.title || 'The request';
}
