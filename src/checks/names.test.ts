import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bakersPlan, hiringPlan, readSound } from '../../test/checks/sound-plans.ts';
import { checkPlan } from './check-plan.ts';
import { namesIn, printNames } from './names.ts';
import type { Values } from './values.ts';

const { values } = checkPlan(readSound(hiringPlan()));
const print = (text: string, find: Values['find'] = values.find): string => printNames(text, find);

describe('a named value', () => {
  test.each([
    ['It takes [[hours.planned]].', 'It takes 269–372 hours.'],
    ['[[hours.low]] to [[hours.high]] hours', '269 hours to 372 hours'],
    ['$[[cost.total]] in all, [[ cost.month ]] a month', '$2,860 in all, $140 a month'],
    ['Ana has [[hours.ana.week]] a week', 'Ana has 25 hours a week'],
    ['[[hours.the_Ana]]', '117–155 hours'],
    ['on [[date.opening]]', 'on Tuesday, 16 March 2027'],
    ['[[date.week.3]]', 'Monday, 14 December 2026'],
    ['[[share.free]] stays free', '58% stays free'],
    ['[[customers.cover]] firms pay it', '4 firms pay it'],
    ['[[hours.total]]', '(no value: hours.total)'],
    ['[S4] and [[1]](a.md), a[[b', '[S4] and (no value: 1)(a.md), a[[b'],
  ])('%j is printed as %j', (text, printed) => {
    expect(print(text)).toBe(printed);
  });

  test('is printed in the language of the plan', () => {
    const { find } = checkPlan(readSound(bakersPlan())).values;
    expect(print('[[hours.planned]] und [[cost.total]]', find)).toMatch(
      /^85–123,5 Stunden und 9\.840\s€$/,
    );
  });

  test('is printed wherever it stands in a content, and nothing else is changed', () => {
    const leaf = fc.oneof(
      fc.string().filter((text) => !text.includes('[[')),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom(...values.list.map(({ name }) => `see [[${name}]]`)),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__x'), tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(tree, (content) => {
        const printed = printNames(content, values.find);
        const byHand = JSON.stringify(content)?.replaceAll(
          /(?<=see )\[\[([\w.]+)\]\]/g,
          (_all, name: string) => JSON.stringify(values.find(name)?.text).slice(1, -1),
        );
        expect(JSON.stringify(printed)).toBe(byHand);
      }),
    );
  });

  test('is found in a text by the same rule', () => {
    expect(namesIn('[[a]] [b] [[c.d]] [[ e-f ]] [[]] [[g h]]')).toEqual(['a', 'c.d', 'e-f']);
  });
});
