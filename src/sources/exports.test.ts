import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exportBibtex } from './export-bibtex.ts';
import { exportCsl } from './export-csl.ts';
import type { Source } from './source.ts';

const paper: Source = {
  id: 'S1',
  key: 'doi:10.1000/a_b',
  title: 'A & {b} of 9 % \\TeX für Ärzte',
  doi: 'https://doi.org/10.1000/a_b',
  author: 'Baker, A. and Cook, B.',
  publisher: 'Smith & Sons',
  year: 2024,
  url: 'https://example.org/a%20b?c=d_e&f=#{g}',
  excerpts: ['x'],
};
const alias: Source = { id: 'S2', key: 'k', title: 'Same', excerpts: [], aliasOf: 'S1' };

type Entry = { type: string; key: string; fields: Record<string, string> };

/** Reads BibTeX by its grammar: an entry is `@type{key, name = {value}, …}`, and braces balance. */
function readBibtex(text: string): Entry[] {
  const entries: Entry[] = [];
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at)) {
    const head = /@(\w+)\{([^\s,{}]+),\s*/y;
    head.lastIndex = at;
    const [whole, type = '', key = ''] = head.exec(text) ?? [];
    if (whole === undefined)
      throw new Error(`No entry begins at ${at}: ${text.slice(at, at + 40)}`);
    at += whole.length;
    const fields: Record<string, string> = {};
    while (text[at] !== '}') {
      const name = /(\w+) = \{/y;
      name.lastIndex = at;
      const [start, field = ''] = name.exec(text) ?? [];
      if (start === undefined) throw new Error(`No field at ${at}: ${text.slice(at, at + 40)}`);
      at += start.length;
      const from = at;
      for (let depth = 1; depth > 0; at++) {
        if (at >= text.length) throw new Error('A brace is never closed.');
        if (text[at] === '{') depth++;
        if (text[at] === '}') depth--;
      }
      fields[field] = text.slice(from, at - 1);
      at += /,\s*/y.exec(text.slice(at))?.[0].length ?? 0;
    }
    entries.push({ type, key, fields });
    at++;
  }
  return entries;
}

const COMMANDS: Record<string, string> = {
  backslash: '\\',
  braceleft: '{',
  braceright: '}',
  asciitilde: '~',
  asciicircum: '^',
  less: '<',
  greater: '>',
  bar: '|',
  quotedbl: '"',
};
/** What LaTeX prints; any sign that it would act on must be gone before. */
function typeset(value: string): string {
  const inner = value.startsWith('{') && value.endsWith('}') ? value.slice(1, -1) : value;
  const signs = /\\text(\w+)\{\}|\\([#$%&_])|([\\{}~^#$%&_"])/g;
  return inner.replace(signs, (_, name: string, sign: string, bare: string) => {
    if (bare) throw new Error(`${bare} stands bare in ${value}`);
    return name ? (COMMANDS[name] ?? `?${name}`) : sign;
  });
}
const shown = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim();

describe('sources for other programs', () => {
  test('are CSL-JSON under the ids that documents cite', () => {
    expect(JSON.parse(exportCsl([paper, alias]))).toEqual([
      {
        id: 'S1',
        type: 'article',
        title: paper.title,
        author: [{ literal: paper.author }],
        publisher: 'Smith & Sons',
        issued: { 'date-parts': [[2024]] },
        DOI: '10.1000/a_b',
        URL: paper.url,
      },
    ]);
  });

  test('are BibTeX with every special sign escaped', () => {
    expect(exportBibtex([paper, alias])).toBe(`@misc{S1,
  title = {{A \\& \\textbraceleft{}b\\textbraceright{} of 9 \\% \\textbackslash{}TeX für Ärzte}},
  author = {{Baker, A. and Cook, B.}},
  publisher = {Smith \\& Sons},
  year = {2024},
  doi = {10.1000/a_b},
  url = {https://example.org/a%20b?c=d_e&f=#%7Bg%7D},
}
`);
  });

  test('are read back by a parser as they were, whatever they hold', () => {
    const printable = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    const spiky = fc
      .array(fc.constantFrom('{', '}', '\\', '%', '"', '@misc{', ',', 'é', '𝒳', ' '), {
        minLength: 1,
        maxLength: 12,
      })
      .map((parts) => parts.join(''));
    const text = fc.oneof(printable, spiky);
    const draft = fc.record({ title: text, author: text, publisher: text });
    fc.assert(
      fc.property(fc.array(draft, { maxLength: 4 }), (drafts) => {
        const sources = drafts.map(
          (one, at): Source => ({ ...one, id: `S${at + 1}`, key: `k${at}`, excerpts: [] }),
        );
        const read = readBibtex(exportBibtex(sources));
        expect(read.map(({ key }) => key)).toEqual(sources.map(({ id }) => id));
        for (const [at, { fields }] of read.entries()) {
          const { title, author = '' } = sources[at]!;
          expect(typeset(fields['title'] ?? '')).toBe(shown(title));
          expect(typeset(fields['author'] ?? '{}')).toBe(shown(author));
        }
        const items = JSON.parse(exportCsl(sources)) as { title: string }[];
        expect(items.map(({ title }) => title)).toEqual(drafts.map(({ title }) => title));
      }),
    );
  });
});
