import type { InputType, Step } from '../recipe/types.ts';
import { humanise, toMarkdown } from '../text/markdown-blocks.ts';
import { safeInline } from '../text/markdown-text.ts';

type Content = Readonly<Record<string, unknown>>;

/** Whether a prompt shows a document by its template, as people read it. */
export const isShownRendered = (step: Step, type: InputType): boolean =>
  type === 'document' && step.output.template !== null;

/**
 * A document as a prompt shows it otherwise: section by section. Of the plan of a stage only the
 * notes are shown, since each prompt gives its writer the guidance for its own document.
 */
export function showSections(type: InputType, content: Content): string {
  const { context_for_documents: guidance, ...notes } = content;
  const shown = type === 'header_context' && guidance !== undefined ? notes : content;
  return Object.entries(shown)
    .map(([key, value]) => `## ${safeInline(humanise(key))}\n\n${toMarkdown(value, 3)}`)
    .join('\n\n');
}
