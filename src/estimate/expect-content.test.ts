import { describe, expect, test } from 'vitest';
import { shipped } from '../../test/session/trivial.ts';
import { checkContract } from '../generation/check-contract.ts';
import { contractOf } from '../recipe/contract.ts';
import type { Contract, Stage, Step } from '../recipe/types.ts';
import { asAnswer, expectContent } from './expect-content.ts';

const steps = ['software-plan', 'decision-memo'].flatMap((name) =>
  shipped(name).stages.flatMap((stage) =>
    stage.steps.map((step) => ({ name: `${stage.key}/${step.key}`, stage, step })),
  ),
);

const sizeOf = (stage: Stage, step: Step): number => asAnswer(expectContent(stage, step)).length;

describe('a document of the expected size', () => {
  test.each(steps)('keeps the contract of $name', ({ stage, step }) => {
    expect(checkContract(contractOf(stage, step)!, expectContent(stage, step))).toEqual({
      kind: 'valid',
    });
  });

  test.each(steps)('is neither a note nor a book: $name', ({ stage, step }) => {
    expect(sizeOf(stage, step)).toBeGreaterThan(1_000);
    expect(sizeOf(stage, step)).toBeLessThan(45_000);
  });

  test('grows with the sections of its contract, but not as fast', () => {
    const { stage, step } = steps[1]!;
    const sizeWith = (sections: number): number => {
      const properties = Object.fromEntries(
        Array.from({ length: sections }, (_, n) => [`s${n}`, { type: 'string' }]),
      );
      const contract: Contract = { type: 'object', title: 'Sections', properties };
      return sizeOf({ ...stage, contracts: { [step.output.contract]: contract } }, step);
    };
    expect(sizeWith(16)).toBeGreaterThan(1.5 * sizeWith(4));
    expect(sizeWith(16)).toBeLessThan(2.5 * sizeWith(4));
  });

  test('gives a plan one entry for each document that it guides', () => {
    const { stage, step } = steps.find(({ step: one }) => one.jobType === 'PLAN')!;
    const entries = expectContent(stage, step)['context_for_documents'];
    expect((entries as { document_key: string }[]).map((one) => one.document_key)).toEqual([
      'business_case',
      'feature_spec',
      'success_metrics',
      'technical_approach',
    ]);
  });

  test('has as many records as the contract names', () => {
    const place = steps.find(({ name }) => name === 'thesis/thesis_generate_feature_spec')!;
    expect(expectContent(place.stage, place.step)['features']).toHaveLength(8);
  });
});
