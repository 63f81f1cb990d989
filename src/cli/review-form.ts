import type { Question } from '../session/questions.ts';

/** What a person writes in the editor: answers by the number of the question, and feedback. */
export type FilledForm = {
  readonly answers: readonly { readonly question: string; readonly text: string }[];
  /** About the stage as a whole; empty where nothing was written. */
  readonly feedback: string;
};

/** The text that the editor opens: a heading for each open question, and one for feedback. */
export function writeForm(stage: string, questions: readonly Question[]): string {
  const parts = questions.flatMap(({ number, question, assumption }) => [
    `## ${number} ${oneLine(question)}`,
    ...(assumption === null ? [] : [`# Assumed until then: ${oneLine(assumption)}`]),
    '',
    '',
  ]);
  return [
    `# Review of ${oneLine(stage)}. Write under the headings; lines that begin with # are left out.`,
    '# What stays empty is left open. Save and close to go back.',
    '',
    ...parts,
    '## Feedback on the stage as a whole',
    '',
    '',
  ].join('\n');
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Reads what was written under each heading. */
export function readForm(text: string): FilledForm {
  const sections = text.split(/^## /m).slice(1);
  const filled = sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    const [, number] = /^(\d+) /.exec(heading) ?? [];
    const body = lines.filter((line) => !line.startsWith('#'));
    return { number, text: body.join('\n').trim() };
  });
  return {
    answers: filled.flatMap(({ number, text: answer }) =>
      number === undefined || answer === '' ? [] : [{ question: number, text: answer }],
    ),
    feedback: filled
      .flatMap(({ number, text: said }) => (number === undefined && said !== '' ? [said] : []))
      .join('\n\n'),
  };
}
