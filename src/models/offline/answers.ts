import { createHash } from 'node:crypto';
import type { ModelMessage, ModelRequest } from '../types.ts';
import { writeDocument } from './author.ts';
import type { PersonaName } from './personas.ts';

/** Whole answers, and the rest of those that were cut. */
export type Answers = {
  /** The whole answer, or what is left of it behind the chunks of the conversation. */
  find(request: ModelRequest, persona: PersonaName): string;
};

const MOST_KNOWN = 256;
/** So much of the end of the last chunk finds the place again where a chunk was altered. */
const TAIL = 60;

/**
 * Writes answers and goes on with them. A continuation comes without the schema, as real providers
 * need it; so answers that are not read to their end yet are kept. After a restart the schema has
 * to come along: then the answer is written anew, to the same letter.
 */
export function createAnswers(): Answers {
  const known = new Map<string, string>();

  function whole(request: ModelRequest, persona: PersonaName): string {
    const original = withoutAnswers(request);
    const key = digest(original, persona);
    const before = request.schema ? undefined : known.get(key);
    const text = before ?? writeDocument(original, persona);
    known.delete(key);
    known.set(key, text);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
    return text;
  }

  return {
    find(request, persona) {
      const text = whole(request, persona);
      const chunks = request.messages.filter((message) => message.role === 'assistant');
      return goOn(text, chunks.map((message) => message.content).join(''));
    },
  };
}

/** The rest of the text; all of it where the chunks are not its beginning, or are all of it. */
function goOn(text: string, soFar: string): string {
  if (soFar === '') return text;
  for (const written of [soFar, soFar.trimEnd()]) {
    if (text.startsWith(written)) return text.slice(written.length) || text;
  }
  const tail = soFar.slice(-TAIL);
  const at = soFar.length > TAIL ? text.indexOf(tail) : -1;
  const unique = at >= 0 && text.indexOf(tail, at + 1) < 0;
  return unique ? text.slice(at + tail.length) || text : text;
}

/** The request as it was before anything was answered. */
function withoutAnswers(request: ModelRequest): ModelRequest {
  const first = request.messages.findIndex((message) => message.role === 'assistant');
  return first < 0 ? request : { ...request, messages: request.messages.slice(0, first) };
}

function digest({ system, messages }: ModelRequest, persona: PersonaName): string {
  const parts: readonly ModelMessage[] = messages;
  const text = [persona, system, ...parts.map((part) => `${part.role}\u0000${part.content}`)];
  return createHash('sha256').update(text.join('\u0001')).digest('base64');
}
