import { createInterface } from 'node:readline/promises';
import { approveStage } from '../session/advance.ts';
import { answerQuestion, type Question, readQuestions } from '../session/questions.ts';
import { readSession } from '../session/read.ts';
import { withoutControls } from '../text/clean-text.ts';
import type { OpenStore } from './store.ts';

/** Where a person reads questions and types answers. */
export type Terminal = {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
};

/** The person's terminal; null where there is none, or where nothing is to be asked. */
export const findTerminal = ({ yes = false }: { readonly yes?: boolean }): Terminal | null =>
  process.stdin.isTTY && process.stderr.isTTY && !yes
    ? { input: process.stdin, output: process.stderr }
    : null;

/**
 * Asks the open questions of a session that waits for answers and lets its next stage begin. Returns
 * false, with the answers so far kept, when the person ends the asking by Ctrl-C or Ctrl-D.
 */
export async function askQuestions(
  { database, tenantId }: OpenStore,
  sessionId: string,
  terminal: Terminal,
): Promise<boolean> {
  const questions = await database.asTenant(tenantId, async (tx) =>
    readQuestions(tx, await readSession(tx, sessionId)),
  );
  const open = questions.filter(({ answers }) => answers.length === 0);
  const ended = new AbortController();
  const lines = createInterface({ ...terminal, terminal: true });
  lines.once('SIGINT', () => lines.close()).once('close', () => ended.abort());
  try {
    for (const [at, question] of open.entries()) {
      const prompt = promptFor(question, at + 1, open.length);
      const text = (await lines.question(prompt, { signal: ended.signal })).trim();
      if (text === '') continue;
      const answer = { question: question.id, text };
      // Saved one by one: what was typed before Ctrl-C counts.
      await database.asTenant(tenantId, (tx) => answerQuestion(tx, sessionId, answer));
    }
  } catch (thrown) {
    if (!ended.signal.aborted) throw thrown;
    terminal.output.write('\n');
    return false;
  } finally {
    lines.close();
  }
  await approveStage(database, tenantId, sessionId);
  return true;
}

function promptFor({ question, assumption }: Question, at: number, count: number): string {
  const otherwise = assumption === null ? 'Enter leaves it open' : `Enter for: ${assumption}`;
  return withoutControls(`\nQuestion ${at} of ${count}: ${question}\n  ${otherwise}\n> `);
}
