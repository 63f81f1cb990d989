import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Level, restoreSource, showSource } from './levels.ts';
import { listSources } from './list-sources.ts';
import { findMarkers } from './markers.ts';
import { findProse } from './prose-spans.ts';
import type { Source } from './source.ts';

const LEVELS: readonly Level[] = [0, 1, 2, 3];
/** Texts that try to break out of their place: fences, citations, tags, line breaks of all kinds. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        '[S99]',
        '`',
        '``',
        '~~~~',
        '```',
        '\n',
        '\r',
        '> ',
        'Source 7',
        '</b>',
        'a ',
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
);
const anySources = fc
  .array(
    fc.record({
      title: anyText,
      url: fc.constantFrom('https://a.org/x', 'https://a.org/[S98]', 'https://a.org/`a`?b=<c>'),
      excerpts: fc.array(anyText, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((all) => all.map((one, at): Source => ({ ...one, id: `S${at + 1}`, key: `text:${at}` })));
const markersOf = (text: string): string[] =>
  findMarkers(text, findProse(text)).flatMap(({ ids }) => ids);

describe('a source at its levels', () => {
  const bread: Source = {
    id: 'S1',
    key: 'url:example.org/bread',
    title: 'Bread in numbers',
    url: 'https://example.org/bread',
    excerpts: [`The town is old. The bakery sells 1,200 loaves a week. ${'It rains. '.repeat(90)}`],
  };

  test('shows less from one level to the next', () => {
    const [full, key, title, id] = LEVELS.map((level) => showSource(bread, level).text);
    expect(full).toContain(bread.excerpts[0]);
    expect(key).toContain('The bakery sells 1,200 loaves a week.');
    expect(key!.length).toBeLessThan(full!.length);
    expect(title).toBe('- [S1] `Bread in numbers` · <https://example.org/bread>\n');
    expect(id).toBe('- [S1]\n');
    expect(showSource(bread, 2, { relevance: 0.5, credibility: 1 }).text).toContain(
      'relevance 0.50 · credibility 1.00',
    );
  });

  test('names only what is stored: a text that changed or went is an error', () => {
    const shown = showSource(bread, 3);
    expect(() => restoreSource(shown, () => undefined)).toThrow('not stored');
    expect(() => restoreSource(shown, () => 'another')).toThrow('has changed');
  });

  test('is restored to the byte from every level, and its id is the only one in it', () => {
    fc.assert(
      fc.property(anySources, (sources) => {
        const stored = new Map(
          sources.map((source) => {
            const { digest, text } = showSource(source, 0);
            return [digest, text];
          }),
        );
        for (const source of sources) {
          for (const level of LEVELS) {
            const shown = showSource(source, level);
            const restored = restoreSource(shown, (digest) => stored.get(digest));
            expect(restored).toBe(showSource(source, 0).text);
            for (const excerpt of source.excerpts) expect(restored).toContain(excerpt);
            expect(markersOf(shown.text)).toEqual([source.id]);
          }
        }
      }),
    );
  });

  test('stands in a context where every id resolves, at any mixture of levels', () => {
    const levels = fc.array(fc.constantFrom(...LEVELS), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(anySources, levels, (sources, chosen) => {
        const context = sources
          .map((source, at) => showSource(source, chosen[at] ?? 3).text)
          .join('\n');
        expect(markersOf(context)).toEqual(sources.map(({ id }) => id));
      }),
    );
  });
});

describe('the list of sources', () => {
  test('is only ever appended to: the bytes of a shorter list begin every longer one', () => {
    fc.assert(
      fc.property(anySources, fc.nat(400), (sources, room) => {
        const lists = sources.map((_, at) =>
          listSources(
            sources.slice(0, at + 1).map((source) => ({ source })),
            room,
          ),
        );
        for (const [at, { text, offloaded }] of lists.entries()) {
          expect(text.startsWith(lists[at - 1]?.text ?? '')).toBe(true);
          expect(markersOf(text)).toEqual(sources.slice(0, at + 1).map(({ id }) => id));
          // Once one is offloaded, all that follow are.
          expect(offloaded).toEqual(
            sources.slice(at + 1 - offloaded.length, at + 1).map(({ id }) => id),
          );
        }
      }),
    );
  });
});
