import { createInterface } from 'node:readline/promises';
import { DialecticError } from '../errors/errors.ts';
import { findTerminal, type Terminal } from './ask-questions.ts';
import { toShown } from './output.ts';

/** Who answers yes-or-no questions: `--yes` has, a person at a terminal does, or nobody can. */
export type Consent = 'given' | Terminal | null;

export const findConsent = ({ yes = false }: { readonly yes?: boolean }): Consent =>
  yes ? 'given' : findTerminal({});

/** Asks a question that `--yes` answers with yes; `unasked` where there is no terminal to ask. */
export async function agree(
  question: string,
  consent: Consent,
): Promise<'agreed' | 'refused' | 'unasked'> {
  if (consent === 'given') return 'agreed';
  if (consent === null) return 'unasked';
  const answer = await askLine(`${question} [y/N] `, consent);
  return /^y(es)?$/i.test(answer) ? 'agreed' : 'refused';
}

/** Asks before something is deleted; whatever is not `yes` refuses. */
export async function confirm(question: string, terminal: Terminal | null): Promise<void> {
  if (!terminal) {
    const message = `${question} There is no terminal to ask: confirm with --yes.`;
    throw new DialecticError('usage_invalid', message);
  }
  const answer = await askLine(`${question} Type yes to go on: `, terminal);
  if (answer.toLowerCase() === 'yes') return;
  throw new DialecticError('usage_invalid', 'Nothing was deleted: the answer was not yes.');
}

/** What the person types; empty after Ctrl-C and at the end of input. */
async function askLine(prompt: string, terminal: Terminal): Promise<string> {
  const ended = new AbortController();
  const lines = createInterface(terminal);
  lines.once('SIGINT', () => lines.close()).once('close', () => ended.abort());
  const question = lines.question(toShown(prompt, terminal.output), { signal: ended.signal });
  const answer = await question.catch((thrown: Error) => {
    if (!ended.signal.aborted) throw thrown;
    return '';
  });
  lines.close();
  return answer.trim();
}
