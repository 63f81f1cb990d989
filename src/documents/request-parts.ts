type Role = 'user' | 'assistant';

/** A text of a request that is stored once; without a role it goes on with the message before. */
export type RequestPart = {
  readonly role: 'system' | Role | null;
  readonly text: string;
};

/** A request as it was sent, without what only a provider's adapter needs. */
export type StoredRequest = {
  readonly system: string;
  readonly messages: readonly { readonly role: Role; readonly content: string }[];
};

/** What opens a block: it is split before it, so that its bytes are the same wherever it stands. */
const GAP = '\n\n';
const OPENINGS = ['document', 'feedback', 'resource', 'source'].map((tag) => `${GAP}<${tag} `);

/**
 * The parts that requests share: the system text, each message, and in the message of documents
 * each document. Joined they are the request.
 */
export function splitRequest({ system, messages }: StoredRequest): RequestPart[] {
  const all = [{ role: 'system' as const, content: system }, ...messages];
  return all.flatMap(({ role, content }) =>
    splitBlocks(content).map((text, at) => ({ role: at === 0 ? role : null, text })),
  );
}

/** By searching for the gap: a regular expression tries every character of every request. */
function splitBlocks(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  const first = `${GAP}<`;
  for (let at = text.indexOf(first, 1); at >= 0; at = text.indexOf(first, at + 1)) {
    if (!OPENINGS.some((opening) => text.startsWith(opening, at))) continue;
    parts.push(text.slice(from, at));
    from = at;
  }
  return [...parts, text.slice(from)];
}

/** Puts a request together again, byte for byte. */
export function joinParts(parts: readonly RequestPart[]): StoredRequest {
  const texts: { role: 'system' | Role; content: string }[] = [];
  for (const { role, text } of parts) {
    const last = texts.at(-1);
    if (role !== null) texts.push({ role, content: text });
    else if (last) last.content += text;
  }
  const [first, ...rest] = texts;
  const messages = rest.flatMap(({ role, content }) =>
    role === 'system' ? [] : [{ role, content }],
  );
  return { system: first?.content ?? '', messages };
}
