import { describeDocument, requireContract } from '../recipe/contract.ts';
import { promptTexts } from '../recipe/render-prompt.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { requireRecord } from '../text/is-record.ts';
import { stripFields } from './fill-fields.ts';
import { renderMarkdown } from './render-markdown.ts';

type Content = Readonly<Record<string, unknown>>;

/** The Markdown of a document by the template of the step that makes it. */
export function renderDocument(
  process: Pick<Process, 'shared'>,
  stage: Stage,
  step: Step,
  content: Content,
): string {
  return renderMarkdown({
    template: stage.files[step.output.template!]!,
    schema: requireContract(stage, step),
    content,
    document: describeDocument(stage, step),
    partials: promptTexts(process, stage),
  }).markdown;
}

/**
 * The Markdown of a document as prompts show it: without the fields that code fills in, so that
 * debaters do not learn who wrote what.
 */
export const renderBody = (
  process: Pick<Process, 'shared'>,
  stage: Stage,
  step: Step,
  content: Content,
): string =>
  renderDocument(
    process,
    stage,
    step,
    requireRecord(stripFields(requireContract(stage, step), content)),
  );
