import { expect, test } from 'vitest';
import { requireParticipant } from './find-participant.ts';

const participants = ['openai/gpt-5', 'openrouter/meta/llama', 'openai/gpt-5'].map((model, at) => ({
  ordinal: at + 1,
  model,
}));

test.each([
  ['2', 2],
  ['openrouter/meta/llama', 2],
  ['Llama', 2],
  ['3 gpt-5', 3],
  ['1 openai/gpt-5', 1],
])('%s names participant %i', (wanted, ordinal) => {
  expect(requireParticipant(participants, wanted).ordinal).toBe(ordinal);
});

test('what names two participants, or none, is refused with the numbers to choose from', () => {
  expect(() => requireParticipant(participants, 'gpt-5')).toThrow(
    'gpt-5 names 2 participants. Take the number of one:\n  1  openai/gpt-5\n  3  openai/gpt-5',
  );
  expect(() => requireParticipant(participants, '9')).toThrow(
    /^9 takes no part in this run\. The participants are:\n/,
  );
  expect(() => requireParticipant(participants, 'lama')).toThrow(
    /^lama takes no part in this run\. Did you mean llama\? The participants are:\n {2}1 {2}openai/,
  );
});
