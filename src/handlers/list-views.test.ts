import { describe, expect, test } from 'vitest';
import { sampleFacts } from '../../test/recipes/sample.ts';
import { shippedWhole } from '../../test/recipes/shipped.ts';
import { LEFT_OUT } from '../context/shorten-text.ts';
import { assembleRequest } from '../generation/assemble-request.ts';
import { showSections } from '../generation/document-text.ts';
import { POINTER } from '../generation/guidance.ts';
import type { JobInput } from '../generation/job-input.ts';
import type { ModelRequest } from '../models/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import { stageOf } from '../recipe/edges.ts';
import { renderSeedPrompt } from '../recipe/render-prompt.ts';
import type { Assembled } from './assemble.ts';
import { findDocuments, replaceTexts } from './context-parts.ts';
import { promptOf, taskOf } from './fit.ts';
import { listViews } from './list-views.ts';

const process = shippedWhole('software-plan');
const stage = stageOf(process, 'thesis');
const step = stage.steps.find(({ output }) => output.documentKey === 'business_case')!;
const SAID = 'Say what a loaf costs. Name the oven. ';
const content = {
  system_materials: { shared_terms: 'A loaf is a loaf.' },
  context_for_documents: [
    {
      document_key: 'business_case',
      content_to_include: { executive_summary: SAID.repeat(20), strengths: 'The street.' },
    },
  ],
};
const plan: JobInput = {
  name: 'header_context',
  type: 'header_context',
  label: 'Plan',
  title: 'Plan',
  stage: 'thesis',
  document_key: 'header_context',
  place: 0,
  order: '000/a',
  text: showSections('header_context', content),
  content,
};
const facts = sampleFacts(process, 1);
const assembly = {
  session: { id: 'session', process },
  stage,
  step,
  planned: { stage: 'thesis', documentKey: 'business_case' } as PlannedJob,
  facts,
  seedPrompt: renderSeedPrompt(process, stage, facts),
  inputs: [plan],
  model: 'some/model',
  turn: null,
};
const whole = { ...assembly, request: assembleRequest(assembly) } as unknown as Assembled;
const count = (text: string): number => Math.ceil(text.length / 4);
const textsOf = ({ system, messages }: ModelRequest): string =>
  [system, ...messages.map((one) => one.content)].join('\n');
const measure = { count, countRequest: (request: ModelRequest) => count(textsOf(request)) };
const views = [...listViews(whole, measure, { windowTokens: 3_000, maxOutputTokens: 500 })];
const spare = views.at(-1)!.assembled;
const documentsIn = ({ messages }: ModelRequest): string =>
  messages.find((one) => one.content.startsWith('# Documents'))?.content ?? '';

describe('the guidance for a document', () => {
  test('stands in the task, whole, in every form but the smallest', () => {
    const others = views.filter(({ assembled }) => assembled.form !== 'spare');
    expect(others.length).toBeGreaterThan(1);
    for (const { assembled } of others) {
      expect(assembled.guidance).toBeUndefined();
      expect(promptOf(assembled.request)).toContain(SAID.repeat(20).trim());
      expect(findDocuments(assembled)).toEqual([]);
    }
  });

  test('is a document of its own in the smallest, and the task says where', () => {
    expect(spare.form).toBe('spare');
    expect(promptOf(spare.request)).toContain(`## Guidance\n\n${POINTER}\n`);
    expect(promptOf(spare.request)).not.toContain(SAID);
    expect(documentsIn(spare.request)).toMatch(/<document label="guidance">\n- [^<]*Say what/);
    // What is asked for decides what is said of it, and documents are compared with that.
    expect(spare.portions).not.toContain('strengths');
    expect(documentsIn(spare.request)).not.toContain('The street.');
    expect(taskOf(spare)).toContain(SAID);
  });

  test('is the last document to be shortened, and the task stays as it is', () => {
    const candidates = findDocuments(spare);
    const own = candidates.find(({ label }) => label === 'guidance')!;
    expect(own.relevance).toBeGreaterThan(candidates.find((one) => one !== own)!.relevance!);
    const short = replaceTexts(spare, new Map([[own.id, '- Name the oven.']]));
    expect(documentsIn(short)).toContain('<document label="guidance">\n- Name the oven.\n');
    const none = replaceTexts(spare, new Map(candidates.map(({ id }) => [id, LEFT_OUT])));
    expect(documentsIn(none)).toBe('# Documents\n\n(Left out to fit: 2 documents.)');
    for (const one of [short, none]) expect(promptOf(one)).toBe(promptOf(spare.request));
  });

  test('leaves no line behind where the plan says nothing on it', () => {
    const silent = { ...plan, content: { ...content, context_for_documents: [] } };
    const mute = { ...assembly, inputs: [silent] };
    const alone = { ...mute, request: assembleRequest(mute) } as unknown as Assembled;
    const last = [...listViews(alone, measure, { windowTokens: 3_000, maxOutputTokens: 500 })];
    expect(textsOf(last.at(-1)!.assembled.request)).not.toContain('guidance"');
  });
});
