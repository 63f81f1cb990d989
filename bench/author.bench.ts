import { writeDocument } from '../src/models/offline/author.ts';
import { buildRequest, contract, text, texts } from '../src/models/offline/request.fixture.ts';
import type { Benchmark, Measurement } from './frame.ts';

const SECTIONS = ['summary', 'risks', 'architecture', 'next_steps', 'open_questions', 'costs'];
const RECORD = contract({ feature_name: text, objective: text, user_stories: texts });
const SCHEMA = contract({
  ...Object.fromEntries(SECTIONS.map((key) => [key, text])),
  ...Object.fromEntries(SECTIONS.map((key) => [`${key}_list`, texts])),
  features: { type: 'array', items: RECORD, minItems: 6 },
});

/** About 25 KB that no other document has. */
const longText = (seed: number): string =>
  Array.from(
    { length: 25 },
    (_, part) =>
      `## Part ${part}\n\n` +
      Array.from(
        { length: 12 },
        (_, at) => `Member ${seed * 997 + part * 31 + at} must return the tool within ${at} days. `,
      ).join('Wear is noted by the volunteer who takes it back. '),
  ).join('\n\n');

/** Milliseconds for one document from so many inputs that were not read before. */
function timeDocument(inputs: number, first: number): number {
  const parts = Array.from({ length: inputs }, (_, at) => ({
    key: `plan${at}`,
    label: `Plan ${at}`,
    text: longText(first + at),
  }));
  const request = buildRequest('synthesis/merged', SCHEMA, { parts });
  const started = performance.now();
  writeDocument(request, 'skeptic');
  return performance.now() - started;
}

async function run() {
  timeDocument(1, 0);
  const [few, many] = [timeDocument(4, 100), timeDocument(16, 200)];
  const results: Measurement[] = [
    { metric: 'one document from 100 KB of inputs', subject: 'offline', value: few, unit: 'ms' },
    { metric: 'one document from 400 KB of inputs', subject: 'offline', value: many, unit: 'ms' },
  ];
  return { results, ratios: { 'time for four times the inputs': many / few } };
}

export default { title: 'The offline author', run } satisfies Benchmark;
