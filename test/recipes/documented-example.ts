import { readFileSync } from 'node:fs';

/** The files of the example in docs/recipes.md, so that the documentation is itself tested. */
export function documentedExample(): Map<string, string> {
  const text = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
  const files = new Map<string, string>();
  for (const match of text.matchAll(/^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$/gms)) {
    files.set(match[1]!, match[2]!);
  }
  return files;
}
