import { withoutNotice } from './own-sentences.ts';
import { splitSentences } from './segments.ts';

/** A sentence or entry of a document and where it stands. */
export type Piece = {
  readonly text: string;
  /** Headings or keys above it, outermost first; `#1 Name` stands for an entry of a list. */
  readonly path: readonly string[];
  /** True for entries of lists and cells, false for running text. */
  readonly entry: boolean;
};

/** A record that has an id or a name, with its fields as texts. */
export type DocumentItem = {
  /** The list or section that holds it. */
  readonly list: string;
  readonly id: string;
  readonly title: string;
  readonly fields: ReadonlyMap<string, readonly string[]>;
};

/** Collects what a document says while one of the formats is read. */
export type PieceReader = {
  readonly pieces: Piece[];
  say(text: string, path: readonly string[], entry: boolean): void;
  /** Notes a field of the record that stands at the path. */
  note(path: readonly string[], field: string, value: string): void;
  finishItems(): DocumentItem[];
};

type Group = { readonly path: readonly string[]; readonly fields: Map<string, string[]> };

/** Names a record, among its fields. */
export const TITLE_FIELD = /(?:^|_)(?:title|name|heading)$/;
/** `M1: Title`, also behind a mark such as `[ ]`. */
const ID_FIRST = /^(?:\[.?\]\s+)?([A-Za-z]{1,4}[-.]?\d+(?:\.\d+)*)\b/;

/** Keys and headings are compared in this form: `Risks & mitigation` is `risks_mitigation`. */
export const toKey = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/_(?:and|und|et)_/g, '_')
    .replace(/^_|_$/g, '');

/** Ids, names and keys say nothing by themselves. */
export const isProse = (text: string): boolean =>
  text.trim().split(/\s+/).length > 2 || /[^\x20-\x7e]{6}/.test(text);

export function createPieceReader(): PieceReader {
  const pieces: Piece[] = [];
  const groups = new Map<string, Group>();
  return {
    pieces,
    say(text, path, entry) {
      for (const sentence of splitSentences(withoutNotice(text))) {
        pieces.push({ text: sentence, path, entry });
      }
    },
    note(path, field, value) {
      const key = path.join('\u0000');
      const group = groups.get(key) ?? { path, fields: new Map<string, string[]>() };
      groups.set(key, group);
      const name = toKey(field);
      group.fields.set(name, [...(group.fields.get(name) ?? []), withoutNotice(value)]);
    },
    finishItems: () => [...groups.values()].flatMap(toItem),
  };
}

function toItem({ path, fields }: Group): DocumentItem[] {
  const own = [...fields].find(([name]) => TITLE_FIELD.test(name))?.[1][0];
  const heading = path.at(-1)?.replace(/^#\d+ /, '') ?? '';
  const id = fields.get('id')?.[0] ?? ID_FIRST.exec(heading)?.[1] ?? '';
  const title = own ?? heading.replace(ID_FIRST, '').replace(/^[\s:.–—-]+/, '');
  if (title === '' || (fields.size < 2 && id === '')) return [];
  return [{ list: toKey(path.at(-2) ?? ''), id, title, fields }];
}
