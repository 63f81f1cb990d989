import type { ModelMessage, ModelRequest } from '../types.ts';

/** What a block of the request is to the author. */
export type BlockKind =
  | 'request'
  | 'sources'
  | 'feedback'
  | 'header'
  | 'seed'
  | 'resource'
  | 'document';

/** One labelled piece of data among the messages. */
export type Block = {
  readonly kind: BlockKind;
  readonly label: string;
  readonly title: string;
  /** Document key, empty where the block has none. */
  readonly key: string;
  readonly stage: string;
  readonly text: string;
};

/** A request taken apart. */
export type ReadRequest = {
  readonly blocks: readonly Block[];
  readonly prompt: string;
  readonly stage: string;
  readonly documentKey: string;
  /** What was written before the last request to go on. */
  readonly soFar: string;
};

const OPENING = /^<([a-z][\w-]*)((?:\s[^<>]*)?)>[ \t]*$/i;
const CLOSING = /^<\/([a-z][\w-]*)>[ \t]*$/i;
const ATTRIBUTE = /(?<![\w-])([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const DELIVERABLE = /^[ \t]*Deliverable:[ \t]*([^\s/]+)\/(\S+)[ \t]*$/gim;

/** By the name of the tag, or of its `kind` or `type`; the first that fits. */
const KINDS: readonly (readonly [RegExp, BlockKind])[] = [
  [
    /(user|original|initial)[_ -]?(request|prompt|objective)|^request|^brief|^objective/i,
    'request',
  ],
  [/seed/i, 'seed'],
  [/source|evidence|citation|digest/i, 'sources'],
  [/feedback|answers?\b/i, 'feedback'],
  [/header|guidance|materials/i, 'header'],
  [/resource|reference|standard|constraint|criteria|stakeholder|compliance|context/i, 'resource'],
];

/** Takes a request apart; whatever its layout, the brief and the current prompt are found. */
export function readRequest(request: ModelRequest): ReadRequest {
  const { original, soFar } = splitConversation(request.messages);
  const blocks: Block[] = [];
  let prompt = '';
  for (const [index, text] of original.entries()) {
    const rest = takeBlocks(text, blocks);
    if (index === original.length - 1) prompt = rest;
    else if (rest.trim() !== '') blocks.push(plainBlock(rest, index));
  }
  blocks.push(...takeGuidance(prompt));
  if (!blocks.some((block) => block.kind === 'request')) {
    blocks.unshift({ ...plainBlock(prompt, 0), text: prompt.replace(DELIVERABLE, '') });
  }
  return { blocks, prompt, soFar, ...readDeliverable(request, prompt) };
}

/** The user's turns before the first answer, and the answers since. */
function splitConversation(messages: readonly ModelMessage[]): {
  readonly original: readonly string[];
  readonly soFar: string;
} {
  const first = messages.findIndex((message) => message.role === 'assistant');
  const head = first < 0 ? messages : messages.slice(0, first);
  const written = messages.filter((message) => message.role === 'assistant');
  return {
    original: head.map((message) => message.content),
    soFar: written.map((message) => message.content).join(''),
  };
}

/** Moves the tagged parts of a message into `blocks` and returns what is left. */
function takeBlocks(text: string, blocks: Block[]): string {
  const lines = text.split('\n');
  const closings = findClosings(lines);
  const rest: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const opening = OPENING.exec(lines[at]!);
    const ends = closings.get(opening?.[1]!.toLowerCase() ?? '') ?? [];
    while (ends.length > 0 && ends.at(-1)! <= at) ends.pop();
    const end = ends.at(-1);
    if (opening && end !== undefined) {
      blocks.push(toBlock(opening[1]!, opening[2]!, lines.slice(at + 1, end).join('\n')));
      rest.push('');
      at = end;
    } else rest.push(lines[at]!);
  }
  return rest.join('\n');
}

/** The lines that close each tag, the last one first. */
function findClosings(lines: readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const tag = CLOSING.exec(lines[at]!)?.[1]!.toLowerCase();
    if (tag === undefined) continue;
    const own = found.get(tag) ?? [];
    own.push(at);
    found.set(tag, own);
  }
  return found;
}

function toBlock(tag: string, given: string, text: string): Block {
  const attributes = readAttributes(given);
  const key = attributes['document_key'] ?? attributes['key'] ?? '';
  const named = attributes['kind'] ?? attributes['type'] ?? '';
  return {
    kind: findKind([tag, named, /^(?:header|seed)/.exec(key)?.[0] ?? '']),
    label: attributes['label'] ?? attributes['id'] ?? attributes['title'] ?? key ?? tag,
    title: attributes['title'] ?? '',
    key,
    stage: attributes['stage'] ?? '',
    text,
  };
}

const GUIDANCE =
  /^(#{1,3}) (?=[^\n]*\n)[^\n]*\b(?:guidance|stage plan)\b[^\n]*\n([\s\S]*?)(?=^#{1,2} |(?![\s\S]))/gim;

/** A header context may stand in the prompt itself, under a heading that says so. */
function takeGuidance(prompt: string): Block[] {
  return [...prompt.matchAll(GUIDANCE)].map((match) => ({
    kind: 'header',
    label: 'the stage plan',
    title: '',
    key: '',
    stage: '',
    text: match[2]!.trim(),
  }));
}

function readAttributes(given: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name, double, single] of given.matchAll(ATTRIBUTE)) {
    found[name!.toLowerCase()] = double ?? single ?? '';
  }
  return found;
}

function findKind(names: readonly string[]): BlockKind {
  for (const [pattern, kind] of KINDS) if (names.some((name) => pattern.test(name))) return kind;
  return 'document';
}

/** A message without tags: the first is the brief, others are named by their first line. */
function plainBlock(text: string, index: number): Block {
  const line = text
    .trim()
    .split('\n', 1)[0]!
    .replace(/^[#*\s]+/, '')
    .replace(/(?<![:*\s])[:*\s]+$/, '');
  const label = line.slice(0, 80);
  const kind = index === 0 ? 'request' : findKind([label]);
  return { kind, label, title: '', key: '', stage: '', text };
}

function readDeliverable(
  { schema }: ModelRequest,
  prompt: string,
): { readonly stage: string; readonly documentKey: string } {
  const last = [...prompt.matchAll(DELIVERABLE)].at(-1);
  if (last) return { stage: last[1]!, documentKey: last[2]! };
  const [stage = '', documentKey = ''] = (schema?.name ?? '').split('__');
  return { stage, documentKey: documentKey || stage };
}
