import { expect, test } from 'vitest';
import { createEventSplitter } from './split-events.ts';

const STREAM = [
  ': a comment',
  'data: {"a": 1}',
  '',
  'event: named',
  'id: 7',
  'data:without a blank',
  'data:  two',
  'data',
  'data: of four',
  '',
  'retry: 10',
  'dataset: no data',
  '',
  '',
  'data: [DONE]',
  '',
  'data: cut off',
];
const EVENTS = ['{"a": 1}', 'without a blank\n two\n\nof four', '[DONE]'];

test.each(['\n', '\r\n', '\r'])('events are found however they are cut (%j)', (lineEnd) => {
  const stream = STREAM.join(lineEnd);
  for (let size = 1; size <= stream.length; size++) {
    const split = createEventSplitter();
    const events: string[] = [];
    for (let at = 0; at < stream.length; at += size) {
      events.push(...split(stream.slice(at, at + size)));
    }
    expect(events).toEqual(EVENTS);
  }
});

test('a line that comes in many pieces is put together once', () => {
  const split = createEventSplitter();
  const pieces = ['data: ', ...Array.from({ length: 100_000 }, () => 'x'.repeat(80)), '\n\n'];
  const [event, ...others] = pieces.flatMap((piece) => split(piece));
  expect([event?.length, others]).toEqual([8_000_000, []]);
});
