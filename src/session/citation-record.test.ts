import { expect, test } from 'vitest';
import { type CitationRecord, faultNotice } from './citation-record.ts';

test('a notice tells documents of two passes apart', () => {
  const record = { faults: [] } as unknown as CitationRecord;
  const document = { stage: 'challenge', key: 'challenge', lane: 1 };
  const told = [1, 2].map(
    (iteration) => faultNotice('s', { ...document, iteration }, record).message,
  );
  expect(told).toEqual([
    'challenge/challenge@1 is kept with 0 faults of citation.',
    'challenge/challenge@1 of pass 2 is kept with 0 faults of citation.',
  ]);
});
