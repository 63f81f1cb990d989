import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { assembleRequest } from '../src/generation/assemble-request.ts';
import { showSections } from '../src/generation/document-text.ts';
import type { JobInput } from '../src/generation/job-input.ts';
import type { PlannedJob } from '../src/planning/types.ts';
import { activeSteps, isShown } from '../src/recipe/edges.ts';
import { insertStage } from '../src/recipe/edit.ts';
import { parseStage } from '../src/recipe/parse.ts';
import { renderSeedPrompt } from '../src/recipe/render-prompt.ts';
import type { Process, Stage, Step } from '../src/recipe/types.ts';
import { readFolder } from './recipes/read-folder.ts';
import { sampleFacts } from './recipes/sample.ts';
import { shippedWhole } from './recipes/shipped.ts';

const softwarePlan = shippedWhole('software-plan');
const decisionMemo = shippedWhole('decision-memo');
const folder = fileURLToPath(new URL('../recipes/research', import.meta.url));
const research = parseStage(readFolder(folder)).value!;
const withResearch = insertStage(softwarePlan, research, { before: 'thesis' });

const guidanceFor = (documentKey: string): string => `GUIDANCE (${documentKey})`;

/** A plan of the stage that guides every document of it. */
function planOf(stage: Stage): Record<string, unknown> {
  return {
    system_materials: { shared_terms: 'NOTES of the stage' },
    context_for_documents: stage.steps.map(({ output: { documentKey } }) => ({
      document_key: documentKey,
      content_to_include: { purpose: guidanceFor(documentKey) },
    })),
  };
}

function inputsOf(stage: Stage, step: Step): JobInput[] {
  return step.inputs
    .filter((input) => input.type !== 'feedback' && isShown(input))
    .map(({ name, type, stage: from, documentKey }, place) => {
      const content = type === 'header_context' ? planOf(stage) : {};
      const text = type === 'header_context' ? showSections(type, content) : `TEXT ${name}`;
      const about = { title: name, stage: from ?? '', document_key: documentKey ?? '' };
      return { name, type, label: name, ...about, place, order: name, text, content };
    });
}

function requestOf(process: Process, stage: Stage, step: Step) {
  const facts = sampleFacts(process, 1);
  return assembleRequest({
    session: { id: 'session', process },
    stage,
    step,
    planned: { stage: stage.key, documentKey: step.output.documentKey } as PlannedJob,
    facts,
    seedPrompt: renderSeedPrompt(process, stage, facts),
    inputs: inputsOf(stage, step),
    model: 'some/model',
    turn: null,
  });
}

const places = [withResearch, decisionMemo].flatMap((process) =>
  process.stages.flatMap((stage) =>
    activeSteps(stage)
      .filter(({ compute }) => compute === null)
      .map(
        (step) => [`${process.key}/${stage.key}/${step.key}`, { process, stage, step }] as const,
      ),
  ),
);

describe.each(places)('the request of %s', (_, { process, stage, step }) => {
  const { system, messages } = requestOf(process, stage, step);
  const text = [system, ...messages.map(({ content }) => content)].join('\n');
  const times = (part: string): number => text.split(part).length - 1;

  test('gives role, standards and style once', () => {
    const { role = '', standards = [], style = '' } = process.overlay;
    for (const part of [role, ...standards, style]) expect(times(part), part).toBe(1);
  });

  test('holds the guidance for its own document alone, once, and the notes of the plan', () => {
    const isGuided = step.inputs.some((one) => one.type === 'header_context' && isShown(one));
    for (const { output } of stage.steps) {
      const isOwn = isGuided && output.documentKey === step.output.documentKey;
      expect(times(guidanceFor(output.documentKey)), output.documentKey).toBe(isOwn ? 1 : 0);
    }
    expect(times('NOTES of the stage')).toBe(isGuided ? 1 : 0);
  });
});

test.each([softwarePlan, decisionMemo])('all requests of $key begin alike', (process) => {
  const systems = process.stages.flatMap((stage) =>
    activeSteps(stage)
      .filter(({ compute }) => compute === null)
      .map((step) => requestOf(process, stage, step).system),
  );
  expect(new Set(systems).size).toBe(1);
});

test('a request says how many entries a list has at the most and how long a short section is', () => {
  const ask = (stageKey: string, documentKey: string): string => {
    const stage = softwarePlan.stages.find(({ key }) => key === stageKey)!;
    const step = stage.steps.find(({ output }) => output.documentKey === documentKey)!;
    const { system, messages } = requestOf(softwarePlan, stage, step);
    return [system, ...messages.map(({ content }) => content)].join('\n');
  };
  expect(ask('thesis', 'feature_spec')).toContain('- `features` (records, 8 at most): ');
  expect(ask('thesis', 'success_metrics')).toContain('- `ownership` (35 words): ');
  expect(ask('thesis', 'success_metrics')).toContain('sentences of 12 to 22 words on average');
});
