import type { ModelRequest } from '../types.ts';
import { PERSONAS, type PersonaName } from './personas.ts';
import { CITATION, readDocument, readSentences } from './sentences.ts';

/** Something that the request gives as data: the person's words, a document, a list of sources. */
type Input = {
  readonly tag: string;
  /** Stage and document key: inputs that share it are rivals. */
  readonly kind: string;
  readonly label: string;
  readonly text: string;
  readonly sentences: readonly string[];
};

/** Everything that a document may be made of. Nothing of it comes from prompts. */
export type Material = {
  /** What the person asked for, in that order. */
  readonly request: readonly string[];
  /** Sentences of all inputs in turns, those of the persona's concern first in each. */
  readonly sentences: readonly string[];
  /** Documents of one kind, the one that the persona likes best first. */
  readonly rivals: readonly Pick<Input, 'label' | 'sentences'>[];
  /** What sources say, word for word, each with the id that its citation names. */
  readonly evidence: readonly { readonly source: string; readonly excerpt: string }[];
  /** Keys of the documents that the prompt announces, for the header that plans them. */
  readonly keys: readonly string[];
  readonly labels: readonly string[];
  /** Ids that begin with the letter, as the documents have them. */
  readonly idsOf: (letter: string) => string[];
};

const OPENING = /^<(user_request|resource|document|feedback|sources?)\b([^>\n]*)>$/gm;
const ATTRIBUTE = /\b(\w{1,40})="([^"]*)"/g;
const ID = /(?<![\p{L}\p{N}])[A-Z]\d{1,3}(?![\p{L}\p{N}])/gu;
const EXCERPT = /^\W{0,4}(S\d+\.e\d+)\W{1,4}(.*?)[."”\s]*$/gm;
const ASKED = /^Question: .*\nAnswer: /gm;
const PLANNED = /^#+ `([^`\n]+)`/gm;

/** Reads what a request gives, in the order that the persona prefers. */
export function gatherMaterial({ messages }: ModelRequest, persona: PersonaName): Material {
  const whole = messages.map(({ content }) => content).join('\n\n');
  const found = readInputs(whole);
  const inputs = withoutForeign(found.length > 0 ? found : [toInput('user_request', '', whole)]);
  const { stress } = PERSONAS[persona];
  const sorted = inputs.map((input) => ({
    ...input,
    sentences: input.sentences.toSorted((a, b) => weigh(b, stress) - weigh(a, stress)),
  }));
  const documents = sorted.filter(({ tag }) => tag === 'document');
  const request = inputs.find(({ tag }) => tag === 'user_request')?.sentences ?? [];
  // What another offline author took from the request would only come back with its template.
  const isEcho = ({ tag, sentences: own }: Input): boolean =>
    tag === 'document' && own.some((sentence) => request.includes(sentence));
  const all = takeTurns(sorted.filter((one) => !isEcho(one)));
  const sentences = all.length > 0 ? all : ['The request holds no sentence.'];
  return {
    request: request.length > 0 ? request : sentences,
    sentences,
    rivals: findRivals(documents, stress),
    evidence: takeTurns(sorted).flatMap(readEvidence),
    labels: documents.map(({ label }) => label),
    keys: [...messages.at(-1)!.content.matchAll(PLANNED)].map(([, key]) => key!),
    idsOf: (letter) => findIds(documents, letter),
  };
}

/** The data among the messages; what stands around it are instructions. */
function readInputs(text: string): Input[] {
  const inputs: Input[] = [];
  let end = 0;
  for (const { 0: opening, 1: tag, 2: about, index } of text.matchAll(OPENING)) {
    if (index < end) continue;
    end = text.indexOf(`\n</${tag}>`, index);
    if (end < 0) break;
    inputs.push(toInput(tag!, about!, text.slice(index + opening.length, end)));
  }
  return inputs;
}

function toInput(tag: string, about: string, text: string): Input {
  const given = Object.fromEntries([...about.matchAll(ATTRIBUTE)].map((one) => one.slice(1)));
  const kind = `${given['stage'] ?? ''}/${given['document_key'] ?? ''}`;
  const cited = given['excerpt'] ?? given['id'] ?? '';
  const source = (whole: string): string[] => readSentences(whole).map((one) => cite(one, cited));
  const read = { document: readDocument, sources: readSources, source }[tag] ?? readSentences;
  return { tag, kind, label: given['label'] ?? '', text, sentences: read(text.replace(ASKED, '')) };
}

/** A sentence of a source with its id in front of the full stop. */
const cite = (sentence: string, id: string): string =>
  sentence.replace(/[.!?…。！？]?$/, (end) => ` [${id}]${end}`);

/** Excerpts of sources, each with its id as the citation. */
const readSources = (text: string): string[] =>
  [...text.matchAll(EXCERPT)].map(([, id, said]) => `${said} [${id}].`);

/** Citations that the list of sources does not know are dropped, where the request has one. */
function withoutForeign(inputs: readonly Input[]): readonly Input[] {
  const lists = inputs.filter(({ tag }) => tag === 'sources');
  if (lists.length === 0) return inputs;
  const known = new Set(lists.flatMap(({ text }) => text.match(/\bS\d+\b/g) ?? []));
  const keep = (cite: string): string =>
    cite.match(/S\d+/g)!.every((id) => known.has(id)) ? cite : '';
  return inputs.map((input) => ({
    ...input,
    sentences: input.sentences.map((one) => one.replace(CITATION, keep)),
  }));
}

/** A sentence that cites one source, and says what stands there. */
function readEvidence(sentence: string): Material['evidence'] {
  const [source, ...others] = new Set(sentence.match(/(?<=\[)S\d+/g));
  const excerpt = sentence.replace(CITATION, '').replace(/[.!?…]$/, '');
  return source !== undefined && others.length === 0 ? [{ source, excerpt }] : [];
}

/** Questions come last: what they ask cannot be decided, or done first. */
const weigh = (sentence: string, stress: ReadonlySet<string>): number =>
  (sentence.endsWith('?') ? -9 : 0) +
  (sentence.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => stress.has(word)).length;

/** What people said on documents, then the first sentence of every input, the second and so on. */
function takeTurns(inputs: readonly Input[]): string[] {
  const turns = inputs.flatMap(({ tag, sentences }) =>
    sentences.map((sentence, at) => ({ sentence, turn: tag === 'feedback' ? -1 : at })),
  );
  const sorted = turns.toSorted((a, b) => a.turn - b.turn);
  return [...new Set(sorted.map(({ sentence }) => sentence))];
}

/** The last of the largest groups of one kind; all documents where no two are of one kind. */
function findRivals(documents: readonly Input[], stress: ReadonlySet<string>): Input[] {
  const groups = [...Map.groupBy(documents, ({ kind }) => kind).values()].toReversed();
  const [largest = []] = groups.toSorted((a, b) => b.length - a.length);
  const worth = ({ sentences }: Input): number =>
    sentences.reduce((sum, one) => sum + weigh(one, stress), 0) / Math.max(1, sentences.length);
  const rivals = largest.length > 1 ? largest : documents;
  return rivals.toSorted((a, b) => worth(b) - worth(a));
}

function findIds(documents: readonly Input[], letter: string): string[] {
  const ids = new Set(documents.flatMap(({ text }) => text.match(ID) ?? []));
  return [...ids].filter((id) => id.startsWith(letter));
}
