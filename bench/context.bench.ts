import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chunkMarkdown } from '../src/context/chunk-markdown.ts';
import { lexicalEmbedder } from '../src/context/lexical-embedder.ts';
import { findEmbedder } from '../src/context/sentence-embedder.ts';
import { loadTokenCounter } from '../src/models/tokens.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { fitDocuments } from './retrieval/fit-documents.ts';
import { type Place, withStore } from './retrieval/store.ts';

const CANDIDATES = 500;
const SIZES = [1e4, 1e5, 1e6, 1e7];
const WINDOW = 1 / 8;
/** Chunks that are embedded to measure a model's rate. */
const SAMPLE = 120;

const counter = await loadTokenCounter();

/** Paragraphs of a real debate, numbered from the second time on, so that no two are the same. */
function* paragraphs(): Generator<string> {
  const folder = fileURLToPath(new URL('../examples/bakery-plan', import.meta.url));
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/_work|recipe|prompt/.test(path))
    .toSorted()
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').split(/\n{2,}/));
  for (let round = 0; ; round++) {
    for (const text of all) yield round === 0 ? text : `${text} (${round})`;
  }
}

function makeDocuments(characters: number): string[] {
  const source = paragraphs();
  return Array.from({ length: CANDIDATES }, (_, at) => {
    let text = `# Document ${at}\n`;
    while (text.length < characters / CANDIDATES) text += `\n${source.next().value}\n`;
    return text.slice(0, Math.max(20, characters / CANDIDATES));
  });
}

const promptOf = (topics: readonly string[]): string =>
  `Write the plan. Answer each question:\n\n${topics.map((topic) => `- What do the documents say about ${topic}?`).join('\n')}\n`;
const FIRST = promptOf(['the price of bread', 'orders by phone', 'the risks of the launch']);
const SECOND = promptOf([
  'opening hours and staff',
  'payment providers',
  'who decides on the budget',
  'allergens and labels',
  'backup of the order data',
  'the pilot and its dates',
  'delivery by bicycle',
  'what is out of scope',
]);

async function fitOnce(place: Place, documents: readonly string[], prompt: string) {
  let tokenised = 0;
  const known = new Map<string, number>();
  const count = (text: string): number => {
    const before = known.get(text);
    if (before !== undefined) return before;
    tokenised += text.length;
    const size = counter.count('openai/gpt-5', text);
    known.set(text, size);
    return size;
  };
  const total = documents.reduce((sum, text) => sum + count(text), 0);
  const started = performance.now();
  const embedder = lexicalEmbedder;
  const room = Math.floor(total * WINDOW);
  await fitDocuments({ place, embedder, prompt, documents, room, count });
  return { seconds: (performance.now() - started) / 1000, tokenised };
}

async function measureSize(characters: number): Promise<Measurement[]> {
  const documents = makeDocuments(characters);
  const subject = `${characters.toExponential(0).replace('+', '')} characters`;
  return withStore(async (place) => {
    const cold = await fitOnce(place, documents, FIRST);
    const warm = await fitOnce(place, documents, SECOND);
    const share = warm.tokenised / documents.join('').length;
    return [
      {
        metric: `${CANDIDATES} candidates, embeddings warm`,
        subject,
        value: warm.seconds,
        unit: 's',
      },
      { metric: 'the same, words embedded and stored', subject, value: cold.seconds, unit: 's' },
      { metric: 'characters tokenised for each', subject, value: share, unit: '' },
    ];
  });
}

/** How fast a model embeds what it has not seen. */
async function measureRate(): Promise<Measurement[]> {
  const chunks = makeDocuments(1e5).flatMap((text) => chunkMarkdown(text).map((one) => one.text));
  const rows: Measurement[] = [];
  for (const embedder of new Set([lexicalEmbedder, findEmbedder()])) {
    await embedder.embed(chunks.slice(SAMPLE, SAMPLE + 4));
    const texts = chunks.slice(0, SAMPLE);
    const started = performance.now();
    await embedder.embed(texts);
    const value = texts.join('').length / ((performance.now() - started) / 1000);
    rows.push({ metric: 'embedding, cold', subject: embedder.model, value, unit: 'characters/s' });
  }
  return rows;
}

const benchmark: Benchmark = {
  title: 'Context: fitting 500 candidates into an eighth of their size',
  async run() {
    await measureSize(1e4); // the first store of a process loads PGlite
    const results: Measurement[] = [];
    for (const size of SIZES) results.push(...(await measureSize(size)));
    results.push(...(await measureRate()));
    const warm = results.filter(({ metric }) => metric.endsWith('warm')).map(({ value }) => value);
    const tokenised = results.filter(({ metric }) => metric.startsWith('characters tokenised'));
    const [first = 1, , , last = 1] = tokenised.map(({ value }) => value);
    return {
      results,
      ratios: {
        warm_1e6_vs_1e5: (warm[2] ?? 0) / (warm[1] ?? 1),
        warm_1e7_vs_1e6: (warm[3] ?? 0) / (warm[2] ?? 1),
        tokenised_share_1e7_vs_1e4: last / first,
      },
    };
  },
};

export default benchmark;
