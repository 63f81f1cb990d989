import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Terminal } from './ask-questions.ts';
import { readStandardInput } from './read-input.ts';

/** The longest keys are tokens of a few kilobytes. */
const MOST_BYTES = 65_536;

/** Reads a secret: typed at the terminal without being shown, else all of standard input. */
export async function askSecret(prompt: string, terminal: Terminal | null): Promise<string> {
  const given = terminal
    ? await typeHidden(prompt, terminal)
    : (await readStandardInput(MOST_BYTES)).toString('utf8');
  return given.trim();
}

/** What the person types; empty after Ctrl-C and at the end of input. */
async function typeHidden(prompt: string, { input, output }: Terminal): Promise<string> {
  const ended = new AbortController();
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  lines.once('SIGINT', () => lines.close()).once('close', () => ended.abort());
  // Asked before it is shown: what is typed at once must find the question.
  const typed = lines.question('', { signal: ended.signal });
  output.write(prompt);
  try {
    return await typed;
  } catch (thrown) {
    if (!ended.signal.aborted) throw thrown;
    return '';
  } finally {
    lines.close();
    output.write('\n');
  }
}
