import type { Piece } from './piece-reader.ts';
import { type ReadDocument, readDocument } from './read-document.ts';

const EXCERPT = /^\W{0,4}(S\d+\.e\d+)\W{1,4}(.*)$/;
const TITLE = /^\W{0,4}S\d+\b(?!\.e)/;

/**
 * Reads a list of sources: a line that begins with the id of an excerpt gives the excerpt, with
 * that id as its citation; a line that begins with the id of a source only names it. Other lines
 * count where they carry citations of their own.
 */
export function readSources(text: string): ReadDocument {
  const excerpts: Piece[] = [];
  const rest: string[] = [];
  for (const line of text.split('\n')) {
    const excerpt = EXCERPT.exec(line);
    if (excerpt) excerpts.push(toPiece(excerpt[1]!, excerpt[2]!));
    else if (!TITLE.test(line)) rest.push(line);
  }
  return { pieces: [...excerpts, ...readDocument(rest.join('\n')).pieces], items: [] };
}

/** Sentences of one excerpt stay together: the id vouches for the whole. */
function toPiece(id: string, said: string): Piece {
  const bare = said
    .trim()
    .replace(/^["“'«]+/, '')
    .replace(/(?<!["”'».\s])["”'».\s]+$/, '');
  return { text: `${bare} [${id}]`, path: [], entry: true };
}
