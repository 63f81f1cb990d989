import { expect, test } from 'vitest';
import { matchOwner, ownerKey, splitOwners } from './owners.ts';

test.each(['bakers', 'the bakers', 'Both bakers', 'The two bakers (Ana, Ben)', 'baker'])(
  'knows the bakers in %j',
  (written) => {
    expect(splitOwners(written).map(ownerKey)).toEqual(['baker']);
  },
);

test.each([
  ['the bakers and the developer', ['the bakers', 'the developer']],
  ['Ana, Ben / Cem', ['Ana', 'Ben', 'Cem']],
  ['developer (with the printer vendor)', ['developer']],
  ['TBD', []],
  ['', []],
] as const)('splits %j', (written, owners) => {
  expect(splitOwners(written)).toEqual(owners);
});

test('takes a longer name for the one known person that it holds, and for nobody if two fit', () => {
  expect(matchOwner('Freelance developer', ['baker', 'developer'])).toBe('developer');
  expect(matchOwner('Outside developer', ['baker', 'developer'])).toBe('outside developer');
  expect(matchOwner('the developer', ['outside developer'])).toBe('outside developer');
  expect(matchOwner('developer', ['lead developer', 'second developer'])).toBe('developer');
  expect(matchOwner('Tax adviser', ['baker', 'developer'])).toBe('tax adviser');
});
