import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { splitFrontMatter } from '../documents/front-matter.ts';
import { DialecticError } from '../errors/errors.ts';
import { readTextFolder, readTextFolderWithin, readTextWithin } from '../platform/folders.ts';
import { measureReading, type ReadFile, type Reading } from './reading.ts';

const FIRST_PAGE = 'project_readme.md';
/** The folders that hold a debate's result; the rest of its tree is the record behind it. */
const RESULT_FOLDERS = ['decide', 'build'];

/**
 * What a reader gets of a debate: its first page and its result. A debate without a result stage
 * has neither; then it is the documents that its readme names under "Read first".
 */
export async function readDebateFolder(folder: string): Promise<Reading> {
  const readme = await readTextWithin(folder, FIRST_PAGE);
  const results: ReadFile[] = [];
  for (const name of RESULT_FOLDERS.filter((one) => existsSync(join(folder, one)))) {
    const files = await readTextFolderWithin(folder, name);
    results.push(...toFiles(files).map((file) => ({ ...file, name: `${name}/${file.name}` })));
  }
  if (results.length > 0) {
    return measureReading([...toFiles(new Map([[FIRST_PAGE, readme]])), ...results]);
  }
  const named = await readNamed(folder, readme);
  if (named.length > 0) return measureReading(named);
  throw new DialecticError(
    'usage_invalid',
    `${folder} holds no result: there is no decide/ or build/ in it, and its ${FIRST_PAGE} names no documents under "Read first".`,
  );
}

/** All Markdown of a folder; a first page comes first. */
export async function readPlainFolder(folder: string): Promise<Reading> {
  const files = toFiles(await readTextFolder(folder));
  if (files.length === 0) {
    throw new DialecticError('usage_invalid', `${folder} holds no Markdown file.`);
  }
  return measureReading([...files.filter(isFirst), ...files.filter((file) => !isFirst(file))]);
}

const isFirst = ({ name }: ReadFile): boolean => /^[\d_-]*(first|read_?me)/i.test(name);

/** The documents behind the links of "Read first". Their paths name models, so titles stand in. */
async function readNamed(folder: string, readme: string): Promise<ReadFile[]> {
  const section = /^## Read first$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(readme)?.[1] ?? '';
  const files = new Map<string, string>();
  for (const [, title, link] of section.matchAll(/^- \[([^\]\n]+)\]\(([^)\n]+)\)/gm)) {
    files.set(`${title}.md`, await readTextWithin(folder, decodeLink(folder, link!)));
  }
  return toFiles(files);
}

function decodeLink(folder: string, link: string): string {
  try {
    return decodeURI(link);
  } catch {
    throw new DialecticError('path_invalid', `${link} is no path within ${folder}.`);
  }
}

const toFiles = (texts: ReadonlyMap<string, string>): ReadFile[] =>
  [...texts]
    .filter(([name]) => name.endsWith('.md'))
    .map(([name, text]) => ({ name, text: withoutOrigin(withoutFrontMatter(text)).trim() }))
    .filter(({ text }) => text !== '');

/** Blind: who took part, and the links to the records, whose paths name models, are cut off. */
const withoutOrigin = (text: string): string =>
  text
    .replace(/^## (In this folder|How this came about)$[\s\S]*/m, '')
    .trimEnd()
    .replace(/\n---\n\n\[Its record\][^\n]*$/, '');

/** A document that opens with a horizontal rule has no front matter, although it looks like it. */
function withoutFrontMatter(source: string): string {
  const { facts, text } = splitFrontMatter(source);
  return Object.keys(facts).length > 0 ? text : source;
}
