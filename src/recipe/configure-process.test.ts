import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { expectedCounts } from '../planning/expected-counts.ts';
import { validateForRun } from '../planning/validate-for-run.ts';
import { configureProcess, type RunSettings } from './configure-process.ts';
import type { Process } from './types.ts';

const SETTINGS: RunSettings = {
  depth: 'standard',
  ask: false,
  result: true,
  shortcuts: true,
  laneCount: 2,
};

/** Ask, propose, merge and rank, then one writes the result. */
function sample(): Process {
  const merge = step('merge', 'EXECUTE', 'all_to_one', 'merged', ['contrib:propose/plan*@all'], {
    alone: 'copy',
  });
  const rank = step('rank', 'EXECUTE', 'all_to_one', 'ballot', ['contrib:merge/merged*@all'], {
    alone: 'skip',
  });
  const result = stage('result', [
    step('write', 'EXECUTE', 'all_to_one', 'page', [
      'doc:merge/merged',
      'doc:ask/questions?',
      'doc:merge/ballot*?@all',
    ]),
  ]);
  const asked = stage('ask', [
    step('ask', 'EXECUTE', 'all_to_one', 'questions', ['seed:ask/', 'doc:result/page?@previous']),
  ]);
  const words = { brief: 100, standard: 200, full: 400 };
  const contracts = Object.fromEntries(
    Object.entries(result.contracts).map(([path, one]) => [path, { ...one, 'x-words': words }]),
  );
  const stages = [
    asked,
    stage('propose', [
      step('propose', 'EXECUTE', 'all_to_one', 'plan', [
        'seed:propose/',
        'doc:result/page?@previous',
      ]),
    ]),
    stage('merge', [merge, rank]),
    { ...result, contracts, lanes: 'chosen' as const },
  ];
  return {
    ...processOf('sample', stages),
    askStage: 'ask',
    resultStage: 'result',
    results: [
      { stage: 'result', documentKey: 'page', folder: null },
      { stage: 'merge', documentKey: 'ballot', folder: null },
    ],
    convergence: {
      candidates: { stage: 'merge', documentKey: 'merged' },
      ballots: { stage: 'merge', documentKey: 'ballot' },
      rankings: 'text',
      option: 'text',
      rank: 'text',
    },
  };
}

const keys = (process: Process): string[] => process.stages.map(({ key }) => key);

describe('a process configured for a run', () => {
  test('asks first only where it is told to, and writes the result unless told not to', () => {
    const configured = configureProcess(sample(), SETTINGS);
    expect(keys(configured)).toEqual(['propose', 'merge', 'result']);
    expect(keys(configureProcess(sample(), { ...SETTINGS, ask: true }))[0]).toBe('ask');
    const plain = configureProcess(sample(), { ...SETTINGS, result: false });
    expect(keys(plain)).toEqual(['propose', 'merge']);
    expect(plain.results.map(({ documentKey }) => documentKey)).toEqual(['ballot']);
  });

  test('lets one lane alone write the result', () => {
    const counts = expectedCounts(configureProcess(sample(), { ...SETTINGS, laneCount: 3 }), 3);
    expect(counts.byStage).toMatchObject({ propose: 3, merge: 6, result: 1 });
  });

  test('copies and skips for a lone participant, but not without shortcuts', () => {
    const alone = configureProcess(sample(), { ...SETTINGS, laneCount: 1 });
    expect(expectedCounts(alone, 1).byStage).toMatchObject({ propose: 1, merge: 0, result: 1 });
    expect(alone.convergence).toBeNull();
    expect(alone.stages.at(-1)!.lanes).toBe('all');
    const full = configureProcess(sample(), { ...SETTINGS, laneCount: 1, shortcuts: false });
    expect(expectedCounts(full, 1).byStage).toMatchObject({ propose: 1, merge: 2, result: 1 });
    expect(validateForRun(alone, 1)).toEqual([]);
  });

  test('asks for the words of its depth', () => {
    const brief = configureProcess(sample(), { ...SETTINGS, depth: 'brief' });
    expect(brief.stages.at(-1)!.contracts['contracts/any.yaml']!['x-words']).toBe(100);
    expect(brief.depth).toBe('brief');
  });
});

test('a depth sets the words of a document, and those and the entries of every place in it', () => {
  const numbers = { brief: 1, standard: 2, full: 3 };
  const process = sample();
  const [path, contract] = Object.entries(process.stages.at(-1)!.contracts)[0]!;
  const place = {
    type: 'array',
    'x-items': numbers,
    items: { type: 'string', 'x-words': numbers },
  };
  const deep = { ...contract, properties: { list: { properties: { place } } } };
  const result = { ...process.stages.at(-1)!, contracts: { [path]: deep } };
  const stages = [...process.stages.slice(0, -1), result];
  const configured = configureProcess({ ...process, stages }, { ...SETTINGS, depth: 'full' });
  expect(configured.stages.at(-1)!.contracts[path]).toMatchObject({
    'x-words': 400,
    properties: {
      list: { properties: { place: { 'x-items': 3, items: { type: 'string', 'x-words': 3 } } } },
    },
  });
});
