import { expect, test } from 'vitest';
import { limitResponse } from './limit-response.ts';

const limits = { bodyBytes: 100, eventBytes: 20, eventLines: 3 };
const read = (text: string, status = 200) =>
  limitResponse(new Response(text, { status }), limits).text();

test('an answer within its limits is read as it is, whatever its line ends are', async () => {
  const events = 'data: one\n\ndata: two\r\n\r\n: three\ndata: four\n\n';
  expect(await read(events)).toBe(events);
});

test.each([
  ['a body', 'data: x\n\n'.repeat(12), 'an answer of more than 100 bytes'],
  ['an event', `data: ${'x'.repeat(20)}`, 'an event of more than 20 bytes'],
  ['the lines of an event', 'a\nb\nc\nd\n', 'an event of more than 3 lines'],
])('%s above its limit ends by name', async (_, text, message) => {
  await expect(read(text)).rejects.toMatchObject({
    code: 'provider_answer_too_large',
    message: expect.stringContaining(message),
  });
});

test('what is said about an error is cut, since its status tells what it is', async () => {
  expect((await read('x'.repeat(200_000), 400)).length).toBe(100_000);
});
