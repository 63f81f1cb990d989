import { describe, expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { shipped } from '../../test/session/trivial.ts';
import { LEAST } from './field-sizes.ts';
import { findRoom } from './find-room.ts';
import type { Contract, ContractNode, Stage, Step } from './types.ts';
import { checkProcess } from './validate.ts';
import { checkRoom } from './validate-room.ts';

const { lines, value } = checkProcess(documentedExample());
const process = value!;

/** The first step of the documented recipe, with another contract. */
function withContract(contract: Omit<Contract, 'type' | 'title'>): [Stage, Step] {
  const [stage] = process.stages;
  const [step] = stage!.steps;
  const whole: Contract = { type: 'object', title: 'Proposal', ...contract };
  return [{ ...stage!, contracts: { [step!.output.contract]: whole } }, step!];
}

const needed = (
  properties: Contract['properties'],
  required: string[] = Object.keys(properties),
): number =>
  findRoom(...withContract({ 'x-words': 1000, required, properties }), 'standard')!.needed;

const text: ContractNode = { type: 'string' };
const list: ContractNode = { type: 'array', items: text };
const records = (fields: Contract['properties'], items?: number): ContractNode => ({
  type: 'array',
  ...(items === undefined ? {} : { 'x-items': items }),
  items: { type: 'object', required: Object.keys(fields), properties: fields },
});

describe('the words that a contract takes at the least', () => {
  test('are some sentences for a section and one for a point', () => {
    expect(needed({ summary: text })).toBe(4 * LEAST.sentence);
    expect(needed({ points: list })).toBe(3 * LEAST.sentence);
    expect(needed({ points: { ...list, 'x-items': 8 } })).toBe(8 * LEAST.sentence);
  });

  test('grow with the records that are asked for and with their fields', () => {
    const one = needed({ features: records({ behaviour: text }, 1) });
    expect(one).toBe(LEAST.cell);
    expect(needed({ features: records({ behaviour: text }, 12) })).toBe(12 * one);
    expect(needed({ features: records({ behaviour: text, risk: text }, 12) })).toBe(24 * one);
    expect(needed({ features: records({ behaviour: text }) })).toBe(LEAST.records.standard * one);
  });

  test('are two for a name, a figure or a choice, and one for each id of a list', () => {
    const fields = {
      feature_name: text,
      effort_low: { type: 'number' },
      kind: { type: 'string', enum: ['must', 'may'] },
    } as const;
    expect(needed({ features: records(fields, 1) })).toBe(6);
    expect(needed({ features: records({ needs: list }, 1) })).toBe(2);
    expect(needed({ confidence: { type: 'string', enum: ['high', 'low'] } })).toBe(2);
    expect(needed({ name: text })).toBe(4 * LEAST.sentence);
  });

  test('count an optional section and an optional field by the share that writers fill', () => {
    const section = needed({ summary: text }, []);
    expect(section).toBe(Math.round(4 * LEAST.sentence * LEAST.optional[0]));
    const features = records({ behaviour: text }, 100);
    const optional = { ...features, items: { ...features.items, required: [] } };
    expect(needed({ features: optional })).toBe(100 * LEAST.cell * LEAST.optional[1]);
  });

  test('leave out what code fills in and what no reader gets', () => {
    const hidden = { ...list, 'x-shown': false };
    const filled = { ...text, 'x-fill': 'own_model' } as const;
    expect(needed({ hidden, filled })).toBe(0);
  });

  test('are those that the contract says where it says them', () => {
    expect(needed({ summary: { ...text, 'x-words': 34 } })).toBe(34);
    const byDepth = { brief: 10, standard: 20, full: 40 };
    expect(needed({ features: { ...records({ risk: text }), 'x-words': byDepth } })).toBe(20);
  });

  test('grow with the depth', () => {
    const [stage, step] = withContract({
      'x-words': 1000,
      required: ['summary', 'features'],
      properties: { summary: text, features: records({ behaviour: text, points: list }) },
    });
    const [brief, standard, full] = (['brief', 'standard', 'full'] as const).map(
      (depth) => findRoom(stage, step, depth)!.needed,
    );
    expect(brief).toBeLessThan(standard!);
    expect(standard).toBeLessThan(full!);
  });

  test('are not asked of a contract without a number of words', () => {
    const [stage, step] = withContract({ properties: { summary: text } });
    expect(findRoom(stage, step, 'standard')).toBeNull();
  });

  test('are a sentence for some of the sections that the plan of a stage guides', () => {
    const { stages } = shipped('software-plan');
    const [stage] = stages.filter(({ key }) => key === 'thesis');
    const [header] = stage!.steps;
    const { parts } = findRoom(stage!, header!, 'standard')!;
    const guidance = parts.find(({ key }) => key === 'context_for_documents')!;
    expect(guidance.words).toBeGreaterThan(200);
  });

  test('leave out the optional fields of an answer that states only changes', () => {
    const { stages } = shipped('software-plan');
    const [stage] = stages.filter(({ key }) => key === 'paralysis');
    const step = stage!.steps.find((one) => one.extends !== null)!;
    const words = (one: Step): number => findRoom(stage!, one, 'standard')!.needed;
    expect(words(step)).toBeLessThan(words({ ...step, extends: null }));
  });
});

describe('a contract without room', () => {
  const proposal = 'propose/contracts/proposal.yaml';
  const narrowed = (line: string) => {
    const files = new Map(documentedExample());
    files.set(
      proposal,
      files.get(proposal)!.replace('title: Proposal\n', `title: Proposal\n${line}\n`),
    );
    const checked = checkProcess(files);
    expect(checked.issues).toEqual([]);
    return checkRoom(checked.value!, checked.lines);
  };

  test('is named with file, line, depth, words needed and allowed, and what takes most', () => {
    const issues = narrowed('x-words: { brief: 400, standard: 100, full: 2000 }');
    expect(issues).toEqual([
      {
        code: 'no_room',
        file: proposal,
        line: 3,
        field: 'x-words.standard',
        message:
          'the fields take 152 words in full sentences at depth standard and the document has 100; ' +
          'most take options 84, summary 68. Raise x-words to 152 or more, take out fields, or say ' +
          'how many entries of a list are enough (x-items)',
      },
    ]);
  });

  test('is named once where one number holds for all depths', () => {
    expect(narrowed('x-words: 100').map(({ field }) => field)).toEqual(['x-words']);
    expect(narrowed('x-words: 152')).toEqual([]);
  });

  test('still runs: its writers are held to what it asks for', () => {
    expect(checkRoom(process, lines)).toEqual([]);
    const files = new Map(documentedExample());
    files.set(
      proposal,
      files.get(proposal)!.replace('title: Proposal\n', 'title: Proposal\nx-words: 9\n'),
    );
    expect(checkProcess(files).issues).toEqual([]);
  });
});
