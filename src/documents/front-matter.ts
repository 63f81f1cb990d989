import { parse, stringify } from 'yaml';
import { DialecticError } from '../errors/errors.ts';

const BLOCK = /^---\r?\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\r?\n|$)/;

/** Facts about a document, put before its text as YAML; keys keep their order. */
export function withFrontMatter(facts: Readonly<Record<string, unknown>>, text: string): string {
  const yaml = stringify(facts, { lineWidth: 0, aliasDuplicateObjects: false });
  return `---\n${yaml}---\n\n${text}`;
}

/** Takes facts and text apart again; a text without front matter has no facts. */
export function splitFrontMatter(source: string): {
  facts: Record<string, unknown>;
  text: string;
} {
  const found = BLOCK.exec(source);
  if (!found) return { facts: {}, text: source };
  const [block, yaml = ''] = found;
  const text = source.slice(block.length).replace(/^\r?\n/, '');
  try {
    const facts: unknown = parse(yaml, { maxAliasCount: 0, logLevel: 'error' });
    return { facts: facts !== null && typeof facts === 'object' ? { ...facts } : {}, text };
  } catch (error) {
    throw new DialecticError('usage_invalid', 'The front matter is not valid YAML.', {
      cause: error,
    });
  }
}
