import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { shipped } from '../../test/recipes/shipped.ts';
import { deriveEdges, type Edge, orderInWaves, withoutImplied } from './edges.ts';
import { setGate } from './edit.ts';
import { toMermaid } from './graph.ts';
import { toSvg } from './graph-svg.ts';
import { estimateWidth, splitText } from './svg-text.ts';

const process = setGate(shipped('software-plan'), 'synthesis', true);

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

describe('edges that follow from others', () => {
  const edge = (short: string, more: Partial<Edge> = {}): Edge => {
    const [from, to] = short.split('→') as [string, string];
    return { from, to, required: true, allLanes: false, ...more };
  };
  const kept = (...edges: Edge[]): string[] =>
    withoutImplied(edges).map(({ from, to }) => `${from}→${to}`);

  test('are left out', () => {
    expect(kept(edge('a→b'), edge('b→c'), edge('a→c'))).toEqual(['a→b', 'b→c']);
  });

  test('stay if they ask for more than the longer way', () => {
    const all = { allLanes: true };
    expect(kept(edge('a→b'), edge('b→c'), edge('a→c', all))).toHaveLength(3);
    expect(kept(edge('a→b'), edge('b→c', all), edge('a→c', all))).toHaveLength(2);
    const optional = { required: false };
    expect(kept(edge('a→b'), edge('b→c', optional), edge('a→c'))).toHaveLength(3);
    expect(kept(edge('a→b'), edge('b→c'), edge('a→c', optional))).toHaveLength(2);
  });

  test('leave every step before the same steps as all edges do', () => {
    const names = 'abcdefg';
    const pair = fc.tuple(fc.nat(6), fc.nat(6)).filter(([from, to]) => from < to);
    fc.assert(
      fc.property(fc.uniqueArray(pair, { selector: String }), (pairs) => {
        const edges = pairs.map(([from, to]) => edge(`${names[from]}→${names[to]}`));
        expect(reachable(withoutImplied(edges))).toEqual(reachable(edges));
      }),
    );
  });
});

function reachable(edges: readonly Edge[]): string[] {
  const pairs = new Set(edges.map(({ from, to }) => `${from}${to}`));
  for (const middle of 'abcdefg') {
    for (const from of 'abcdefg') {
      for (const to of 'abcdefg') {
        if (pairs.has(from + middle) && pairs.has(middle + to)) pairs.add(from + to);
      }
    }
  }
  return [...pairs].toSorted();
}

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

describe('SVG', () => {
  const svg = toSvg(process);
  const boxes = [
    ...svg.matchAll(/class="step" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g),
  ].map((match) => match.slice(1).map(Number) as [number, number, number, number]);

  test('draws every step once and every edge that does not follow from others', () => {
    const edges = process.stages.flatMap((one) => withoutImplied(deriveEdges(one)));
    expect(boxes).toHaveLength(35);
    expect(svg.match(/class="edge"/g)).toHaveLength(edges.length);
    expect(svg.match(/class="gate"/g)).toHaveLength(1);
  });

  test('no two boxes overlap, and none leaves the picture', () => {
    const [width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!.slice(1).map(Number);
    for (const [at, [x, y, w, h]] of boxes.entries()) {
      expect(x + w < width! && y + h < height!).toBe(true);
      for (const [x2, y2] of boxes.slice(at + 1)) {
        expect(Math.abs(x - x2) >= w || Math.abs(y - y2) >= h).toBe(true);
      }
    }
  });

  test('long names are broken into two lines, longer ones cut', () => {
    expect(splitText('Write it', 13, 100)).toEqual(['Write it']);
    expect(splitText('Write the business case', 13, 100)).toEqual(['Write the', 'business case']);
    expect(splitText('W'.repeat(40), 13, 100)).toEqual([expect.stringMatching(/^W{10,12}…$/)]);
    expect(splitText('計画を立てる計画を立てる', 13, 100)[0]!.length).toBeLessThan(8);
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 10, max: 300 }), (text, room) => {
        for (const line of splitText(text, 13, room)) {
          expect(estimateWidth(line, 13)).toBeLessThanOrEqual(room);
        }
      }),
    );
  });

  test('needs no style element, which a strict content policy refuses', () => {
    expect(svg).not.toMatch(/<style|style=/);
  });

  test('names are escaped and the process is drawn without outside parts', () => {
    const odd = toSvg({ ...process, name: '<script>&"\u0000' });
    expect(odd).toContain('<title>&lt;script&gt;&amp;&quot;\uFFFD</title>');
    expect(odd.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/);
  });
});
