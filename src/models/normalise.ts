import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { FinishReason } from './types.ts';

/** Maps providers' finish reasons to ours; an unknown one counts as cut off, so that it is checked. */
export function normaliseFinish(finish: LanguageModelV4FinishReason | undefined): FinishReason {
  switch (finish?.unified) {
    case 'stop':
    case 'length':
    case 'error':
      return finish.unified;
    case 'content-filter':
      return 'content_filter';
    case 'other':
      return fromRaw(finish.raw ?? '');
    default:
      return 'interrupted';
  }
}

function fromRaw(raw: string): FinishReason {
  if (/length|max_?(output_?|new_?)?tokens|truncat|token_limit/i.test(raw)) return 'length';
  if (/^(stop|eos|end|complete)/i.test(raw)) return 'stop';
  if (/filter|safety|refus/i.test(raw)) return 'content_filter';
  return 'interrupted';
}
