import { createInterface } from 'node:readline';
import type { Dialectic } from '../api/dialectic.ts';
import { toDialecticError } from '../errors/errors.ts';
import type { RunResult } from '../session/summary.ts';
import { countNoun } from '../text/count-noun.ts';
import type { Terminal } from './ask-questions.ts';
import { editText } from './edit-text.ts';
import { toShown } from './output.ts';
import { readForm, writeForm } from './review-form.ts';
import {
  describeChoices,
  describeStage,
  readStageToReview,
  type StageToReview,
} from './review-text.ts';

/** How a person changes a text; tests write for one. */
type Editor = (text: string) => Promise<string>;

/**
 * Shows a person what a stage has written and asks, takes answers and feedback until the person goes
 * on, and lets the next stage begin. Returns false where the person stops instead, by `q`, Ctrl-C or
 * Ctrl-D; what was said until then is kept.
 */
export async function reviewStage(
  dialectic: Dialectic,
  result: RunResult,
  stageKey: string,
  terminal: Terminal,
  edit: Editor = editText,
): Promise<boolean> {
  const { session } = result;
  const write = (lines: readonly string[]): void =>
    void terminal.output.write(`${toShown(lines.join('\n'), terminal.output)}\n`);
  const review = await readStageToReview(dialectic, result, stageKey);
  write([...describeStage(review), ...describeChoices(review)]);
  let lines = openLines(terminal);
  try {
    for (;;) {
      const typed = await lines.next();
      if (typed === null || typed === 'q') return false;
      if (typed === '') break;
      // The editor takes the terminal over.
      if (typed === 'e') lines.close();
      try {
        const said = typed === 'e' ? await fillForm(review, edit) : [readTyped(review, typed)];
        for (const one of said) write([await save(dialectic, session, review, one)]);
      } catch (thrown) {
        // A wrong number or an editor that cannot be started must not end the review.
        const { code, message } = toDialecticError(thrown);
        if (code === 'internal_error') throw thrown;
        write([message]);
      }
      if (typed === 'e') lines = openLines(terminal);
    }
  } finally {
    lines.close();
  }
  await dialectic.approve(session);
  return true;
}

/** An answer to a question, or feedback on a document or, without one, on the stage. */
type Said =
  | { readonly question: string; readonly text: string }
  | { readonly document: string | null; readonly text: string };

function readTyped({ documents }: StageToReview, typed: string): Said {
  const [, question, answer] = /^(\d+)[.:)]?\s+(.+)$/s.exec(typed) ?? [];
  if (question !== undefined && answer !== undefined) return { question, text: answer };
  const [, number, text] = /^d(\d+)[.:)]?\s+(.+)$/is.exec(typed) ?? [];
  const document = documents[Number(number) - 1];
  if (document && text !== undefined) return { document: document.id, text };
  return { document: null, text: typed };
}

async function fillForm({ stage, questions }: StageToReview, edit: Editor): Promise<Said[]> {
  const { answers, feedback } = readForm(await edit(writeForm(stage.name, questions)));
  return [...answers, ...(feedback === '' ? [] : [{ document: null, text: feedback }])];
}

/** Saves what was said at once, so that Ctrl-C loses none of it, and says where it will be read. */
async function save(
  dialectic: Dialectic,
  session: string,
  { stage }: StageToReview,
  said: Said,
): Promise<string> {
  if ('question' in said) {
    const { text } = await dialectic.answer(session, said);
    return `Answered: ${text}`;
  }
  const { readBy } = await dialectic.feedback(session, { stage: stage.key, ...said });
  const count = countNoun(readBy.steps.length, 'step reads', 'steps read');
  return `Noted: ${count} it in stage ${readBy.stage} of pass ${readBy.iteration}.`;
}

/**
 * Reads what a person types, trimmed; null where the person ends the input. Lines that were pasted
 * together are one text, so that a blank one among them does not approve the stage.
 */
function openLines({ input, output }: Terminal): { next(): Promise<string | null>; close(): void } {
  const lines = createInterface({ input, output, terminal: true, prompt: '> ' });
  const typed: string[] = [];
  let isOver = false;
  let wake: (() => void) | undefined;
  lines.on('line', (line) => {
    typed.push(line);
    wake?.();
  });
  lines.once('SIGINT', () => lines.close());
  lines.once('close', () => {
    isOver = true;
    wake?.();
  });
  return {
    close: () => lines.close(),
    async next() {
      if (typed.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          lines.prompt();
        });
      }
      return typed.length === 0 ? null : typed.splice(0).join('\n').trim();
    },
  };
}
