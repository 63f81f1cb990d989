import { expect, test } from 'vitest';
import type { Question } from '../session/questions.ts';
import { readForm, writeForm } from './review-form.ts';

const questions = [
  { number: 2, question: 'How many\norders?', assumption: '## Forty.' },
  { number: 5, question: 'Who pays?', assumption: null },
] as unknown as Question[];

test('a form that comes back as it was holds nothing', () => {
  expect(readForm(writeForm('Proposal', questions))).toEqual({ answers: [], feedback: '' });
});

test('what stands under a heading answers it, over several lines', () => {
  const form = writeForm('Proposal', questions)
    .replace('Forty.\n', 'Forty.\nFifty.\n\nAt least.\n')
    .replace('whole\n', 'whole\nToo long.\n');
  expect(readForm(form)).toEqual({
    answers: [{ question: '2', text: 'Fifty.\n\nAt least.' }],
    feedback: 'Too long.',
  });
});
