import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFolder } from '../../test/recipes/read-folder.ts';
import { insertStage } from './edit.ts';
import { inputFromFile } from './file-shape.ts';
import { readResourceKinds, requireResources } from './given.ts';
import { processOfStage } from './lone-stage.ts';
import { parseStage } from './parse.ts';
import { RESOURCE_KINDS } from './render-prompt.ts';
import { loadProcess } from './validate.ts';

const place = (name: string): string =>
  fileURLToPath(new URL(`../../recipes/${name}`, import.meta.url));
const read = (name: string) => loadProcess(readFolder(place(name)));
const research = parseStage(readFolder(place('research'))).value!;

describe('the material that a process reads', () => {
  test('is all of it for the shipped processes, through the texts that prompts include', () => {
    for (const name of ['software-plan', 'decision-memo']) {
      expect(readResourceKinds(read(name))).toEqual(RESOURCE_KINDS);
    }
  });

  test('is what its prompts print, or its steps take', () => {
    const alone = processOfStage(research);
    expect(readResourceKinds(alone)).toEqual(['constraint_boundaries', 'reference_documents']);
    expect(() => requireResources(alone, [{ kind: 'success_criteria' }])).toThrow(
      'No prompt of research reads success_criteria; it reads constraint_boundaries,',
    );
    const input = { type: 'project_resource', document_key: 'success_criteria' } as const;
    const [first, ...rest] = research.steps;
    const inputs = [...first!.inputs, inputFromFile(input, 'research')];
    const taking = processOfStage({ ...research, steps: [{ ...first!, inputs }, ...rest] });
    expect(() => requireResources(taking, [{ kind: 'success_criteria' }])).not.toThrow();
    const whole = insertStage(read('software-plan'), research, { before: 'thesis' });
    expect(readResourceKinds(whole)).toEqual(RESOURCE_KINDS);
  });
});

test('every domain of a shipped process has a default process that knows it', () => {
  const defaults = parse(readFileSync(place('domains.yaml'), 'utf8')) as Record<string, string>;
  const processes = ['software-plan', 'decision-memo'].map(read);
  expect(Object.keys(defaults).toSorted()).toEqual(
    processes.flatMap(({ domains }) => Object.keys(domains)).toSorted(),
  );
  for (const [domain, name] of Object.entries(defaults)) {
    expect(processes.find(({ key }) => key === name)?.domains).toHaveProperty(domain);
  }
});
