import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { DialecticError } from '../errors/errors.ts';
import { cleanText, createTextCleaner } from '../text/clean-text.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';
import type { SecretFilter } from '../text/hide-whole.ts';
import type { NameRestorer } from './restore-names.ts';

/** Twice what the longest answers of today's models have: 128,000 tokens are 500,000 characters. */
const LONGEST_ANSWER = 1_000_000;
/** Providers' own ids have some 40 characters. */
const LONGEST_ID = 200;

/** What came out of one request, whatever way it ended; its texts are clean. */
export type CallOutcome = {
  text: string;
  finishReason: LanguageModelV4FinishReason | undefined;
  usage: LanguageModelV4Usage | undefined;
  responseId: string | null;
  warnings: string[];
  /** What ended the answer before its time, as it was thrown. */
  failure: unknown;
};

/** What streams answers; the AI SDK's models do. */
export type StreamingModel = {
  doStream(
    options: LanguageModelV4CallOptions,
  ): PromiseLike<{ readonly stream: AsyncIterable<LanguageModelV4StreamPart> }>;
};

/** What makes the texts of an answer fit to be kept. */
type Filters = {
  readonly names: NameRestorer;
  /** Whole secrets in the text. */
  readonly secrets: SecretFilter;
  /** Fragments of secrets in what stands beside it. */
  readonly hide: HideSecrets;
};

/** What takes the pieces of an answer through both filters. */
function createTextFilter({ names, secrets }: Filters) {
  return {
    push: (piece: string): string => secrets.push(names.push(piece)),
    flush: (rest: string): string =>
      secrets.push(names.push(rest) + names.flush()) + secrets.flush(),
  };
}

/**
 * Streams one answer. It never throws for what the provider does: the text that arrived before
 * a fault was paid for and is returned with the fault beside it.
 */
export async function streamCall(
  model: StreamingModel,
  options: LanguageModelV4CallOptions,
  filters: Filters,
  onDelta: (text: string) => void,
): Promise<CallOutcome> {
  const outcome = emptyOutcome();
  const cleaner = createTextCleaner();
  const texts = createTextFilter(filters);
  const receive = (text: string): void => {
    if (text === '') return;
    const taken = text.slice(0, LONGEST_ANSWER - outcome.text.length);
    outcome.text += taken;
    onDelta(taken);
    if (taken.length < text.length) throw tooLong();
  };
  try {
    const { stream } = await model.doStream(options);
    for await (const part of stream) {
      if (part.type === 'text-delta') receive(texts.push(cleaner.push(part.delta)));
      else if (part.type === 'stream-start') outcome.warnings = part.warnings.map(describeWarning);
      else if (part.type === 'response-metadata')
        outcome.responseId = cleanId(part.id, filters.hide);
      else if (part.type === 'finish') {
        outcome.finishReason = part.finishReason;
        outcome.usage = part.usage;
      } else if (part.type === 'error') {
        // Nothing may be taken after a fault: text from behind a gap would pass for whole.
        outcome.failure = part.error;
        break;
      }
    }
  } catch (error) {
    outcome.failure = error;
  }
  if (outcome.text.length < LONGEST_ANSWER) receive(texts.flush(cleaner.flush()));
  return outcome;
}

/** Asks for the whole answer at once; a fault leaves no text. */
export async function wholeCall(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  filters: Filters,
  onDelta: (text: string) => void,
): Promise<CallOutcome> {
  const outcome = emptyOutcome();
  try {
    const result = await model.doGenerate(options);
    const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const whole = createTextFilter(filters).flush(cleanText(text));
    outcome.text = whole.slice(0, LONGEST_ANSWER);
    if (whole.length > LONGEST_ANSWER) outcome.failure = tooLong();
    outcome.finishReason = result.finishReason;
    outcome.usage = result.usage;
    outcome.responseId = cleanId(result.response?.id, filters.hide);
    outcome.warnings = result.warnings.map(describeWarning);
  } catch (error) {
    outcome.failure = error;
  }
  if (outcome.text !== '') onDelta(outcome.text);
  return outcome;
}

const emptyOutcome = (): CallOutcome => ({
  text: '',
  finishReason: undefined,
  usage: undefined,
  responseId: null,
  warnings: [],
  failure: undefined,
});

const tooLong = (): DialecticError =>
  new DialecticError(
    'provider_answer_too_large',
    `The answer has more than ${LONGEST_ANSWER.toLocaleString('en')} characters; it was cut there.`,
  );

const cleanId = (id: string | undefined, hide: HideSecrets): string | null =>
  id === undefined ? null : hide(cleanText(id)).slice(0, LONGEST_ID);

function describeWarning(warning: SharedV4Warning): string {
  const { type, ...rest } = warning;
  return cleanText(`${type}: ${Object.values(rest).join(': ')}`);
}
