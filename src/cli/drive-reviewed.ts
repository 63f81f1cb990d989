import type { Dialectic } from '../api/dialectic.ts';
import type { RunResult } from '../session/summary.ts';
import { askQuestions } from './ask-questions.ts';
import { driveRun } from './drive.ts';
import { reviewStage } from './review-stage.ts';

/**
 * Works on a session until it rests. With a person at a terminal, a stage that waits for one is
 * reviewed there and the run goes on in the same process, until the person stops.
 */
export async function driveReviewed(
  dialectic: Dialectic,
  session: string,
  options: Parameters<typeof driveRun>[2],
): Promise<RunResult> {
  const { terminal = null } = options;
  for (;;) {
    const result = await driveRun(dialectic, session, options);
    if (terminal === null || result.awaiting?.reason !== 'review') return result;
    const { stage, openQuestions } = result.awaiting;
    const goesOn =
      openQuestions === null
        ? await reviewStage(dialectic, result, stage, terminal)
        : await askQuestions(dialectic, session, terminal);
    // Answers and feedback may have come since the result was read.
    if (!goesOn) return dialectic.updateFolder(session);
  }
}
