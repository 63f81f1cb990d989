import { createInterface } from 'node:readline/promises';
import type { Dialectic } from '../api/dialectic.ts';
import type { Question } from '../session/questions.ts';
import { toShown } from './output.ts';
import type { TextOutput } from './wrap-text.ts';

/** Where a person reads questions and types answers. */
export type Terminal = {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & TextOutput;
};

/** The person's terminal; null where there is none, or where nothing is to be asked. */
export function findTerminal({
  yes = false,
  json = false,
}: {
  readonly yes?: boolean;
  readonly json?: boolean;
}): Terminal | null {
  const isThere = process.stdin.isTTY && process.stderr.isTTY;
  return isThere && !yes && !json ? { input: process.stdin, output: process.stderr } : null;
}

/**
 * Asks the open questions of a session that waits for answers and lets its next stage begin. Returns
 * false, with the answers so far kept, when the person ends the asking by Ctrl-C or Ctrl-D.
 */
export async function askQuestions(
  dialectic: Dialectic,
  sessionId: string,
  terminal: Terminal,
): Promise<boolean> {
  const questions = await dialectic.questions(sessionId);
  const open = questions.filter(({ answers }) => answers.length === 0);
  const ended = new AbortController();
  const lines = createInterface({ ...terminal, terminal: true });
  lines.once('SIGINT', () => lines.close()).once('close', () => ended.abort());
  try {
    for (const [at, question] of open.entries()) {
      const prompt = toShown(promptFor(question, at + 1, open.length), terminal.output);
      const text = (await lines.question(prompt, { signal: ended.signal })).trim();
      if (text === '') continue;
      // Saved one by one: what was typed before Ctrl-C counts.
      await dialectic.answer(sessionId, { question: question.id, text });
    }
  } catch (thrown) {
    if (!ended.signal.aborted) throw thrown;
    terminal.output.write('\n');
    return false;
  } finally {
    lines.close();
  }
  await dialectic.approve(sessionId);
  return true;
}

function promptFor({ question, assumption }: Question, at: number, count: number): string {
  const otherwise = assumption === null ? 'Enter leaves it open' : `Enter for: ${assumption}`;
  return `\nQuestion ${at} of ${count}: ${question}\n  ${otherwise}\n> `;
}
