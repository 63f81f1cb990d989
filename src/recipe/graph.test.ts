import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { fiveStages } from '../../test/recipes/five-stages.ts';
import { deriveEdges, orderInWaves } from './edges.ts';
import { setGate } from './edit.ts';
import { toMermaid } from './graph.ts';
import { toSvg } from './graph-svg.ts';

const process = setGate(fiveStages(), 'synthesis', true);

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
    expect(orderInWaves(synthesis!).map((wave) => wave.length)).toEqual([1, 4, 4, 1, 3]);
  });
});

describe('Mermaid', () => {
  test('has a box for each stage, a node for each step and the gate', () => {
    const text = toMermaid(process);
    expect(text.match(/subgraph/g)).toHaveLength(5);
    expect(text.match(/^ {4}s\d+_\d+[[{]/gm)).toHaveLength(33);
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

describe('SVG', () => {
  test('draws every step once and every edge', () => {
    const svg = toSvg(process);
    const edges = process.stages.flatMap(deriveEdges);
    expect(svg.match(/class="step"/g)).toHaveLength(33);
    expect(svg.match(/class="edge/g)).toHaveLength(edges.length);
    expect(svg.match(/class="gate"/g)).toHaveLength(1);
  });

  test('no two boxes overlap', () => {
    const boxes = [...toSvg(process).matchAll(/class="step" x="([\d.]+)" y="([\d.]+)"/g)].map(
      (match) => [Number(match[1]), Number(match[2])] as const,
    );
    for (const [at, [x, y]] of boxes.entries()) {
      for (const [x2, y2] of boxes.slice(at + 1)) {
        expect(Math.abs(x - x2) >= 220 || Math.abs(y - y2) >= 46).toBe(true);
      }
    }
  });

  test('names are escaped and the process is drawn without outside parts', () => {
    const svg = toSvg({ ...process, name: '<script>&"\u0000' });
    expect(svg).toContain('<title>&lt;script&gt;&amp;&quot;\uFFFD</title>');
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/);
  });
});
