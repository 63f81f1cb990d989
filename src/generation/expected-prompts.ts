import type { TokenCounter } from '../models/tokens.ts';
import { PLAIN_MODEL } from '../money/estimate-models.ts';
import type { ForeseenCall } from '../money/estimate-plan.ts';
import { asAnswer, expectContent } from '../money/estimate-sizes.ts';
import type { PromptMeter, PromptParts } from '../money/estimate-types.ts';
import { optionLabel } from '../planning/choose-lane.ts';
import { describeDocument } from '../recipe/contract.ts';
import { type PromptFacts, renderSeedPrompt } from '../recipe/prompt.ts';
import type { Process } from '../recipe/types.ts';
import { assembleRequest } from './assemble.ts';
import { type JobInput, renderAsText } from './inputs.ts';

type Measured = { readonly tokens: number; readonly chars: number };
/** An input whose text is measured apart, with the call that will write it. */
type ForeseenInput = JobInput & { readonly id: string; readonly author: ForeseenCall | undefined };

/**
 * Measures the prompts of calls that were not made yet: assembled as they will be, around
 * documents of the expected size. Jobs of a step differ only in how many documents they get, so
 * that each step is assembled once for every such number.
 */
export function createPromptMeter(
  process: Process,
  facts: PromptFacts,
  calls: readonly ForeseenCall[],
  counter: TokenCounter,
): PromptMeter {
  const authors = new Map(calls.map((call) => [call.job.identity, call]));
  const remember = createMemory();
  const count = (text: string): number => counter.count(PLAIN_MODEL, text);

  const contentOf = (call: ForeseenCall) =>
    remember(`content ${placeOf(call)}`, () => expectContent(call.stage, call.step));

  function assemble(call: ForeseenCall, inputs: readonly JobInput[]) {
    const seedPrompt = remember(`seed ${call.stage.key}`, () =>
      renderSeedPrompt(process, call.stage, facts),
    );
    const session = { id: '', process };
    const { job: planned, stage, step } = call;
    const around = { session, facts, seedPrompt, turn: null, model: PLAIN_MODEL };
    return assembleRequest({ ...around, stage, step, planned, inputs });
  }

  function foreseeInputs(call: ForeseenCall): ForeseenInput[] {
    return call.job.inputs.flatMap(({ name, ids }) => {
      const { type } = call.step.inputs.find((input) => input.name === name)!;
      return ids.map((id, index): ForeseenInput => {
        const author = authors.get(id);
        const title = titleOf(author, type);
        const label = ids.length > 1 ? `${title} ${optionLabel(index)}` : title;
        const origin = {
          stage: author?.stage.key ?? '',
          document_key: author?.job.documentKey ?? '',
        };
        const about = { id, author, name, type, label, title, ...origin };
        return { ...about, readers: 0, order: id, text: '', content: null };
      });
    });
  }

  /** What a document adds to a prompt: Markdown where it is rendered, else JSON. */
  function readingOf({ author, type }: ForeseenInput): number {
    if (type === 'project_resource') return count(Object.values(facts.resources).join('\n\n'));
    if (!author) return 0;
    return remember(`reading ${type} ${placeOf(author)}`, () => {
      const content = contentOf(author);
      const { stage, step } = author;
      const markdown =
        type === 'document' ? renderAsText(process, stage, step, content) : undefined;
      return count(markdown ?? JSON.stringify(content, null, 1));
    });
  }

  function measureFrame(call: ForeseenCall, inputs: readonly ForeseenInput[]) {
    const sizes = call.job.inputs.map(({ name, ids }) => `${name} ${ids.length}`);
    return remember(`frame ${placeOf(call)} ${sizes.join()}`, () => {
      const guided = inputs.map((input) =>
        input.author && input.type === 'header_context'
          ? { ...input, content: contentOf(input.author) }
          : input,
      );
      const bare = assemble(call, inputs);
      const frameTokens = counter.countRequest(bare);
      const guidance = counter.countRequest(assemble(call, guided)) - frameTokens;
      return { frameTokens, guidance, schemaTokens: count(JSON.stringify(bare.schema?.schema)) };
    });
  }

  function measurePrompt(call: ForeseenCall): PromptParts {
    const inputs = foreseeInputs(call);
    const { frameTokens, guidance, schemaTokens } = measureFrame(call, inputs);
    const header = inputs.find(({ type }) => type === 'header_context');
    const shown = inputs.filter(({ type }) => type !== 'seed_prompt');
    const once = new Map(shown.map((input) => [`${input.id} ${input.label}`, input]));
    return {
      frameTokens,
      schemaTokens,
      inputs: [...once.values()].map((input) => ({
        from: input.author ? input.id : null,
        // The prompt repeats what the plan says about this document.
        tokens: readingOf(input) + (input === header ? guidance : 0),
      })),
    };
  }

  return {
    measurePrompt,
    measureAnswer: (call) =>
      remember(`answer ${placeOf(call)}`, (): Measured => {
        const text = asAnswer(contentOf(call));
        return { tokens: count(text), chars: text.length };
      }),
  };
}

const placeOf = ({ stage, step }: ForeseenCall): string => `${stage.key}/${step.key}`;

function titleOf(author: ForeseenCall | undefined, type: JobInput['type']): string {
  if (author) return describeDocument(author.stage, author.step).title;
  return type === 'seed_prompt' ? 'The request' : type;
}

/** Keeps what was worked out once; the key names what it is. */
function createMemory() {
  const kept = new Map<string, unknown>();
  return <T>(key: string, work: () => T): T => {
    if (!kept.has(key)) kept.set(key, work());
    return kept.get(key) as T;
  };
}
