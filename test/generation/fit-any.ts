import fc from 'fast-check';
import { expect } from 'vitest';
import type { Embedder } from '../../src/context/embedder.ts';
import { roomForRequest, SPARE_ANSWER_SHARES } from '../../src/context/room.ts';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { type Assembly, assembleRequest } from '../../src/generation/assemble-request.ts';
import type { JobInput } from '../../src/generation/job-input.ts';
import type { NextTurn } from '../../src/generation/turn-messages.ts';
import type { Assembled } from '../../src/handlers/assemble.ts';
import { fit } from '../../src/handlers/fit.ts';
import { loadMeasure } from '../../src/handlers/measure-request.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import type { ModelProvider } from '../../src/models/types.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { newId } from '../../src/platform/ids.ts';
import { mergeOverlays } from '../../src/recipe/overlays.ts';
import { renderSeedPrompt } from '../../src/recipe/render-prompt.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newProject } from '../stores.ts';

const MODEL = 'lab/any';
const SEED = 'prompts/seed.md';
const base = stage('draft', [step('one', 'EXECUTE', 'all_to_one', 'first', ['seed:draft/'])]);
const drafting = {
  ...base,
  seedPrompt: SEED,
  files: {
    ...base.files,
    [SEED]: 'A brief is a brief.\n\n{{ user_request }}\n\nFor {{ project.name }}.',
    'prompts/any.md': 'Write {{ step.name }}. Which oven is dear? What does the permit cost?',
  },
};
const process = processOf('drafts', [drafting]);

const words = 'oven dough price permit loaf tax, mill courier salt; rye noise lease'.split(' ');
const sentence = fc
  .array(fc.constantFrom(...words), { minLength: 3, maxLength: 12 })
  .map((all) => `The ${all.join(' ')}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 8 }).map((all) => all.join(' '));
const text = fc
  .array(
    fc.oneof(
      paragraph,
      fc.lorem({ maxCount: 3 }).map((title) => `## ${title}`),
      fc.string(),
    ),
    {
      minLength: 1,
      maxLength: 14,
    },
  )
  .map((all) => all.join('\n\n'));

/** A request of any documents, feedback and turns, in a window of any size. */
const prompts = fc.record({
  brief: paragraph,
  documents: fc.array(text, { maxLength: 5 }),
  feedback: fc.option(paragraph, { nil: null }),
  written: fc.array(
    fc.array(paragraph, { minLength: 1, maxLength: 4 }).map((all) => all.join(' ')),
    { maxLength: 6 },
  ),
  kind: fc.constantFrom('continue', 'repair', null),
  windowTokens: fc.integer({ min: 300, max: 4_000 }),
});

/** What a request is made of. */
export type Prompt = typeof prompts extends fc.Arbitrary<infer T> ? T : never;

const inputOf = (over: Partial<JobInput>): JobInput => ({
  name: 'x',
  type: 'document',
  label: 'Case',
  title: 'Case',
  stage: 'thesis',
  document_key: 'case',
  place: 1,
  order: '000/a',
  text: '',
  content: {},
  ...over,
});

/** A request of one step, as a job would have assembled it. */
export function toAssembly(prompt: Prompt, projectId: string): Assembled {
  const { brief, documents, feedback, written, kind } = prompt;
  const facts = {
    userRequest: brief,
    iteration: 1,
    project: { name: 'Bakery', domain: '' },
    resources: {},
    overlay: mergeOverlays({}),
  };
  const turn: NextTurn | null =
    kind === null || written.length === 0
      ? null
      : kind === 'continue'
        ? { kind, written }
        : { kind, written, problems: 'It lacks a price.' };
  const inputs = documents.map((one, at) =>
    inputOf({ text: one, label: `Case ${at}`, order: `00${at}/a` }),
  );
  const said =
    feedback === null
      ? []
      : [inputOf({ type: 'feedback', label: 'Said', text: feedback, order: '009/f' })];
  const assembly: Assembly = {
    session: { id: newId(), process },
    stage: drafting,
    step: drafting.steps[0]!,
    planned: { stage: 'draft', documentKey: 'first' } as PlannedJob,
    facts,
    seedPrompt: renderSeedPrompt(process, drafting, facts),
    inputs: [...inputs, ...said],
    model: MODEL,
    turn,
  };
  const session = { ...assembly.session, projectId, lanes: [] };
  return { ...assembly, session, request: assembleRequest(assembly) } as unknown as Assembled;
}

