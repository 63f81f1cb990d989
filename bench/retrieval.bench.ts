import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chunkMarkdown } from '../src/context/chunk-markdown.ts';
import { type Embedder, likeness } from '../src/context/embedder.ts';
import { lexicalEmbedder } from '../src/context/lexical-embedder.ts';
import { digestOf, readVectors } from '../src/context/memory.ts';
import { findEmbedder } from '../src/context/sentence-embedder.ts';
import { loadTokenCounter } from '../src/models/tokens.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { FACTS, type Fact } from './retrieval/facts.ts';
import { fitDocuments } from './retrieval/fit-documents.ts';
import { type Place, withStore } from './retrieval/store.ts';

const DOCUMENTS = 40;
const WORDS = 3_000;
const WINDOW = 1 / 8;
/** Where the facts stand: strides over documents and paragraphs, and where they begin. */
const PLANTINGS = [
  { stride: 7, step: 13, from: 0 },
  { stride: 11, step: 17, from: 3 },
];

const counter = await loadTokenCounter();
const count = (text: string): number => counter.count('openai/gpt-5', text);

/** A corpus, what the prompt asks for and what it does not. */
type Trial = {
  readonly documents: readonly string[];
  readonly prompt: string;
  readonly asked: readonly Fact[];
  readonly others: readonly Fact[];
};

/** Every planting is tried twice: each half of the facts is asked for once. */
const listTrials = (): Trial[] =>
  PLANTINGS.flatMap((planting) => {
    const documents = plant(planting);
    return [0, 1].map((half) => {
      const asked = FACTS.filter((_, index) => index % 2 === half);
      const points = asked.map(({ topic }) => `- ${topic}`).join('\n');
      const task = 'Write the operations handbook. Answer each question from the documents:';
      const others = FACTS.filter((fact) => !asked.includes(fact));
      return { documents, prompt: `${task}\n\n${points}\n`, asked, others };
    });
  });

/** Real documents of a debate, cut or joined to one length, with the facts spread among them. */
function plant({ stride, step, from }: (typeof PLANTINGS)[number]): string[] {
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
    const parts = documents[(index * stride + from) % DOCUMENTS] ?? [];
    parts.splice((index * step + from) % parts.length, 0, said);
  }
  return documents.map((parts) => parts.join('\n\n'));
}

const roomOf = ({ documents }: Trial): number =>
  Math.floor(documents.reduce((sum, text) => sum + count(text), 0) * WINDOW);

/** Each document's beginning. */
const truncate = ({ documents }: Trial): string[] =>
  documents.map((text) => text.slice(0, text.length * WINDOW));

/** The parts of all documents that are most like the prompt as a whole; they are in the store. */
async function topK(place: Place, embedder: Embedder, trial: Trial): Promise<string[]> {
  const chunks = trial.documents.flatMap((text) => chunkMarkdown(text).map((one) => one.text));
  const [query = new Float32Array()] = await embedder.embed([trial.prompt]);
  const vectors = await place.database.asTenant(place.tenantId, (tx) =>
    readVectors(
      tx,
      embedder.model,
      chunks.map((text) => digestOf(text)),
    ),
  );
  const scoreOf = (text: string): number =>
    likeness(vectors.get(digestOf(text)) ?? new Float32Array(query.length), query);
  const ranked = chunks.map((text) => ({ text, score: scoreOf(text) }));
  let left = roomOf(trial);
  return ranked
    .toSorted((a, b) => b.score - a.score)
    .filter(({ text }) => (left -= count(text)) >= 0)
    .map(({ text }) => text);
}

/** What survives of all trials, in rows of the table. */
class Tally {
  readonly #subject: string;
  #asked = { kept: 0, all: 0 };
  #others = { kept: 0, all: 0 };
  #share: number[] = [];
  readonly lost: string[] = [];

  constructor(subject: string) {
    this.#subject = subject;
  }

  add(trial: Trial, texts: readonly string[]): void {
    const text = texts.join('\n');
    const missing = (facts: readonly Fact[]): Fact[] =>
      facts.filter(({ key }) => !text.includes(key));
    const lost = missing(trial.asked);
    this.lost.push(...lost.map(({ topic }) => topic));
    this.#asked.kept += trial.asked.length - lost.length;
    this.#asked.all += trial.asked.length;
    this.#others.kept += trial.others.length - missing(trial.others).length;
    this.#others.all += trial.others.length;
    this.#share.push(texts.reduce((sum, one) => sum + count(one), 0) / roomOf(trial));
  }

  get survival(): number {
    return this.#asked.kept / this.#asked.all;
  }

  rows(): Measurement[] {
    const subject = this.#subject;
    const percent = ({ kept, all }: { kept: number; all: number }): number => (100 * kept) / all;
    const unit = '%';
    return [
      { metric: 'facts asked for that survive', subject, value: percent(this.#asked), unit },
      { metric: 'facts not asked for that survive', subject, value: percent(this.#others), unit },
      { metric: 'of the room used, at most', subject, value: 100 * Math.max(...this.#share), unit },
    ];
  }
}

async function tryEmbedder(embedder: Embedder, trials: readonly Trial[]) {
  const [plain, fitted] = [`top-k, ${embedder.model}`, `fit, ${embedder.model}`].map(
    (subject) => new Tally(subject),
  ) as [Tally, Tally];
  const seconds: number[] = [];
  await withStore(async (place) => {
    for (const trial of trials) {
      const { documents, prompt } = trial;
      const started = performance.now();
      const room = roomOf(trial);
      fitted.add(trial, await fitDocuments({ place, embedder, prompt, documents, room, count }));
      seconds.push((performance.now() - started) / 1000);
      plain.add(trial, await topK(place, embedder, trial));
    }
  });
  if (fitted.lost.length > 0)
    process.stderr.write(`${embedder.model} lost: ${fitted.lost.join(' ')}\n`);
  const [cold = 0] = seconds;
  const characters = trials[0]?.documents.join('').length ?? 0;
  const subject = embedder.model;
  const rows: Measurement[] = [
    ...plain.rows(),
    ...fitted.rows(),
    { metric: 'first fit, embedding included', subject, value: cold, unit: 's' },
    { metric: 'first fit', subject, value: characters / cold, unit: 'characters/s' },
    { metric: 'the same documents, another prompt', subject, value: seconds[1] ?? 0, unit: 's' },
  ];
  return { rows, survival: fitted.survival };
}

const benchmark: Benchmark = {
  title:
    'Retrieval: facts that survive a window of one eighth (40 documents, 60 facts, 4 × 30 asked for)',
  async run() {
    const trials = listTrials();
    const truncation = new Tally('truncation');
    for (const trial of trials) truncation.add(trial, truncate(trial));
    const results = truncation.rows();
    const ratios: Record<string, number> = { survival_truncation: truncation.survival };
    for (const embedder of new Set([lexicalEmbedder, findEmbedder()])) {
      const { rows, survival } = await tryEmbedder(embedder, trials);
      results.push(...rows);
      ratios[`survival_${embedder.model.split('/')[0]}`] = survival;
    }
    return { results, ratios };
  },
};

export default benchmark;
