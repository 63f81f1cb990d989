import { expect } from 'vitest';
import { type Assembly, assembleRequest } from '../../src/generation/assemble-request.ts';
import {
  auditDocument,
  normaliseCitations,
  settleCitations,
} from '../../src/generation/audit-document.ts';
import { describeDefects } from '../../src/generation/describe-defects.ts';
import type { JobInput } from '../../src/generation/job-input.ts';
import type { JsonRecord } from '../../src/generation/json-reader.ts';
import { FIRST_TURN, judgeAnswer, type Verdict } from '../../src/generation/judge-answer.ts';
import { tryRendering } from '../../src/generation/try-rendering.ts';
import { writeDocument } from '../../src/models/offline/author.ts';
import { PERSONA_NAMES } from '../../src/models/offline/personas.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { describeDocument, requireContract } from '../../src/recipe/contract.ts';
import { activeSteps, isShown } from '../../src/recipe/edges.ts';
import { mergeOverlays } from '../../src/recipe/overlays.ts';
import { renderSeedPrompt } from '../../src/recipe/render-prompt.ts';
import type { Process, Stage, Step } from '../../src/recipe/types.ts';
import { formatFootnotes } from '../../src/sources/footnotes.ts';
import { findMarkers } from '../../src/sources/markers.ts';
import { findProse } from '../../src/sources/prose-spans.ts';
import { SourceSet } from '../../src/sources/source-set.ts';
import { shipped } from '../recipes/shipped.ts';
import { chanceOf, draftOf, type Fact, type FaultClass, factOf, sentencesOf } from './faults.ts';

/** The document of each stage that the run writes, and the section that carries its evidence. */
type Place = { readonly stage: Stage; readonly step: Step; readonly section: string };

const STAGES = 5;
const process = coverAll(shipped('software-plan'));
const places = process.stages.slice(0, STAGES).map(findPlace);

/** Every contract wants all its statements cited, so that a marker that is lost shows. */
function coverAll(shippedProcess: Process): Process {
  const stages = shippedProcess.stages.map((stage) => ({
    ...stage,
    contracts: Object.fromEntries(
      Object.entries(stage.contracts).map(([path, one]) => [path, { ...one, 'x-coverage': 1 }]),
    ),
  }));
  return { ...shippedProcess, stages };
}

/** The first document of a stage that a model writes with a section of prose. */
function findPlace(stage: Stage): Place {
  for (const step of activeSteps(stage)) {
    if (step.compute !== null || step.output.kind !== 'document') continue;
    if (step.output.template === null) continue;
    const { properties } = requireContract(stage, step);
    const cites = describeDocument(stage, step).cites;
    const [section] =
      Object.entries(properties).find(
        ([, node]) => node.type === 'string' && (!cites || node['x-cites'] === true),
      ) ?? [];
    if (section !== undefined) return { stage, step, section };
  }
  throw new Error(`Stage ${stage.key} has no document for the run.`);
}

const facts = {
  userRequest:
    'Plan a shop that sells what people want. It must open soon. Staff must be paid well. ' +
    'Nothing may be thrown away. Customers should be served fast.',
  iteration: 1,
  project: { name: 'Shop', domain: '' },
  resources: {},
  overlay: mergeOverlays({}),
};

/** A document that was accepted, as the next stage reads it. */
type Written = { readonly content: JsonRecord; readonly body: string };

function assemblyOf({ stage, step }: Place, sources: SourceSet, before?: Written): Assembly {
  const input = step.inputs.find((one) => one.type !== 'seed_prompt' && isShown(one));
  const inputs: JobInput[] =
    before && input
      ? [
          {
            name: input.name,
            type: 'document',
            label: 'Proposal A',
            title: 'Proposal',
            stage: input.stage ?? '',
            document_key: input.documentKey ?? '',
            place: 0,
            order: '000/a',
            text: before.body,
            content: before.content,
          },
        ]
      : [];
  return {
    session: { id: 'session', process },
    stage,
    step,
    planned: { stage: stage.key, documentKey: step.output.documentKey } as PlannedJob,
    facts,
    seedPrompt: renderSeedPrompt(process, stage, facts),
    inputs,
    model: 'offline/builder',
    turn: null,
    sources,
  };
}

