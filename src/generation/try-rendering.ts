import { toDialecticError } from '../errors/errors.ts';
import type { Assembly } from './assemble-request.ts';
import type { JsonRecord } from './json-reader.ts';
import { renderDocument } from './render-document.ts';

/** Why a document cannot be shown; `isTemplate` where no document of its kind can. */
export type RenderingFault = { readonly reason: string; readonly isTemplate: boolean };

/** Five times what the longest documents come to (400,000 characters by default). */
const MOST_CHARS = 2_000_000;

/**
 * Renders a document before it is accepted: what is saved can be shown, and what cannot goes back
 * to its writer. A template that fails for an empty document too is the recipe's fault, which no
 * further call would mend.
 */
export function tryRendering(
  { session, stage, step }: Assembly,
  content: JsonRecord,
): RenderingFault | null {
  if (step.output.template === null) return null;
  const render = (document: JsonRecord): string =>
    renderDocument(session.process, stage, step, document);
  try {
    const { length } = render(content);
    if (length <= MOST_CHARS) return null;
    const reason = `The document shows as ${length} characters; ${MOST_CHARS} are the most.`;
    return { reason, isTemplate: false };
  } catch (thrown) {
    const { message } = toDialecticError(thrown);
    return { reason: message, isTemplate: fails(() => render({})) };
  }
}

function fails(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}
