import { expect, test } from 'vitest';
import { describeAge } from './describe-age.ts';

test('an age is told in its largest unit', () => {
  const now = new Date('2026-03-08T12:00:00Z');
  const ages = ['12:00:30', '11:59:30', '11:55:00', '09:00:00'].map((time) =>
    describeAge(new Date(`2026-03-08T${time}Z`), now),
  );
  expect(ages).toEqual(['just now', 'just now', '5 min ago', '3 h ago']);
  expect(describeAge(new Date('2026-03-07T12:00:00Z'), now)).toBe('1 day ago');
  expect(describeAge(new Date('2025-03-08T12:00:00Z'), now)).toBe('365 days ago');
});
