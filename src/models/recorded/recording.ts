import type { CallSubject, FinishReason, TokenUsage } from '../types.ts';

/** What one call of an earlier run brought. */
export type RecordedAnswer = {
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Null where the record does not say it. */
  readonly usage: TokenUsage | null;
  /** What it cost then, in micro-USD; null where the price was unknown. */
  readonly costMicros: number | null;
};

/** The answers of an earlier run. */
export type Recording = {
  /** Where it lies, for messages. */
  readonly place: string;
  /** The answers for a document in the order of their calls; empty where none is recorded. */
  readonly answersFor: (subject: CallSubject) => readonly RecordedAnswer[];
};

/** How `recorded/…` answers. */
export type RecordingConfig = {
  readonly recording: Recording;
  /** Characters a second; 0 sends each answer whole. */
  readonly pace: number;
  /** Who writes what is not recorded; null refuses such a request. */
  readonly fill: 'offline' | null;
};

/** The part of an answer that is yet to be sent. */
export type RecordedRest = { readonly answer: RecordedAnswer; readonly from: number };

/**
 * The answer that follows what a document's calls have brought so far. A call that was cut off
 * midway brought the beginning of an answer: what follows is its rest. Undefined where the recording
 * ends, and where other texts came before than the recorded ones.
 */
export function findNext(
  answers: readonly RecordedAnswer[],
  before: readonly string[],
): RecordedRest | undefined {
  let at = 0;
  let from = 0;
  for (const text of before) {
    const answer = answers[at];
    if (!answer?.text.startsWith(text, from)) return undefined;
    from += text.length;
    if (from < answer.text.length) continue;
    at += 1;
    from = 0;
  }
  const answer = answers[at];
  return answer && { answer, from };
}
