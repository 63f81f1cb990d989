import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { DialecticError } from '../errors/errors.ts';
import type { NewResource } from '../session/start.ts';

const MOST_CHARS = 2_000_000;

/** Reads a text that a person named: a file, or `-` for standard input. */
export async function readText(path: string, what: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = path === '-' ? Buffer.from(await readAll(process.stdin)) : await readFile(path);
  } catch (cause) {
    throw new DialecticError('usage_invalid', `Cannot read the ${what} ${path}.`, { cause });
  }
  const text = decode(bytes);
  if (text === undefined) {
    throw new DialecticError('usage_invalid', `The ${what} ${path} is not text in UTF-8.`);
  }
  if (text.length > MOST_CHARS) {
    throw new DialecticError('usage_invalid', `The ${what} has over ${MOST_CHARS} characters.`);
  }
  return text;
}

function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The brief and a name for its project. */
export async function readBrief(path: string): Promise<{ name: string; brief: string }> {
  const brief = await readText(path, 'brief');
  if (brief.trim() === '') throw new DialecticError('usage_invalid', 'The brief is empty.');
  return { name: path === '-' ? titleOf(brief) : basename(path, extname(path)), brief };
}

const TITLE_WORDS = 6;

/** The first words of a text, without the signs of a heading, for a brief that is no file. */
function titleOf(text: string): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const words = line.replace(/^[^\p{L}\p{N}]+/u, '').split(/\s+/);
  return words.slice(0, TITLE_WORDS).join(' ').replace(/\W+$/u, '') || 'brief';
}

/** `kind=FILE`, as --resource takes it. */
export async function readResource(option: string): Promise<NewResource> {
  const at = option.indexOf('=');
  if (at < 1) {
    throw new DialecticError('usage_invalid', `--resource takes kind=FILE, not "${option}".`);
  }
  const file = option.slice(at + 1);
  return {
    kind: option.slice(0, at),
    name: basename(file),
    text: await readText(file, 'resource'),
  };
}
