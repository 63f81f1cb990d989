import { describe, expect, test } from 'vitest';
import { type NextTurn, turnMessages } from './turn-messages.ts';

const PLACE = { stage: 'draft', documentKey: 'first' };
const CHUNKS = ['{"text": "one ', 'two three ', 'four'];
const messagesOf = (turn: NextTurn | null) => turnMessages('Write it.', turn, PLACE);
const continued = (...written: readonly string[]) => messagesOf({ kind: 'continue', written });

describe('a continuation', () => {
  test('is a conversation: each chunk an answer, and behind it the request to go on', () => {
    const messages = continued(...CHUNKS);
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      ...CHUNKS.flatMap(() => ['assistant', 'user']),
    ]);
    const answers = messages.filter(({ role }) => role === 'assistant');
    expect(answers.map(({ content }) => content)).toEqual(CHUNKS);
  });

  test('quotes behind each chunk the last characters up to there', () => {
    const asked = continued(...CHUNKS).filter(({ role }) => role === 'user');
    for (const [index, { content }] of asked.slice(1).entries()) {
      const soFar = CHUNKS.slice(0, index + 1).join('');
      expect(content).toContain(`last characters are:\n${soFar}\n\nDeliverable: draft/first`);
    }
    const long = continued('x'.repeat(500), 'y'.repeat(500)).at(-1)!.content;
    expect(long).toContain(`:\n${'y'.repeat(120)}\n\n`);
  });

  test('begins with the bytes of the turn before, from the first turn on', () => {
    const turns = [messagesOf(null), ...CHUNKS.map((_, n) => continued(...CHUNKS.slice(0, n + 1)))];
    for (const [index, turn] of turns.slice(1).entries()) {
      expect(turn.slice(0, -2)).toEqual(turns[index]);
    }
  });

  test('does not show a chunk that added nothing', () => {
    expect(continued('{"a": 1', '', '}')).toEqual(continued('{"a": 1', '}'));
  });

  test('has no message of white space: it goes to the next chunk', () => {
    expect(continued('{"a":', ' \n', '1', '\n')).toEqual(continued('{"a":', ' \n1'));
    expect(continued('\n', '{"a":')).toEqual(continued('\n{"a":'));
  });

  test('quotes no half of a surrogate pair', () => {
    const cut = `{"text": "${'x'.repeat(50)}🍞${'y'.repeat(119)}`;
    expect(continued(cut).at(-1)!.content.isWellFormed()).toBe(true);
  });
});

describe('a request to write anew', () => {
  const problems = '- `text` is empty';

  test('follows the conversation that it is about, which stays as it was', () => {
    const messages = messagesOf({ kind: 'repair', written: CHUNKS, problems });
    expect(messages.slice(0, -1)).toEqual(continued(...CHUNKS).slice(0, -1));
    expect(messages.at(-1)!.content).toMatch(/^This answer cannot be used:\n- `text` is empty\n/);
    expect(messages.at(-1)!.content).toMatch(/Deliverable: draft\/first$/);
  });

  test('after an empty answer holds no empty turn', () => {
    const messages = messagesOf({ kind: 'repair', written: [' '], problems });
    expect(messages.map(({ role }) => role)).toEqual(['user']);
    expect(messages[0]!.content).toContain('Your last answer cannot be used:\n- `text` is empty');
  });
});

test('a shortened chunk is shown as it is left, while the tails quote what was written', () => {
  const shown = CHUNKS.with(1, '(shortened)');
  const messages = messagesOf({ kind: 'continue', written: CHUNKS, shown });
  const contents = messages.map(({ content }) => content);
  expect(contents[3]).toBe('(shortened)');
  expect(contents[4]).toContain('one two three ');
  expect(contents.at(-1)).toContain('two three four');
  expect(contents.slice(4).join('')).not.toContain('(shortened)');
});

test('a part of a document asks for its keys alone, and for single entries of a plan', () => {
  const only = ['notes', 'context_for_documents#case', 'context_for_documents#spec'];
  const [first, ...rest] = messagesOf({ kind: 'part', written: [], only });
  expect(rest).toEqual([]);
  expect(first?.content).toContain(
    'with these keys alone: notes, context_for_documents. In `context_for_documents`, write the entries for case, spec alone.',
  );
});

test('a piece of a section, or of an entry, is asked for by its key', () => {
  const only = ['notes#scope', 'notes#risks', 'context_for_documents#case#summary'];
  const [first] = messagesOf({ kind: 'part', written: [], only });
  expect(first?.content).toContain(
    'with these keys alone: notes, context_for_documents. In `notes`, write scope, risks alone. ' +
      'In `context_for_documents`, write the entries for case alone. ' +
      'In that for case, write summary alone.',
  );
});

test('an answer too long for the window goes on from its end and the list of what is whole', () => {
  const written = ['a'.repeat(3_000), 'the end'];
  const turn: NextTurn = { kind: 'continue', written, complete: ['scope', 'risks'] };
  const [asked, so, further] = messagesOf(turn);
  expect(asked?.content).toContain('Whole already: scope, risks;');
  expect(so).toEqual({ role: 'assistant', content: written.join('').slice(-1_600) });
  expect(further?.content).toContain('Go on from exactly where it stopped');
  expect(further?.content).toContain('the end');
});

test('in the smallest windows it is told what is whole, and nothing where nothing is', () => {
  const turn: NextTurn = { kind: 'continue', written: ['a'.repeat(900)], isTerse: true };
  const told = (complete: readonly string[]) => messagesOf({ ...turn, complete })[0]?.content;
  expect(told(['scope'])).toContain('Whole already: scope; no other section is finished.');
  expect(told([])).toContain('a part of this JSON object. Only the end of what you wrote');
  expect(messagesOf({ ...turn, complete: [] })[1]?.content).toHaveLength(200);
});
