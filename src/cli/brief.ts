import { existsSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import type { NewResource } from '../session/start.ts';
import { readInput } from './read-input.ts';

const MOST_CHARS = 2_000_000;
/** A character takes three bytes of UTF-8 at most, and the file may begin with a byte order mark. */
const MOST_BYTES = 3 * MOST_CHARS + 3;

/** Reads a text that a person named: a file, or `-` for standard input. */
export async function readText(path: string, what: string): Promise<string> {
  const bytes = await readBytes(path, what);
  const text = decode(bytes);
  if (text === undefined) {
    const message = `The ${what} ${path} is not text in UTF-8${describeFormat(bytes, path)}.`;
    throw new DialecticError('usage_invalid', message);
  }
  if (text.length > MOST_CHARS) throw tooLong(path, what);
  return text;
}

function tooLong(path: string, what: string): DialecticError {
  const where = path === '-' ? 'on standard input' : path;
  const message = `The ${what} ${where} has over ${MOST_CHARS} characters.`;
  return new DialecticError('usage_invalid', message);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; correct the path',
  EISDIR: 'is a folder; name a text file in it',
  ENOTDIR: 'does not exist; correct the path',
  EACCES: 'may not be read by you; give yourself the right with chmod u+r',
  EPERM: 'may not be read by you; give yourself the right with chmod u+r',
};

async function readBytes(path: string, what: string): Promise<Buffer> {
  try {
    return await readInput(path, MOST_BYTES);
  } catch (cause) {
    if (cause instanceof DialecticError) {
      if (cause.code === 'file_too_large') throw tooLong(path, what);
      throw new DialecticError('usage_invalid', `Cannot read the ${what}: ${cause.message}`);
    }
    const reason = REASONS[codeOf(cause)] ?? messageOf(cause);
    const message = `Cannot read the ${what}: ${path} ${reason}.`;
    throw new DialecticError('usage_invalid', message, { cause });
  }
}

/** Formats that briefs come in, by the first bytes of the file, and how to make a text of each. */
const FORMATS: readonly (readonly [magic: string, remedy: (path: string) => string])[] = [
  ['PK\x03\x04', (path) => `; make it one with: pandoc ${path} -t markdown -o ${toMarkdown(path)}`],
  ['%PDF', (path) => `; make it one with: pdftotext -layout ${path}`],
  ['\xff\xfe', (path) => `; make it one with: iconv -f UTF-16 -t UTF-8 ${path}`],
  ['\xd0\xcf\x11\xe0', () => '; save it as text or Markdown in your word processor'],
];

const toMarkdown = (path: string): string => `${basename(path, extname(path))}.md`;

function describeFormat(bytes: Buffer, path: string): string {
  const found = FORMATS.find(([magic]) => bytes.toString('latin1', 0, 4).startsWith(magic));
  return found === undefined ? '; save it as UTF-8' : found[1](path);
}

function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The brief and a name for its project: of a file, of standard input, or the words themselves. */
export async function readBrief(given: string): Promise<{ name: string; brief: string }> {
  if (given.trim() === '') {
    const message = 'The brief is empty: name a text file, or write the brief itself in quotes.';
    throw new DialecticError('usage_invalid', message);
  }
  const isWords = isSentence(given) && !existsSync(given);
  const brief = isWords ? given : await readText(given, 'brief');
  if (brief.trim() === '') {
    const where = given === '-' ? 'Standard input' : given;
    const message = `${where} is empty: a brief says what is to be decided or built, and its limits.`;
    throw new DialecticError('usage_invalid', message);
  }
  const isFile = !isWords && given !== '-';
  return { name: isFile ? basename(given, extname(given)) : titleOf(brief), brief };
}

/** Fewer words, or what ends as a text file does, is more likely a path with a mistake in it. */
const LEAST_WORDS = 4;
const TEXT_FILE = /\.(?:md|markdown|txt|text|rst|adoc|org|html?|docx?|odt|rtf|pdf)$/i;

const isSentence = (given: string): boolean =>
  given.trim().split(/\s+/).length >= LEAST_WORDS && !TEXT_FILE.test(given.trim());

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
