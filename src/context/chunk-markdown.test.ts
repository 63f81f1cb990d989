import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkMarkdown } from './chunk-markdown.ts';

const sentence = (n: number) =>
  `Sentence ${n} speaks of ovens, dough and the price of ${n} loaves.`;
const paragraph = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => sentence(from + n)).join(' ');

test('chunks carry the headings above them, and a heading stays with what it heads', () => {
  const text = `# Plan\n\n## Money\n\n${paragraph(1, 4)}\n\n## Time\n\n${paragraph(20, 30)}\n`;
  const chunks = chunkMarkdown(text, 900);
  expect(chunks[0]).toMatchObject({ headings: ['Plan', 'Money'] });
  expect(chunks[0]!.text).toMatch(/^# Plan\n\n## Money\n\nSentence 1 /);
  const late = chunks.slice(1);
  expect(late.length).toBeGreaterThan(1);
  for (const chunk of late) expect(chunk.headings).toEqual(['Plan', 'Time']);
  for (const chunk of chunks) expect(chunk.text.trimEnd()).toMatch(/loaves\.$/);
});

test('a sentence keeps its marker, and code its full stops', () => {
  const marked = Array.from({ length: 40 }, (_, n) => `Flour costs ${n} euro. [S${n}]`).join(' ');
  for (const { text } of chunkMarkdown(marked, 200)) {
    expect(text.trimEnd()).toMatch(/\[S\d+\]$/);
    expect(text).toMatch(/^Flour/);
  }
  const coded = Array.from({ length: 40 }, (_, n) => `Run \`a.b(). Then ${n}. End\` now.`).join(
    ' ',
  );
  for (const { text } of chunkMarkdown(coded, 200)) expect(text.split('`').length % 2).toBe(1);
});

test('rows keep the head of their table; items and fences stay whole', () => {
  const rows = Array.from({ length: 60 }, (_, n) => `| item ${n} | ${n * 3} EUR per month |`);
  const table = ['| What | Price |', '|---|---|', ...rows].join('\n');
  const chunks = chunkMarkdown(table);
  expect(chunks.length).toBeGreaterThan(1);
  expect(chunks[0]!.lead).toBe('');
  for (const chunk of chunks.slice(1)) expect(chunk.lead).toBe('| What | Price |\n|---|---|\n');
  const fence = ['```sql', ...rows, '```'].join('\n');
  const items = rows.map((row) => `- ${row}\n  more of it\n`).join('');
  const mixed = chunkMarkdown(`${fence}\n\n${items}`);
  expect(mixed[0]!.text.trimEnd()).toBe(fence);
  for (const chunk of mixed.slice(1)) expect(chunk.text).toMatch(/^- [\s\S]*more of it\n$/);
});

test('a fence whose first line looks like the head of a table is no table', () => {
  const rows = Array.from({ length: 60 }, (_, n) => `| item ${n} | ${n * 3} EUR per month |`);
  const fence = ['```| Price |', '|---|---|', ...rows, '```'].join('\n');
  const [first] = chunkMarkdown(`${fence}\n\n${paragraph(1, 30)}`);
  expect(first).toMatchObject({ lead: '' });
  expect(first!.text).toContain(fence);
});

test('a change of subject ends a chunk', () => {
  const bread =
    'Bread dough rests overnight in cold proofing baskets before bakers shape loaves. '.repeat(4);
  const law = 'Liability insurance covers injuries caused by negligent contractors on premises.';
  const chunks = chunkMarkdown(`${bread}\n\n${law}\n`, 900);
  expect(chunks.map(({ text }) => text.includes('Liability'))).toEqual([false, true]);
});

const block = fc.oneof(
  fc.lorem({ mode: 'sentences', maxCount: 12 }),
  fc.lorem({ maxCount: 4 }).map((title) => `## ${title}`),
  fc
    .array(fc.lorem({ maxCount: 9 }), { minLength: 1, maxLength: 9 })
    .map((all) => `- ${all.join('\n- ')}`),
  fc
    .array(fc.lorem({ maxCount: 9 }), { maxLength: 9 })
    .map((all) => `\`\`\`\n${all.join('\n\n')}\n\`\`\``),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '> said\n> so',
    '[a]: http://x.y',
    '<div>\n\nx\n</div>',
    '\r\n',
    '1. a\n   - b',
    '***',
  ),
);

test('chunks of any text follow each other without a gap, and no fence is divided', () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 14 }),
      fc.integer({ min: 20, max: 900 }),
      (all, most) => {
        const text = all.join('\n\n');
        const chunks = chunkMarkdown(text, most);
        expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
        let at = 0;
        for (const one of all) {
          const end = at + one.length;
          const cuts = chunks.filter(({ start }) => start > at && start < end);
          if (one.startsWith('```')) expect(cuts).toEqual([]);
          at = end + 2;
        }
      },
    ),
    { numRuns: 200 },
  );
});

/** What is never divided, with what stands between two of a kind; a heading has its level. */
type Block = { readonly units: readonly string[]; readonly joint: string; readonly level?: number };

const phrase = fc
  .array(fc.constantFrom('oven', 'dough', 'price', 'permit', 'loaf', 'tax'), {
    minLength: 2,
    maxLength: 14,
  })
  .map((words) => words.join(' '));
const marker = fc.constantFrom('', '', ' [S12]', ' [^3]', '【4†menu】');
const cited = fc.tuple(phrase, marker).map(([words, mark]) => `The ${words}.${mark}`);
const list = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 12 });
const blocks: fc.Arbitrary<Block> = fc.oneof(
  list(cited).map((units) => ({ units, joint: ' ' })),
  list(fc.tuple(phrase, phrase)).map((all) => ({
    units: all.map(([one, more]) => `- ${one}\n  ${more}`),
    joint: '\n',
  })),
  list(fc.tuple(phrase, phrase)).map((all) => ({
    units: ['| What | How |\n|---|---|', ...all.map(([one, other]) => `| ${one} | ${other} |`)],
    joint: '\n',
  })),
  list(phrase).map((lines) => ({ units: [`\`\`\`\n${lines.join('\n\n')}\n\`\`\``], joint: '' })),
  fc.tuple(phrase, fc.integer({ min: 1, max: 4 })).map(([title, level]) => ({
    units: [`${'#'.repeat(level)} ${title}`],
    joint: '',
    level,
  })),
);

test('no sentence with its marker, item, row or fence is ever divided; headings stay true', () => {
  fc.assert(
    fc.property(
      fc.array(blocks, { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 20, max: 400 }),
      (all, most) => {
        const text = all.map(({ units, joint }) => units.join(joint)).join('\n\n');
        const chunks = chunkMarkdown(text, most);
        expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
        let at = 0;
        let path: { level: number; title: string }[] = [];
        for (const { units, joint, level } of all) {
          if (level !== undefined) {
            const title = units[0]!.replace(/^#+ /, '');
            path = [...path.filter((one) => one.level < level), { level, title }];
          }
          for (const unit of units) {
            const end = at + unit.length;
            const cuts = chunks.filter(({ start }) => start > at && start < end);
            expect(cuts.map((chunk) => chunk.text)).toEqual([]);
            const begun = chunks.find(({ start }) => start === at);
            const titles = path.map(({ title }) => title);
            if (begun && level === undefined) expect(begun.headings).toEqual(titles);
            if (begun && level !== undefined)
              expect(begun.headings).toEqual(expect.arrayContaining([titles[0]]));
            at = end + joint.length;
          }
          at += 2 - joint.length;
        }
      },
    ),
    { numRuns: 300 },
  );
});
