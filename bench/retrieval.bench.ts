import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Chunk, chunkMarkdown } from '../src/context/chunk-markdown.ts';
import { type Embedder, likeness } from '../src/context/embedder.ts';
import { fitParts } from '../src/context/fit-parts.ts';
import { lexicalEmbedder } from '../src/context/lexical-embedder.ts';
import { dealRoom, type Embedded, scoreChunks, valueOf } from '../src/context/rank-chunks.ts';
import { findEmbedder } from '../src/context/sentence-embedder.ts';
import { questionsOf, shortenText } from '../src/context/shorten-text.ts';
import { loadTokenCounter } from '../src/models/tokens.ts';
import type { BenchResult, Measurement } from './frame.ts';
import { FACTS, type Fact } from './retrieval/facts.ts';

const DOCUMENTS = 40;
const WORDS = 3_000;
const WINDOW = 1 / 8;

const counter = await loadTokenCounter();
const count = (text: string): number => counter.count('openai/gpt-5', text);

/** Real documents of a debate, cut or joined to one length, with the facts spread among them. */
function plant(): string[] {
  const folder = fileURLToPath(new URL('../examples/bakery-plan', import.meta.url));
  const paragraphs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/_work|recipe|prompt/.test(path))
    .toSorted()
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').split(/\n{2,}/));
  const documents = Array.from({ length: DOCUMENTS }, () => [] as string[]);
  let at = 0;
  for (const parts of documents) {
    for (let words = 0; words < WORDS; at++) {
      const part = paragraphs[at % paragraphs.length] ?? '';
      words += part.split(/\s+/).length;
      parts.push(part);
    }
  }
  for (const [index, { said }] of FACTS.entries()) {
    const parts = documents[(index * 7) % DOCUMENTS] ?? [];
    parts.splice((index * 13) % parts.length, 0, said);
  }
  return documents.map((parts) => parts.join('\n\n'));
}

const survive = (texts: readonly string[], facts: readonly Fact[]): number => {
  const all = texts.join('\n');
  return facts.filter(({ key }) => all.includes(key)).length / facts.length;
};

/** Each document's beginning. */
const truncate = (documents: readonly string[]): string[] =>
  documents.map((text) => text.slice(0, text.length * WINDOW));

const embedAll = async (embedder: Embedder, texts: readonly string[]) => {
  const vectors = await embedder.embed(texts);
  return texts.map((text, at) => ({ text, vector: vectors[at] ?? new Float32Array() }));
};

/** The parts of all documents that are most like the prompt as a whole. */
async function topK(embedder: Embedder, parts: readonly Embedded[], prompt: string, room: number) {
  const [query] = await embedAll(embedder, [prompt]);
  const ranked = parts
    .map((part) => ({ ...part, score: likeness(part.vector, query?.vector ?? part.vector) }))
    .toSorted((a, b) => b.score - a.score);
  let left = room;
  return ranked.filter(({ text }) => (left -= count(text)) >= 0).map(({ text }) => text);
}

/** What a run does: the least valuable document first, each by retrieval over itself. */
async function fit(
  chunked: readonly (readonly (Chunk & Embedded)[])[],
  questions: readonly Embedded[],
  room: number,
) {
  const scores = scoreChunks(chunked.flat(), questions);
  let from = 0;
  const documents = chunked.map((chunks) => ({
    chunks,
    text: chunks.map(({ text }) => text).join(''),
    scores: scores.slice(from, (from += chunks.length)),
  }));
  const texts = new Map(documents.map(({ text }, at) => [String(at), text]));
  const dealt = dealRoom(
    documents.map(({ chunks, scores: own }) => ({
      sizes: chunks.map(({ text }) => count(text) + 12),
      scores: own,
    })),
    room * 0.97,
  );
  const parts = documents.map(({ text, scores: own }, at) => ({
    wanted: dealt[at]!,
    id: String(at),
    tokens: count(text),
    value: valueOf(own),
  }));
  await fitParts({
    parts,
    total: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    room,
    shorten: ({ id }, most) => {
      const { chunks, scores: own } = documents[Number(id)]!;
      const text = shortenText({ chunks, scores: own, most, count });
      texts.set(id, text);
      return Promise.resolve(count(text));
    },
  });
  return [...texts.values()];
}

async function run(): Promise<BenchResult> {
  const documents = plant();
  const total = documents.reduce((sum, text) => sum + count(text), 0);
  const room = Math.floor(total * WINDOW);
  const asked = FACTS.filter((_, index) => index % 2 === 0);
  const prompt = `Write the operations handbook. Answer each question from the documents:\n\n${asked.map(({ topic }) => `- ${topic}`).join('\n')}\n`;
  const results: Measurement[] = [];
  const add = (subject: string, texts: readonly string[]) => {
    results.push({
      metric: 'facts asked for that survive',
      subject,
      value: 100 * survive(texts, asked),
      unit: '%',
    });
    results.push({
      metric: 'facts not asked for that survive',
      subject,
      value:
        100 *
        survive(
          texts,
          FACTS.filter((fact) => !asked.includes(fact)),
        ),
      unit: '%',
    });
    results.push({
      metric: 'tokens',
      subject,
      value: texts.reduce((sum, text) => sum + count(text), 0),
      unit: '',
    });
  };
  add('truncation', truncate(documents));
  const embedders = new Set([lexicalEmbedder, findEmbedder()]);
  const ratios: Record<string, number> = {};
  for (const embedder of embedders) {
    const started = performance.now();
    const chunked: (Chunk & Embedded)[][] = [];
    for (const text of documents) {
      const chunks = chunkMarkdown(text);
      const vectors = await embedder.embed(chunks.map((chunk) => chunk.text));
      chunked.push(chunks.map((chunk, at) => ({ ...chunk, vector: vectors[at]! })));
    }
    const cold = performance.now() - started;
    const questions = await embedAll(embedder, questionsOf(prompt));
    add(`top-k, ${embedder.model}`, await topK(embedder, chunked.flat(), prompt, room));
    const warm = performance.now();
    const texts = await fit(chunked, questions, room);
    add(`fit, ${embedder.model}`, texts);
    results.push({
      metric: 'embedding, cold',
      subject: embedder.model,
      value: cold / 1000,
      unit: 's',
    });
    results.push({
      metric: 'fitting, warm',
      subject: embedder.model,
      value: (performance.now() - warm) / 1000,
      unit: 's',
    });
    ratios[`survival_${embedder.model.split('/')[0]}`] = survive(texts, asked);
  }
  ratios['survival_truncation'] = survive(truncate(documents), asked);
  return { results, ratios };
}

export default {
  title: 'Facts that survive a window of one eighth (40 documents, 60 facts, 30 asked for)',
  run,
};