/** What the handler of a job decides on an answer, with the functions that it decides with. */
function judge(assembly: Assembly, text: string, more: object = {}): Verdict {
  const { stage, step } = assembly;
  return judgeAnswer({
    contract: requireContract(stage, step),
    sections: describeDocument(stage, step).sections.map(({ key }) => key),
    given: [],
    limit: step.continuation,
    countRead: () => 0,
    tryRendering: (content) => tryRendering(assembly, content),
    findDefects: () => [],
    citations: {
      hasSources: true,
      normalise: (content) => normaliseCitations(assembly, content),
      findFaults: (content) => {
        const audit = auditDocument(assembly, content);
        return audit === null ? [] : describeDefects(audit);
      },
      settle: (content) => settleCitations(assembly, content),
    },
    soFar: '',
    result: { text, finishReason: 'stop' },
    state: FIRST_TURN,
    ...more,
  });
}

/** The page of a document, as it is rendered and exported. */
const pageOf = (body: string, sources: SourceSet): string =>
  formatFootnotes(body, sources.find, sources.standing);

/** Every page resolves: no marker is left in its prose. */
function expectResolved(body: string | null, sources: SourceSet): void {
  const page = pageOf(body ?? '', sources);
  expect(findMarkers(page, findProse(page)).filter(({ isPlain }) => isPlain)).toEqual([]);
}

/** An answer with the evidence of a source in its first section of citations. */
function answerOf(
  place: Place,
  assembly: Assembly,
  said: readonly string[],
  at: number,
): JsonRecord {
  const persona = PERSONA_NAMES[at % PERSONA_NAMES.length]!;
  const content = JSON.parse(writeDocument(assembleRequest(assembly), persona)) as JsonRecord;
  return withMore(place, content, said.join(' '));
}

/** The content with more in its section of citations. */
function withMore({ section }: Place, content: JsonRecord, more: string): JsonRecord {
  const before = content[section];
  return { ...content, [section]: typeof before === 'string' ? `${before} ${more}` : more };
}

const map = (content: JsonRecord, change: (text: string) => string): string =>
  change(JSON.stringify(content));

type Subject = {
  readonly place: Place;
  readonly assembly: Assembly;
  readonly content: JsonRecord;
  readonly id: string;
  readonly other: string;
  readonly fact: Fact;
  readonly sources: SourceSet;
};

/** Whether the fault is found; the answer with it where the audit is to find it. */
type Injection = (subject: Subject) => string | boolean;

