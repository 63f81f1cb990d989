import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readFolder } from '../../test/recipes/read-folder.ts';
import { findBallotStep, rivalsInput } from './ballot.ts';
import { processToFiles } from './serialise.ts';
import { checkProcess, loadProcess } from './validate.ts';

const folder = (name: string) =>
  new Map(readFolder(fileURLToPath(new URL(`../../recipes/${name}`, import.meta.url))));
const STAGES: Readonly<Record<string, string>> = {
  'decision-memo': 'decide/stage.yaml',
  'software-plan': 'paralysis/stage.yaml',
};
const RIVALS =
  '{ type: document, document_key: decision, scope: all, multiple: true, relevance: 1.0 }';

function issuesOf(name: string, from: string, to: string): string[] {
  const files = folder(name);
  const text = files.get(STAGES[name]!)!;
  const at = text.lastIndexOf(from);
  expect(at).toBeGreaterThan(0);
  files.set(STAGES[name]!, text.slice(0, at) + to + text.slice(at + from.length));
  return checkProcess(files).issues.map(({ code, field }) => `${code} ${field}`);
}

describe.each(Object.keys(STAGES))('the ballot of %s', (name) => {
  const process = loadProcess(folder(name));

  test('shows the rivals of all lanes', () => {
    const step = findBallotStep(process)!;
    expect(rivalsInput(process, step)!.documentKey).toBe(
      process.convergence!.candidates.documentKey,
    );
    const others = process.stages.flatMap((stage) => stage.steps).filter((one) => one !== step);
    expect(others.filter((one) => rivalsInput(process, one) !== undefined)).toEqual([]);
  });

  test('keeps its settings when it is written to files and read again', () => {
    const convergence = { ...process.convergence!, ownVotes: 'ignore' as const };
    const changed = { ...process, convergence };
    expect(loadProcess(processToFiles(changed))).toEqual(changed);
  });
});

describe('a ballot that is not blind is refused', () => {
  test.each([
    [
      'a document of the own lane',
      `${RIVALS}\n      - { type: document, stage: propose, document_key: proposal }`,
    ],
    [
      'its own earlier ballot',
      `${RIVALS}\n      - { type: document, document_key: ballot, iteration: previous, required: false }`,
    ],
    [
      'feedback on its own decision',
      `${RIVALS}\n      - { type: feedback, document_key: decision, iteration: previous, required: false }`,
    ],
  ])('where it shows %s', (_, inputs) => {
    expect(issuesOf('decision-memo', RIVALS, inputs)).toContain(
      'ballot_not_blind steps[1].inputs[1]',
    );
  });

  test('where it shows the frame of the own lane, or only its own branch', () => {
    expect(issuesOf('software-plan', 'relevance: 0.7, shown: false', 'relevance: 0.7')).toContain(
      'ballot_not_blind steps[3].inputs[0]',
    );
    const found = issuesOf(
      'software-plan',
      '        join: all\n        multiple: true\n',
      '        multiple: true\n',
    );
    expect(found).toEqual(
      expect.arrayContaining([
        'ballot_not_blind steps[3].inputs',
        'ballot_not_blind steps[3].inputs[1]',
      ]),
    );
  });

  test('and so is one that shows no rivals, or not all of them', () => {
    const own = '{ type: document, document_key: decision }';
    expect(issuesOf('decision-memo', RIVALS, own)).toEqual([
      'ballot_not_blind steps[1].inputs',
      'ballot_not_blind steps[1].inputs[0]',
    ]);
    const hidden = RIVALS.replace('relevance: 1.0', 'shown: false');
    expect(issuesOf('decision-memo', RIVALS, hidden)).toContain('ballot_not_blind steps[1].inputs');
  });

  test('what belongs to no lane may be shown', () => {
    const more = `${RIVALS}\n      - { type: project_resource, required: false }\n      - { type: feedback, stage: challenge, required: false }`;
    expect(issuesOf('decision-memo', RIVALS, more)).toEqual([]);
  });
});

test('a prompt cannot speak of an input that is not shown', () => {
  const files = folder('software-plan');
  const path = 'paralysis/prompts/advisor_recommendations.md';
  files.set(
    path,
    `${files.get(path)}\n{{ inputs.product_requirements[0].label }}{{ header.guidance }}`,
  );
  const { issues } = checkProcess(files);
  expect(issues.map(({ code }) => code)).toEqual([
    'prompt_variable_unknown',
    'prompt_variable_unknown',
  ]);
});
