import { describe, expect, test } from 'vitest';
import { processOf, stage, step, withGate } from '../../test/recipes/build.ts';
import { shipped } from '../../test/recipes/shipped.ts';
import { deriveEdges, orderInWaves } from './edges.ts';
import { toMermaid } from './graph.ts';

const process = withGate(shipped('software-plan'), 'synthesis');

describe('edges', () => {
  const [, , synthesis, parenthesis, paralysis] = process.stages;

  test('follow from inputs, also where the reference had none', () => {
    const arrows = deriveEdges(parenthesis!).map((edge) => `${edge.from} → ${edge.to}`);
    expect(arrows).toContain('generate-technical_requirements → generate-master-plan');
    expect(arrows).toContain('generate-master-plan → generate-milestone-schema');
    expect(deriveEdges(paralysis!)).toContainEqual({
      from: 'generate-updated-master-plan',
      to: 'generate-advisor-recommendations',
      required: true,
      allLanes: true,
    });
  });

  test('explicit edges only add', () => {
    const [a, b] = ['a', 'b'].map((key) =>
      step(key, 'EXECUTE', 'all_to_one', key, ['seed:s/'], { after: key === 'b' ? ['a'] : [] }),
    );
    expect(orderInWaves(stage('s', [b!, a!]))).toEqual([['a'], ['b']]);
  });

  test('steps run in waves', () => {
    expect(orderInWaves(synthesis!).map((wave) => wave.length)).toEqual([2, 4, 4, 1, 2, 1]);
  });
});

describe('Mermaid', () => {
  test('has a box for each stage, a node for each step and the gate', () => {
    const text = toMermaid(process);
    expect(text.match(/subgraph/g)).toHaveLength(5);
    expect(text.match(/^ {4}s\d+_\d+[[{]/gm)).toHaveLength(35);
    expect(text).toContain('stage2 ==>|approval| stage3');
    expect(text).toContain('-.->');
  });

  test('names cannot break out of their quotes', () => {
    const odd = processOf('p', [
      { ...stage('s', [step('a', 'EXECUTE', 'all_to_one', 'a', ['seed:s/'])]), name: 'x"]; end' },
    ]);
    expect(toMermaid(odd)).toContain('subgraph stage0["x#34;]; end"]');
  });
});
