import { expect, test } from 'vitest';
import { cleanJson, cleanText, createTextCleaner } from './clean-text.ts';

test('what a database refuses or a terminal obeys is removed; tabs and lines stay', () => {
  expect(cleanText('a\0b\x1b[2Jc\x9bd\x7fe\tf\r\ng')).toBe('ab[2Jcde\tf\r\ng');
  expect(cleanText('x\ud800y \u{1F600}')).toBe('x\ufffdy \u{1F600}');
});

test('a surrogate pair that is split between two pieces stays whole, half of one does not', () => {
  const cleaner = createTextCleaner();
  expect(cleaner.push('a\ud83d')).toBe('a');
  expect(cleaner.push('\ude00b\0')).toBe('\u{1F600}b');
  expect(cleaner.push('\ud83d')).toBe('');
  expect(cleaner.push('c')).toBe('\ufffdc');
  expect(cleaner.push('\ud83d')).toBe('');
  expect(cleaner.flush()).toBe('\ufffd');
  expect(cleaner.flush()).toBe('');
});

test('every text of a value is cleaned, and numbers that JSON has no word for are null', () => {
  expect(cleanJson({ a: ['\0x'], b: { c: '\udc00', d: Number.POSITIVE_INFINITY } })).toEqual({
    a: ['x'],
    b: { c: '\ufffd', d: null },
  });
  expect(cleanJson(undefined)).toBeNull();
});
