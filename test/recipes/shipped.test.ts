import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { expectedCounts } from '../../src/planning/expected-counts.ts';
import { validateForRun } from '../../src/planning/validate-for-run.ts';
import { activeSteps } from '../../src/recipe/edges.ts';
import { parseProcess } from '../../src/recipe/parse.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { checkLoneStage, checkProcess } from '../../src/recipe/validate.ts';
import { readFolder } from './read-folder.ts';
import { debateAlone, shippedWhole } from './shipped.ts';

const root = fileURLToPath(new URL('../../recipes', import.meta.url));
const holding = (file: string): string[] =>
  readdirSync(root).filter((name) => existsSync(join(root, name, file)));
const processes = holding('process.yaml');
const stages = holding('stage.yaml');

test('every folder under recipes/ is a process or a stage', () => {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect([...processes, ...stages].toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
  expect(processes).toEqual(expect.arrayContaining(['decision-memo', 'software-plan']));
  expect(stages).toContain('research');
});

describe('the shipped processes', () => {
  test.each(processes)('%s is valid and runs with one to four participants', (name) => {
    const { issues, value, lines } = checkProcess(readFolder(join(root, name)));
    expect(issues).toEqual([]);
    for (const lanes of [1, 2, 3, 4]) expect(validateForRun(value!, lanes, { lines })).toEqual([]);
    expect(parseProcess(processToFiles(value!)).value).toEqual(value);
  });
});

describe('the shipped stages', () => {
  test.each(stages)('%s is valid', (name) => {
    expect(checkLoneStage(readFolder(join(root, name))).issues).toEqual([]);
  });
});

describe('software-plan', () => {
  test.each([
    [1, 33],
    [2, 104],
    [3, 237],
    [5, 785],
  ])('%i participants make %i calls', (lanes, calls) => {
    const { value } = checkProcess(readFolder(join(root, 'software-plan')));
    const debate = debateAlone(value!);
    const written = debate.stages.flatMap(activeSteps).filter(({ compute }) => compute === null);
    expect(written).toHaveLength(33);
    expect(expectedCounts(debate, lanes).calls).toBe(calls);
  });

  test('hands over what code has printed, of texts that were held against their figures', () => {
    const { stages: all, results, firstPage, replaced } = shippedWhole('software-plan');
    const result = all.find(({ key }) => key === 'result')!;
    const printing = result.steps.filter(({ compute }) => compute === 'print');
    const handed = [...results.filter(({ folder }) => folder !== null), firstPage!];
    expect(new Set(printing.map(({ output }) => output.documentKey))).toEqual(
      new Set(handed.map(({ documentKey }) => documentKey)),
    );
    for (const { inputs, output } of printing) {
      const writer = result.steps.find((one) => one.output.documentKey === inputs[0]!.documentKey)!;
      expect(writer.checks, writer.key).toEqual(
        expect.arrayContaining(['value_unknown', 'range_excludes_sum', 'total_changed']),
      );
      expect(writer.output).toMatchObject({ contract: output.contract });
      expect(replaced).toContainEqual({
        stage: 'result',
        documentKey: writer.output.documentKey,
        by: { stage: 'result', documentKey: output.documentKey },
      });
    }
  });
});
