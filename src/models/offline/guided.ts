import type { JsonSchema } from '../types.ts';

/** A document that a header context has to guide, as the prompt describes it. */
export type GuidedDocument = {
  readonly key: string;
  readonly title: string;
  readonly sections: readonly { readonly key: string; readonly schema: JsonSchema }[];
};

const DOCUMENT = /^#{1,6}\s+`([^`\s]+)`\W*(.*)/;
const ENTRY = /^(\s*)[-*]\s+`([^`\s]+)`\s*(?:\(([^)]*)\))?\W*(.*)/;

/**
 * The documents that the prompt of a header names: headings that begin with a key, else the
 * outermost list entries that do; `own` are the keys of the header itself.
 */
export function findGuided(prompt: string, own: ReadonlySet<string>): GuidedDocument[] {
  const lines = prompt.split('\n');
  const headed = readHeaded(lines);
  if (headed.length > 0) return headed;
  const entries = lines.map((line) => ENTRY.exec(line)).filter((entry) => entry !== null);
  const others = entries.filter((entry) => !own.has(entry[2]!));
  const least = Math.min(...others.map((entry) => entry[1]!.length));
  const listed = others
    .filter((entry) => entry[1]!.length === least)
    .map((entry) => ({ key: entry[2]!, title: entry[4]!, sections: [] }));
  if (listed.length > 0) return listed;
  const named = [...prompt.matchAll(/`([\w.-]+)`/g)].map((match) => match[1]!);
  return [...new Set(named)]
    .filter((key) => !own.has(key))
    .map((key) => ({ key, title: '', sections: [] }));
}

function readHeaded(lines: readonly string[]): GuidedDocument[] {
  const found: (GuidedDocument & { sections: { key: string; schema: JsonSchema }[] })[] = [];
  let open = false;
  for (const line of lines) {
    const heading = DOCUMENT.exec(line);
    if (heading) found.push({ key: heading[1]!, title: heading[2]!, sections: [] });
    else if (/^#{1,6}\s/.test(line)) open = false;
    if (heading) open = true;
    const entry = open ? ENTRY.exec(line) : null;
    if (entry && entry[1] === '') {
      found.at(-1)?.sections.push({ key: entry[2]!, schema: toSchema(entry[3], entry[4]!) });
    }
  }
  return found;
}

/** Guidance is text, or a list of texts where the section is a list. */
function toSchema(type = 'string', description: string): JsonSchema {
  return type.startsWith('array')
    ? { type: 'array', items: { type: 'string' }, description }
    : { type: 'string', description };
}
