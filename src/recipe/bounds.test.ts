import { expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { expectContent } from '../estimate/expect-content.ts';
import { writeDocument } from '../models/offline/author.ts';
import { buildRequest, contract, text } from '../models/offline/request.fixture.ts';
import { requireBounded } from './bounds.ts';
import { CONTRACT_SCHEMA, PROCESS_SCHEMA, STAGE_SCHEMA } from './schemas.ts';
import type { Contract, ContractNode, Process } from './types.ts';
import { checkProcess, loadProcess } from './validate.ts';

const CONTRACT = 'propose/contracts/proposal.yaml';
const STAGE = 'propose/stage.yaml';

const edited = (path: string, from: string, to: string): Map<string, string> => {
  const files = documentedExample();
  expect(files.get(path)).toContain(from);
  return files.set(path, files.get(path)!.replace(from, to));
};

const LIMITS = '    prompt: prompts/proposal.md\n';
const withLimit = (limit: string) =>
  edited(STAGE, LIMITS, `${LIMITS}    continuation: { ${limit} }\n`);

test.each([
  ['minItems', edited(CONTRACT, 'minItems: 2', 'minItems: 900000000'), 12],
  [
    'minLength',
    edited(CONTRACT, 'name: { type: string', 'name: { type: string, minLength: 9e8'),
    17,
  ],
  ['x-words', edited(CONTRACT, 'title: Proposal', 'title: Proposal\nx-words: 900000000'), 3],
  ['max_turns', withLimit('max_turns: 900000000'), 11],
  ['max_idle_turns', withLimit('max_idle_turns: 900000000'), 11],
  ['max_chars', withLimit('max_chars: 900000000'), 11],
  ['quorum', edited(STAGE, LIMITS, `${LIMITS}    quorum: 900000000\n`), 11],
])(
  'a recipe whose %s is beyond all use is refused by file, line and field',
  (field, files, line) => {
    const { issues, value } = checkProcess(files);
    expect(value).toBeNull();
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ code: 'field_invalid', line });
    expect(issues[0]!.field).toContain(field);
    expect(issues[0]!.message).toMatch(/must be at most \d+/);
  },
);

test('every number that a recipe may set has an upper bound, or is compared and never counted to', () => {
  const unbounded: string[] = [];
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, maximum } = node as { type?: unknown; maximum?: unknown };
    const isNumber = type === 'integer' || type === 'number';
    if (isNumber && typeof maximum !== 'number') unbounded.push(path);
    for (const [key, child] of Object.entries(node)) visit(child, `${path}/${key}`);
  };
  visit(PROCESS_SCHEMA, 'process');
  visit(STAGE_SCHEMA, 'stage');
  visit(CONTRACT_SCHEMA['$defs']!['node'], 'contract');
  expect(unbounded).toEqual(['contract/properties/minimum', 'contract/properties/maximum']);
});

/** Lists within lists, each of them within its bound. */
const nest = (levels: number, minItems: number): ContractNode =>
  levels === 0
    ? { type: 'string' }
    : {
        type: 'array',
        minItems,
        items: {
          type: 'object',
          required: ['parts'],
          properties: { parts: nest(levels - 1, minItems) },
        },
      };
const nested = (levels: number, minItems: number): Contract => ({
  type: 'object',
  title: 'Nested',
  required: ['parts'],
  properties: { parts: nest(levels, minItems) },
});

test('lists within lists may not multiply to more entries than a document can have', () => {
  const files = documentedExample();
  files.set(CONTRACT, JSON.stringify(nested(4, 100)));
  files.set('propose/templates/proposal.md', '{{ content.parts | markdown }}\n');
  const { issues } = checkProcess(files);
  expect(issues).toHaveLength(1);
  expect(issues[0]).toMatchObject({ code: 'field_invalid', file: CONTRACT, field: 'properties' });
  expect(issues[0]!.message).toContain('100000000');
});

/** A process that was not read from files, as an old store or another program may hold it. */
function withContract(changed: Contract): Process {
  const process = loadProcess(documentedExample());
  const [first, ...rest] = process.stages;
  return {
    ...process,
    stages: [{ ...first!, contracts: { 'contracts/proposal.yaml': changed } }, ...rest],
  };
}

test('a process that was stored without these bounds is refused before anything counts to them', () => {
  expect(() => requireBounded(loadProcess(documentedExample()))).not.toThrow();
  expect(() => requireBounded(withContract(nested(1, 900_000_000)))).toThrow(
    /propose\/contracts\/proposal.yaml.*minItems.*at most 500/,
  );
  expect(() => requireBounded(withContract(nested(4, 100)))).toThrow(/100000000/);
  const process = loadProcess(documentedExample());
  const [stage, ...rest] = process.stages;
  const steps = stage!.steps.map((step) => ({
    ...step,
    continuation: { ...step.continuation, maxTurns: 900_000_000 },
  }));
  expect(() => requireBounded({ ...process, stages: [{ ...stage!, steps }, ...rest] })).toThrow(
    /max_turns.*at most 200/,
  );
});

test('the offline author and the estimate are bounded by themselves', () => {
  for (const bomb of [nested(1, 900_000_000), nested(31, 3), nested(3, 500)]) {
    const stage = withContract(bomb).stages[0]!;
    expect(JSON.stringify(expectContent(stage, stage.steps[0]!)).length).toBeLessThan(10_000_000);
    const request = buildRequest('propose/proposal', bomb);
    expect(writeDocument(request, 'builder').length).toBeLessThan(20_000_000);
  }
  const long = contract({ summary: { ...text, minLength: 900_000_000 } });
  expect(writeDocument(buildRequest('a/b', long), 'builder').length).toBeLessThan(1_000_000);
}, 20_000);
