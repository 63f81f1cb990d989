import { describe, expect, test } from 'vitest';
import { shippedWhole } from '../../../test/recipes/shipped.ts';
import { contractOf } from '../../recipe/contract.ts';
import { writeDocument } from './author.ts';
import { BRIEF, buildRequest } from './request.fixture.ts';

const LISTED = `# Lunch orders for a primary school

Our school has 240 pupils and two cooks. About 30 meals a week are thrown away.

- Parents should order until 8 am, on a phone, in German, Turkish or English
- The cooks need one list by 8:15, with allergies marked
- Payment once a month by direct debit

We need:

1. one list for the kitchen
2. a reminder for parents who forget, which comes in the evening before and names the child, so that
   families with several children at the school know whose meal is missing, and so that the
   secretary need not call them one by one in the morning while the cooks wait for the numbers`;
const SHORT = 'Should the library open on Sundays? Two staff, 9,000 euros a year.';

/** Every document of a recipe, written one after the other, each out of the two before it. */
function writeAll(recipe: string, brief: string): string[] {
  const parts: { key: string; label: string; text: string }[] = [];
  return shippedWhole(recipe).stages.flatMap((stage) =>
    stage.steps.flatMap((step) => {
      const contract = contractOf(stage, step);
      if (!contract) return [];
      const { documentKey: key } = step.output;
      const request = buildRequest(`${stage.key}/${key}`, contract, {
        brief,
        parts: parts.slice(-2),
      });
      const text = writeDocument(request, 'builder');
      parts.push({ key, label: key, text });
      return [text];
    }),
  );
}

/** The texts of a document; ids, labels, keys and the choices of a contract have no spaces. */
function readTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, one]) =>
    /(?:^|_)(?:title|name)$/.test(key) ? [] : readTexts(one),
  );
}

describe.each(['decision-memo', 'software-plan'])('the texts for %s', (recipe) => {
  test.each([
    ['of paragraphs', BRIEF],
    ['with lists', LISTED],
    ['of two sentences', SHORT],
  ])('read as plain sentences, with a brief %s', (_kind, brief) => {
    const documents = writeAll(recipe, brief);
    expect(documents.length).toBeGreaterThan(4);
    const texts = documents.flatMap((text) => readTexts(JSON.parse(text)));
    expect(texts.filter((text) => text.trim() === '')).toEqual([]);
    const prose = texts.filter((text) => text.split(' ').length > 3);
    expect(prose.length).toBeGreaterThan(20);
    expect(prose.filter((text) => !/[.?!]$/.test(text))).toEqual([]);
    expect(prose.filter((text) => /Again \(|…|\b(\p{L}+) \1\b/iu.test(text))).toEqual([]);
    expect(prose.filter((text) => /: [^.?!]{1,40}: /.test(text))).toEqual([]);
    expect(prose.filter((text) => /(?:^|[.?!] )\p{Ll}/u.test(text))).toEqual([]);
  });
});
