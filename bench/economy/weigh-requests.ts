import type { SentRequest } from './recording-server.ts';

/** What some requests came to, in characters. */
export type Weight = {
  readonly calls: number;
  readonly sent: number;
  /** Identical with the beginning of an earlier request of the same participant. */
  readonly reused: number;
};

/** A request with its weight and the characters of each kind of input. */
export type WeighedRequest = {
  readonly stage: string;
  readonly weight: Weight;
  readonly kinds: ReadonlyMap<string, Pick<Weight, 'sent' | 'reused'>>;
  readonly schemaChars: number;
};

type Piece = { readonly kind: string; readonly text: string };

/** Weighs requests in the order in which they were sent. */
export function weighRequests(requests: readonly SentRequest[]): WeighedRequest[] {
  const earlier = new Map<string, string[]>();
  return requests.map((request) => {
    const pieces = splitRequest(request);
    const text = pieces.map((piece) => piece.text).join('');
    const known = earlier.get(request.model) ?? [];
    const reused = Math.max(0, ...known.map((one) => commonPrefix(one, text)));
    earlier.set(request.model, [...known, text]);
    const { stage } = request;
    const schemaChars = request.schema.length;
    const weight = { calls: 1, sent: text.length, reused };
    return { stage, weight, kinds: weighKinds(pieces, reused), schemaChars };
  });
}

/** The sum of weights. */
export const sumWeights = (weights: readonly Weight[]): Weight => ({
  calls: weights.reduce((sum, one) => sum + one.calls, 0),
  sent: weights.reduce((sum, one) => sum + one.sent, 0),
  reused: weights.reduce((sum, one) => sum + one.reused, 0),
});

/** What providers take for input from their cache, as a share of its price: a tenth. */
const CACHED_SHARE = 0.1;

/** Characters at full price that cost as much as what was sent. */
export const billedEquivalent = ({ sent, reused }: Pick<Weight, 'sent' | 'reused'>): number =>
  sent - reused + reused * CACHED_SHARE;

/** By kind; what is reused are the first characters of a request. */
function weighKinds(pieces: readonly Piece[], reused: number): WeighedRequest['kinds'] {
  const kinds = new Map<string, { sent: number; reused: number }>();
  let left = reused;
  for (const { kind, text } of pieces) {
    const sum = kinds.get(kind) ?? { sent: 0, reused: 0 };
    const own = Math.min(left, text.length);
    kinds.set(kind, { sent: sum.sent + text.length, reused: sum.reused + own });
    left -= own;
  }
  return kinds;
}

/** The kinds of input that a request is made of, in its order; joined they are its text. */
function splitRequest({ messages }: SentRequest): Piece[] {
  const asked = messages.findLastIndex(
    ({ role, content }, at) =>
      role === 'user' && content.includes('Deliverable: ') && isFirstTurn(messages, at),
  );
  return messages.flatMap(({ role, content }, at): Piece[] => {
    const text = `${role}\n${content}\n`;
    if (role === 'system') return [{ kind: 'system text', text }];
    if (at > asked) return [{ kind: 'conversation', text }];
    if (at === asked) return [{ kind: 'prompt of the step', text }];
    if (content.startsWith('# Documents')) return splitDocuments(text);
    return [{ kind: at < 2 && content.includes('<user_request') ? 'request' : 'stage', text }];
  });
}

const isFirstTurn = (messages: SentRequest['messages'], at: number): boolean =>
  !messages.slice(0, at).some(({ role }) => role === 'assistant');

function splitDocuments(text: string): Piece[] {
  return text
    .split(/^(?=<(?:document|feedback) label=)/m)
    .map((block) => ({ kind: kindOf(block), text: block }));
}

function kindOf(block: string): string {
  if (block.startsWith('<feedback')) return 'feedback';
  if (/^<document [^>]*document_key="header_context/.test(block)) return 'plan of the stage';
  return 'documents';
}

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}
