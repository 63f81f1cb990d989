import { expect, test } from 'vitest';
import { elapsedMs } from '../../platform/clock.ts';
import { writeDocument } from './author.ts';
import { buildRequest, contract, text, texts } from './request.fixture.ts';

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

/** Measured: 190 ms with code and inputs both cold, 30 ms warm. The rest is for busy machines. */
test('a document from 200 KB of inputs does not take for ever', () => {
  const parts = Array.from({ length: 8 }, (_, at) => ({
    key: `plan${at}`,
    label: `Plan ${at}`,
    text: longText(at),
  }));
  const request = buildRequest('synthesis/merged', SCHEMA, { parts });
  const size = request.messages.reduce((sum, message) => sum + message.content.length, 0);
  expect(size).toBeGreaterThan(200_000);
  const start = elapsedMs();
  writeDocument(request, 'skeptic');
  expect(elapsedMs() - start).toBeLessThan(30_000);
});
