import { expect, test } from 'vitest';
import { WaitingStatements } from './waiting-statements.ts';

const texts = (waiting: WaitingStatements) =>
  waiting.take().map(({ text, values }) => [text, ...(values ?? [])].flat().join(' '));

test('rows of a turn go by one statement, behind the turns before it and what was given there', () => {
  const waiting = new WaitingStatements();
  // The first job leaves no document, the second no posting, the third both.
  waiting.addRow('lock', [1], 'lock', 'locks');
  waiting.addRow('pay', [1], 'pay', 'money');
  waiting.add('other', [1], undefined);
  waiting.addRow('end', [1], 'end', 'ends');
  waiting.addRow('lock', [2], 'lock', 'locks');
  waiting.addRow('write', [2], 'write', 'documents');
  waiting.add('cite', [2], undefined);
  waiting.addRow('end', [2], 'end', 'ends');
  waiting.addRow('lock', [3], 'lock', 'locks');
  waiting.addRow('write', [3], 'write', 'documents');
  waiting.addRow('pay', [3], 'pay', 'money');
  waiting.addRow('end', [3], 'end', 'ends');
  expect(texts(waiting)).toEqual([
    'lock 1 2 3',
    'write 2 3',
    'cite 2',
    'pay 1 3',
    'other 1',
    'end 1 2 3',
  ]);
  expect(texts(waiting)).toEqual([]);
});

test('rows without a turn go where the last of them was given', () => {
  const waiting = new WaitingStatements();
  waiting.addRow('all', ['a', 1], 'all');
  waiting.add('other', undefined, undefined);
  waiting.addRow('all', ['b', 2], 'all');
  waiting.add('last', undefined, undefined);
  expect(texts(waiting)).toEqual(['other', 'all a b 1 2', 'last']);
});

test('rows as JSON go together in their turn', () => {
  const waiting = new WaitingStatements();
  waiting.addRows('insert', [{ id: 1 }], 'insert', 'children');
  waiting.addRow('end', [1], 'end', 'ends');
  waiting.addRows('insert', [{ id: 2 }, { id: 3 }], 'insert', 'children');
  const sent = waiting.take();
  expect(sent.map(({ text }) => text)).toEqual(['insert', 'end']);
  expect(sent[0]?.values).toEqual([{ rows: [{ id: 1 }, { id: 2 }, { id: 3 }] }]);
});
