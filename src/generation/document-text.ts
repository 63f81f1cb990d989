import type { InputType, Process, Stage, Step } from '../recipe/types.ts';
import { humanise, toMarkdown } from '../text/markdown-blocks.ts';
import { safeInline } from '../text/markdown-text.ts';
import { renderDocument } from './render-document.ts';

type Content = Readonly<Record<string, unknown>>;

/**
 * A document as a prompt shows it: by its template, or section by section. Of the plan of a stage
 * only the notes are shown, since each prompt gives its writer the guidance for its own document.
 */
export function documentText(
  process: Pick<Process, 'shared'>,
  stage: Stage,
  step: Step,
  type: InputType,
  content: Content,
): string {
  if (type === 'document' && step.output.template !== null) {
    return renderDocument(process, stage, step, content);
  }
  const { context_for_documents: guidance, ...notes } = content;
  const shown = type === 'header_context' && guidance !== undefined ? notes : content;
  return Object.entries(shown)
    .map(([key, value]) => `## ${safeInline(humanise(key))}\n\n${toMarkdown(value, 3)}`)
    .join('\n\n');
}
