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

/** Before the block of a document, so that its bytes are the same wherever it stands. */
const BLOCKS = /(?=\n\n<(?:document|feedback|resource|source) )/;

/**
 * The parts that requests share: the system text, each message, and in the message of documents
 * each document. Joined they are the request.
 */
export function splitRequest({ system, messages }: StoredRequest): RequestPart[] {
  const all = [{ role: 'system' as const, content: system }, ...messages];
  return all.flatMap(({ role, content }) =>
    content.split(BLOCKS).map((text, at) => ({ role: at === 0 ? role : null, text })),
  );
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
