import { expect, test } from 'vitest';
import { schemaForModel } from './contract.ts';
import { gatherOpenQuestions, questionKey } from './open-questions.ts';

const ask = (content: unknown, contract = {}) => gatherOpenQuestions(content, contract);

test('a section asks where its name or its contract says so', () => {
  const content = { open_questions: ['Who pays?'], gaps: ['Which bank?'], notes: ['Why?'] };
  const contract = { properties: { gaps: { 'x-asks': true } } };
  expect(ask(content, contract).map(({ question }) => question)).toEqual([
    'Who pays?',
    'Which bank?',
  ]);
  expect(ask(content, { properties: { open_questions: { 'x-asks': false } } })).toEqual([]);
});

test('a record gives its question and what is assumed until there is an answer', () => {
  const questions = [{ question: 'Who pays?', why_it_matters: 'Price', assumption: 'The baker.' }];
  const contract = { properties: { questions: { 'x-asks': true } } };
  expect(ask({ questions }, contract)).toEqual([
    { question: 'Who pays?', assumption: 'The baker.', where: [] },
  ]);
});

test.each([
  ['Who pays? Assumption: the baker.', 'Who pays?', 'the baker.'],
  ['Who pays (working assumption: the baker)', 'Who pays', 'the baker'],
  ['Who pays? Until then: nobody.', 'Who pays?', 'nobody.'],
  ['Who pays?\nDefault: the baker', 'Who pays?', 'the baker'],
  ['Who pays\nAssumed: the baker', 'Who pays', 'the baker'],
  ['Who pays? **Assumption:** the baker.', 'Who pays?', 'the baker.'],
  ['Who pays – default: the baker', 'Who pays', 'the baker'],
  ['Which assumption is wrong', 'Which assumption is wrong', null],
  [
    'What should be the default: dark or light?',
    'What should be the default: dark or light?',
    null,
  ],
  ['Name the default: dark or light', 'Name the default: dark or light', null],
  ['What comes first, by default: bread?', 'What comes first, by default: bread?', null],
  ['Is this assumed: tax? Default: yes.', 'Is this assumed: tax?', 'yes.'],
])('of the text %j it tells question and assumption apart', (text, question, assumption) => {
  const [found] = ask({ open_questions: [text] });
  expect(found!.question).toBe(question);
  expect(found!.assumption).toBe(assumption);
});

test.each([
  ['a list', '- Who pays?\n- Who bakes?\n  Assumption: the baker.', 2],
  ['numbers', '### Open\n1. Who pays?\n2. Who bakes?', 2],
  ['paragraphs', 'Who pays\n\nWho bakes', 2],
  ['sentences', 'Who pays? The owner knows. Who bakes? Nobody knows.', 2],
  ['one', 'Who pays?', 1],
  ['none', 'None.', 0],
])('a text that holds %s asks so often', (_title, text, count) => {
  expect(ask({ open_questions: text }).length).toBe(count);
});

test('the same question in other spelling has the same key, another one has not', () => {
  expect(questionKey('Who pays? The owner knows.')).toBe(questionKey('who  pays'));
  expect(questionKey('Who pays?')).not.toBe(questionKey('Who bakes?'));
});

test('the mark of a section that asks never reaches a provider', () => {
  const node = { properties: { gaps: { type: 'array', 'x-asks': true } } };
  expect(schemaForModel(node)).toEqual({ properties: { gaps: { type: 'array' } } });
});
