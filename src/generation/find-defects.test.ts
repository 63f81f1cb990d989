import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Contract, RecordKind } from '../recipe/types.ts';
import type { Assembly } from './assemble-request.ts';
import { findDefects } from './find-defects.ts';
import type { JsonRecord } from './json-reader.ts';

const list = (kind: RecordKind) => ({
  type: 'array' as const,
  'x-records': kind,
  items: { type: 'object' as const },
});
const contract: Contract = {
  type: 'object',
  title: 'Plan',
  properties: { people: list('people'), items: list('work_items') },
};
const plan = (hours: number): JsonRecord => ({
  people: [{ name: 'Bakers', hours_per_week: 4 }],
  items: [{ id: 'W1', title: 'Try', owner: 'Bakers', effort_high: hours, earliest_week: 1 }],
});

/** The plan as the draft had it is among the inputs of the step that corrects it. */
function assemble(draft: JsonRecord, as: 'extends' | 'rewrites'): Assembly {
  const reads = ['doc:result/draft', 'doc:result/draft_work'];
  const base = step('correct', 'EXECUTE', 'all_to_one', 'plan', reads, {
    checks: ['effort_over_limit', 'id_duplicate'],
    [as]: 'draft',
  });
  const corrects = { ...base, output: { ...base.output, template: null } };
  const result = { ...stage('result', [corrects]), contracts: { 'contracts/any.yaml': contract } };
  const inputs = [{ name: 'draft', title: 'Plan', contract, content: draft, text: '' }];
  const process = processOf('sample', [result]);
  const made = { step: corrects, stage: result, inputs, session: { process }, facts: {} };
  return made as unknown as Assembly;
}

test.each(['extends', 'rewrites'] as const)(
  'a plan that %s its draft is added up without it',
  (as) => {
    const assembly = assemble(plan(3), as);
    expect(findDefects(assembly, plan(3), null)).toEqual([]);
    expect(findDefects(assembly, plan(9), null)).toEqual([]);
    const [item] = plan(3)['items'] as JsonRecord[];
    const doubled = { ...plan(3), items: [item!, { ...item, id: 'W2' }] };
    const [defect, ...others] = findDefects(assembly, doubled, null);
    expect(defect).toContain('week 1 asks 6 hours');
    expect(others).toEqual([]);
  },
);

test('what stands in a draft that another step rewrites is not held against this answer', () => {
  const assembly = assemble(plan(3), 'rewrites');
  const [item] = plan(3)['items'] as JsonRecord[];
  const given = { title: 'Work', contract, content: { items: [{ ...item, id: 'W2' }] }, text: '' };
  const inputs = [...assembly.inputs, { ...given, name: 'draft_work' }];
  const asked = { ...assembly, inputs } as unknown as Assembly;
  /** Another step of the stage, which calls the document that it rewrites `old`. */
  const withLater = (document: string): Assembly => {
    const base = step('later', 'EXECUTE', 'all_to_one', 'work', [document], { rewrites: 'old' });
    const later = { ...base, inputs: base.inputs.map((input) => ({ ...input, name: 'old' })) };
    return { ...asked, stage: { ...assembly.stage, steps: [...assembly.stage.steps, later] } };
  };
  const answer = plan(3);
  expect(findDefects(withLater('doc:result/draft_work'), answer, null)).toEqual([]);
  expect(findDefects(withLater('doc:result/draft_work@previous'), answer, null)).toHaveLength(1);
  expect(findDefects(withLater('doc:other/draft_work'), answer, null)).toHaveLength(1);
  expect(findDefects(asked, answer, null)).toHaveLength(1);
});

test('the style of an answer is a defect only where its step asks for it', () => {
  const clipped = Array(20)
    .fill('Full parity with the old spreadsheet by Friday evening.')
    .join(' ');
  const assembly = assemble(plan(3), 'rewrites');
  expect(findDefects(assembly, plan(3), clipped)).toEqual([]);
  const asked = { ...assembly, step: { ...assembly.step, checks: ['poor_style'] } } as Assembly;
  expect(findDefects(asked, plan(3), clipped)).toEqual([expect.stringContaining('have no verb')]);
});
