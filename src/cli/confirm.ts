import { createInterface } from 'node:readline/promises';
import { DialecticError } from '../errors/errors.ts';
import { withoutControls } from '../text/clean-text.ts';
import type { Terminal } from './ask-questions.ts';

/** Asks the person; whatever is not `yes`, Ctrl-C and the end of input included, refuses. */
export async function confirm(question: string, terminal: Terminal | null): Promise<void> {
  if (!terminal) {
    const message = `${question} There is no terminal to ask: confirm with --yes.`;
    throw new DialecticError('usage_invalid', message);
  }
  const ended = new AbortController();
  const lines = createInterface(terminal);
  lines.once('SIGINT', () => lines.close()).once('close', () => ended.abort());
  const prompt = withoutControls(`${question} Type yes to go on: `);
  const answer = await lines.question(prompt, { signal: ended.signal }).catch((thrown: Error) => {
    if (!ended.signal.aborted) throw thrown;
    return '';
  });
  lines.close();
  if (answer.trim().toLowerCase() === 'yes') return;
  throw new DialecticError('usage_invalid', 'Nothing was deleted: the answer was not yes.');
}