const INJECT: Readonly<Record<FaultClass, Injection>> = {
  'unknown id': ({ content, id }) => map(content, (text) => text.replace(`[${id}]`, '[S99]')),
  'wrong id': ({ content, id, other, fact }) =>
    map(content, (text) =>
      text.replaceAll(`${fact.statement} [${id}]`, `${fact.statement} [${other}]`),
    ),
  'invented address': ({ place, content }) =>
    JSON.stringify(withMore(place, content, 'See https://example.org/invented/9.')),
  'altered quotation': ({ content, fact }) => {
    const quotation = JSON.stringify(fact.quotation).slice(1, -1);
    const altered = quotation.replace('nobody', 'everybody');
    return map(content, (text) => text.replaceAll(quotation, altered));
  },
  'wrong number': ({ content, fact }) => {
    const [number = ''] = /\d+/.exec(fact.statement) ?? [];
    const other = fact.statement.replace(number, String(Number(number) + 7));
    return map(content, (text) => text.replaceAll(fact.statement, other));
  },
  'dropped marker': ({ content, id, fact }) =>
    map(content, (text) => text.replaceAll(`${fact.statement} [${id}]`, fact.statement)),
  'duplicate source': ({ sources, id }) => {
    const { title, url = '', excerpts } = sources.find(id)!;
    const before = sources.size;
    const again = sources.admit({ title, url: `${url}/?utm_source=feed#top`, excerpts });
    const near = sources.admit({ title, excerpts: [`${excerpts[0]} It was said twice.`] });
    return again.id === id && !again.isNew && sources.size === before + 1 && near.near.length > 0;
  },
  renumbering: ({ content, sources }) =>
    map(content, (text) =>
      text.replace(/\[S(\d+)\]/g, (_, number) => `[S${(Number(number) % sources.size) + 1}]`),
    ),
  'marker in code': ({ content, id, fact }) =>
    map(content, (text) =>
      text.replaceAll(`${fact.statement} [${id}]`, `${fact.statement} \`[${id}]\``),
    ),
  'split marker': ({ assembly, content, id }) => {
    const text = JSON.stringify(content);
    const cut = text.indexOf(`[${id}]`) + 2;
    const first = judge(assembly, text.slice(0, cut), {
      result: { text: text.slice(0, cut), finishReason: 'length' },
    });
    const whole = judge(assembly, '', {
      soFar: text.slice(0, cut),
      result: { text: text.slice(cut), finishReason: 'stop' },
    });
    if (first.kind !== 'continue' || whole.kind !== 'document') return false;
    return JSON.stringify(whole.content) === JSON.stringify(content);
  },
  orphan: ({ assembly, content, id }) => {
    const left = JSON.parse(map(content, (text) => text.replaceAll(`[${id}]`, ''))) as object;
    return auditDocument(assembly, left)?.orphans.includes(id) ?? false;
  },
  'empty registry': ({ place, content }) => {
    const none = assemblyOf(place, new SourceSet());
    return judge(none, JSON.stringify(content)).kind === 'mend';
  },
};

/**
 * One debate through the five stages: each document reads the one before it. In one stage a fault is
 * brought in: it must be found, and its writer, who never mends it, must leave a page that resolves.
 * All other documents must be accepted at once.
 */
export function runWithFault(seed: number, fault: FaultClass): void {
  const chance = chanceOf(seed);
  const known = Array.from({ length: 3 + Math.floor(chance() * 4) }, (_, at) => factOf(at, chance));
  const sources = new SourceSet();
  for (const [at, fact] of known.entries()) sources.admit(draftOf(at, fact));
  const faulty = Math.floor(chance() * STAGES);
  let before: Written | undefined;
  for (const [at, place] of places.entries()) {
    const assembly = assemblyOf(place, sources, before);
    const chosen = Math.floor(chance() * known.length);
    const [id, fact] = [`S${chosen + 1}`, known[chosen]!];
    const content = answerOf(place, assembly, sentencesOf(id, fact), seed + at);
    const verdict = judge(assembly, JSON.stringify(content));
    if (verdict.kind !== 'document') throw new Error(`False alarm: ${JSON.stringify(verdict)}`);
    expectResolved(verdict.body, sources);
    before = { content: verdict.content, body: verdict.body ?? '' };
    if (at !== faulty) continue;
    const other = `S${((chosen + 1) % known.length) + 1}`;
    expectFound(fault, { place, assembly, content, id, other, fact, sources });
  }
}

function expectFound(fault: FaultClass, subject: Subject): void {
  const injected = INJECT[fault](subject);
  if (typeof injected === 'boolean') return expect(injected, fault).toBe(true);
  const { assembly, sources } = subject;
  const asked = judge(assembly, injected);
  expect(asked.kind, `${fault}: ${injected}`).toBe('mend');
  const [once, twice] = [1, 2].map((audits) =>
    judge(assembly, injected, { state: { ...FIRST_TURN, audits } }),
  );
  expect(once?.kind, fault).toBe('mend');
  // The writer does not mend it: the document is kept, and nothing in it pretends to be a citation.
  expect(twice?.kind, fault).toBe('document');
  if (twice?.kind !== 'document') return;
  expectResolved(twice.body, sources);
  expect(auditDocument(assembly, twice.content)?.defects.length, fault).toBeGreaterThan(0);
}