/**
 * What must be in the request to the byte: everything but documents and the middle of an answer; of
 * an answer that did not fit its end.
 */
function findImmutable({ request, turn }: Assembled, fitted: Assembled): string[] {
  const written = turn?.written ?? [];
  const isShownByEnd = fitted.turn?.complete !== undefined;
  const tail = fitted.turn?.isTerse ? 200 : 1_600;
  const ends = isShownByEnd ? [written.join('').slice(-tail)] : [written[0], ...written.slice(-2)];
  const kept = turn?.kind === 'repair' ? [] : ends.map((one) => one ?? '');
  if (fitted.request.messages.length < request.messages.length || fitted.portions !== undefined) {
    const task = 'Write one. Which oven is dear? What does the permit cost?';
    return [request.system, request.messages[0]?.content ?? '', task, ...kept];
  }
  const user = request.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  return [request.system, ...user.filter((content) => !content.startsWith('# Documents')), ...kept];
}

/** Fits a request into a window; an embedder other than the installed one may be given. */
export function fitInto(
  database: Database,
  tenantId: string,
  assembled: Assembled,
  windowTokens: number,
  embedder?: Embedder,
) {
  const config = readModelsConfig(
    {},
    {
      providers: { lab: { baseUrl: 'http://127.0.0.1:9/v1', local: true } },
      models: { [MODEL]: { windowTokens, maxOutputTokens: 100 } },
    },
  );
  const { signal } = new AbortController();
  const context = { job: { tenantId }, signal, stopping: signal } as JobContext;
  const deps = { database, config, provider: {} as ModelProvider, ...(embedder && { embedder }) };
  return fit(deps, context, assembled);
}

/**
 * Fits any prompt: what comes out fits or the refusal has a name, nothing immutable is touched, and
 * what is not shortened is there to the byte.
 */
export async function fitAny(database: Database, numRuns: number, seed?: number): Promise<void> {
  const { tenantId, projectId } = await newProject(database);
  const measure = await loadMeasure(database, tenantId, MODEL);
  const seen = { whole: 0, shortened: 0, reduced: 0, refused: 0 };
  const property = fc.asyncProperty(prompts, async (prompt) => {
    const assembled = toAssembly(prompt, projectId);
    const window = { windowTokens: prompt.windowTokens, maxOutputTokens: 100 };
    const fitted = await fitInto(database, tenantId, assembled, prompt.windowTokens).catch(
      (error: unknown) => error,
    );
    if (fitted instanceof DialecticError) {
      expect(fitted.code).toBe('context_window_exceeded');
      seen.refused += 1;
      return;
    }
    const { request, shortened, ...form } = fitted as Awaited<ReturnType<typeof fit>>;
    const isReduced = form.portions !== undefined || form.turn?.complete !== undefined;
    seen[isReduced ? 'reduced' : shortened.length > 0 ? 'shortened' : 'whole'] += 1;
    const most = roomForRequest(window, Math.min(...SPARE_ANSWER_SHARES))!;
    expect(measure.countRequest(request)).toBeLessThanOrEqual(most);
    const contents = [request.system, ...request.messages.map(({ content }) => content)];
    for (const part of findImmutable(assembled, { ...form, request }))
      expect(contents.join('\n\n')).toContain(part);
    for (const one of shortened) expect(one.after).toBeLessThanOrEqual(one.tokens);
    const gone = new Set(shortened.map(({ label }) => label));
    for (const { label, text: whole } of assembled.inputs) {
      if (!gone.has(label)) expect(contents.join('\n\n')).toContain(whole.trim());
    }
  });
  await fc.assert(property, { numRuns, endOnFailure: true, ...(seed !== undefined && { seed }) });
  // Otherwise the property would have tried nothing.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(numRuns / 50);
}
