import { expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { loadProcess } from '../recipe/validate.ts';
import { renderDocument } from './render-document.ts';

const process = loadProcess(documentedExample());
const [propose, challenge] = process.stages;
const step = propose!.steps[0]!;

test('sections follow the template of the step', () => {
  const text = renderDocument(process, propose!, step, {
    summary: 'Open it.',
    options: [{ name: 'Open', why: 'Demand.' }],
  });
  expect(text).toBe('# Proposal\n\nOpen it.\n\n## Open\n\nDemand.\n');
});

test('nothing is dropped: unforeseen sections and fields come at the end', () => {
  const text = renderDocument(process, propose!, step, {
    summary: ['First.', 'Second.'],
    options: [{ name: 'Open', why: 'Demand.', cost: { capex: 5 } }, 'A plain remark.'],
    surprise: [
      { a: 'x', b: 1 },
      { a: 'y', b: 2 },
    ],
  });
  expect(text).toContain('- First.\n- Second.');
  expect(text).toContain('- Name: Open; Cost: Capex: 5\n- A plain remark.');
  expect(text).toContain('## Surprise\n\n| A | B |\n| --- | --- |\n| x | 1 |\n| y | 2 |');
});

test('absent optional sections print nothing', () => {
  const decide = challenge!.steps[1]!;
  expect(renderDocument(process, challenge!, decide, { decision: 'Go.' })).toBe(
    '# Verdict\n\nGo.\n',
  );
});
