import { assembleRequest } from '../generation/assemble-request.ts';
import { isShownRendered, showSections } from '../generation/document-text.ts';
import type { JobInput } from '../generation/job-input.ts';
import { findSourceTexts, type SourceLevels } from '../generation/pack-sources.ts';
import { renderBody } from '../generation/render-document.ts';
import type { TokenCounter } from '../models/tokens.ts';
import { optionLabel } from '../planning/deal-labels.ts';
import { describeDocument } from '../recipe/contract.ts';
import { isShown } from '../recipe/edges.ts';
import { type PromptFacts, renderSeedPrompt } from '../recipe/render-prompt.ts';
import type { Process } from '../recipe/types.ts';
import { adapter } from '../sources/adapt-settings.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { asAnswer, expectContent } from './expect-content.ts';
import type { ForeseenCall } from './foresee-calls.ts';
import { PLAIN_MODEL } from './model-facts.ts';
import type { PromptMeter, PromptParts } from './types.ts';

/** What the measuring of one run shares. */
type Bench = {
  readonly process: Process;
  readonly facts: PromptFacts;
  readonly sources: SourceSet | undefined;
  readonly counter: TokenCounter;
  /** Calls by the identity of what they will write. */
  readonly authors: ReadonlyMap<string, ForeseenCall>;
  /** Keeps what was worked out once; the key names what it is. */
  readonly remember: <T>(key: string, work: () => T) => T;
};

/** An input whose text is measured apart, with the call that will write it. */
type ForeseenInput = JobInput & { readonly id: string; readonly author: ForeseenCall | undefined };

/**
 * Measures the prompts of calls that were not made yet: assembled as they will be, around
 * documents of the expected size. Jobs of a step differ only in how many documents they get, so
 * that each step is assembled once for every such number.
 */
export function createPromptMeter(
  process: Process,
  { facts, sources }: { readonly facts: PromptFacts; readonly sources?: SourceSet },
  calls: readonly ForeseenCall[],
  counter: TokenCounter,
): PromptMeter {
  const authors = new Map(calls.map((call) => [call.job.identity, call]));
  const bench: Bench = { process, facts, sources, counter, authors, remember: createMemory() };
  return {
    measurePrompt: (call) => measurePrompt(bench, call),
    measureAnswer: (call) =>
      bench.remember(`answer ${placeOf(call)}`, () => {
        const content = contentOf(bench, call);
        return {
          tokens: counter.count(PLAIN_MODEL, asAnswer(content)),
          contentTokens: counter.count(PLAIN_MODEL, JSON.stringify(content)),
        };
      }),
  };
}

function createMemory(): Bench['remember'] {
  const kept = new Map<string, unknown>();
  return <T>(key: string, work: () => T): T => {
    if (!kept.has(key)) kept.set(key, work());
    return kept.get(key) as T;
  };
}

const placeOf = ({ stage, step }: ForeseenCall): string => `${stage.key}/${step.key}`;

const contentOf = ({ remember }: Bench, call: ForeseenCall) =>
  remember(`content ${placeOf(call)}`, () => expectContent(call.stage, call.step));

function measurePrompt(bench: Bench, call: ForeseenCall): PromptParts {
  const inputs = foreseeInputs(bench, call);
  const { frameTokens, guidanceTokens, schemaTokens } = measureFrame(bench, call, inputs);
  const header = inputs.find(({ type }) => type === 'header_context');
  const shown = inputs.filter(({ type }) => type !== 'seed_prompt');
  const once = new Map(shown.map((input) => [`${input.id} ${input.label}`, input]));
  return {
    frameTokens,
    schemaTokens,
    inputs: [...once.values()].map((input) => ({
      from: input.author ? input.id : null,
      // The prompt repeats what the plan says about this document.
      tokens: countReading(bench, input) + (input === header ? guidanceTokens : 0),
    })),
  };
}

function foreseeInputs({ authors }: Bench, call: ForeseenCall): ForeseenInput[] {
  return call.job.inputs.flatMap(({ name, ids }) => {
    const input = call.step.inputs.find((one) => one.name === name)!;
    if (!isShown(input)) return [];
    const { type } = input;
    return ids.map((id, index): ForeseenInput => {
      const author = authors.get(id);
      const title = titleOf(author, type);
      const label = ids.length > 1 ? `${title} ${optionLabel(index)}` : title;
      const stage = author?.stage.key ?? '';
      const about = {
        name,
        type,
        label,
        title,
        stage,
        document_key: author?.job.documentKey ?? '',
      };
      return { ...about, id, author, place: 0, order: id, text: '', content: null };
    });
  });
}

function titleOf(author: ForeseenCall | undefined, type: JobInput['type']): string {
  if (author) return describeDocument(author.stage, author.step).title;
  return type === 'seed_prompt' ? 'The request' : type;
}

/** What a document adds to a prompt. */
function countReading(bench: Bench, { author, type }: ForeseenInput): number {
  const { process, facts, counter, remember } = bench;
  const count = (text: string): number => counter.count(PLAIN_MODEL, text);
  if (type === 'project_resource') return count(Object.values(facts.resources).join('\n\n'));
  if (!author) return 0;
  return remember(`reading ${type} ${placeOf(author)}`, () => {
    const content = contentOf(bench, author);
    const { stage, step } = author;
    return count(
      isShownRendered(step, type)
        ? renderBody(process, stage, step, content)
        : showSections(type, content),
    );
  });
}

/** A prompt without the texts of its documents, and what the plan's guidance adds to it. */
function measureFrame(bench: Bench, call: ForeseenCall, inputs: readonly ForeseenInput[]) {
  const { counter, remember } = bench;
  const numbers = call.job.inputs.map(({ name, ids }) => `${name} ${ids.length}`);
  return remember(`frame ${placeOf(call)} ${numbers.join()}`, () => {
    const guided = inputs.map((input) =>
      input.author && input.type === 'header_context'
        ? { ...input, content: contentOf(bench, input.author) }
        : input,
    );
    const bare = assemble(bench, call, inputs);
    const frameTokens = counter.countRequest(bare);
    const schema = JSON.stringify(bare.schema?.schema);
    return {
      frameTokens,
      guidanceTokens: counter.countRequest(assemble(bench, call, guided)) - frameTokens,
      schemaTokens: counter.count(PLAIN_MODEL, schema),
    };
  });
}

function assemble(bench: Bench, call: ForeseenCall, inputs: readonly JobInput[]) {
  const { process, facts, sources, remember } = bench;
  const { job: planned, stage, step } = call;
  const render = (): string => renderSeedPrompt(process, stage, facts);
  const seedPrompt = remember(`seed ${stage.key}`, render);
  const around = {
    session: { id: '', process },
    facts,
    seedPrompt,
    turn: null,
    ...(sources && { sources, sourceLevels: remember('levels', () => foreseeLevels(sources)) }),
  };
  return assembleRequest({ ...around, stage, step, planned, inputs, model: PLAIN_MODEL });
}

/**
 * How much prompts will show of sources whose texts are too long for them: as many characters, of
 * whichever sources. Which ones a stage chooses is not known yet, and a token is a token.
 */
function foreseeLevels(sources: SourceSet): SourceLevels {
  const texts = findSourceTexts(sources);
  let left = adapter.settings.textCharacters;
  if (texts.reduce((sum, { text }) => sum + text.length, 0) <= left) return new Map();
  return new Map(
    sources.standing.map(({ id, excerpts }) => {
      const passages = excerpts.map((text) => {
        const shown = text.slice(0, left);
        left -= shown.length;
        return shown;
      });
      return [id, { passages: passages.filter((text) => text !== '') }];
    }),
  );
}
