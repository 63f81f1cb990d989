import { contractOf, describeDocument } from '../recipe/contract.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { renderMarkdown } from './render-markdown.ts';

/** The Markdown of a document by the template of the step that makes it. */
export function renderDocument(
  process: Pick<Process, 'shared'>,
  stage: Stage,
  step: Step,
  content: Readonly<Record<string, unknown>>,
): string {
  return renderMarkdown({
    template: stage.files[step.output.template!]!,
    schema: contractOf(stage, step)!,
    content,
    document: describeDocument(stage, step),
    partials: { ...process.shared, ...stage.files },
  }).markdown;
}
