import { toDialecticError } from '../errors/errors.ts';
import type { Assembly } from './assemble-request.ts';
import type { JsonRecord } from './json-reader.ts';
import { renderBody } from './render-document.ts';

/** A document's Markdown, null where its step has no template, or why it cannot be shown. */
export type Rendering =
  | { readonly kind: 'rendered'; readonly body: string | null }
  | {
      readonly kind: 'fault';
      readonly reason: string;
      /** Whether no document of its kind can be shown. */
      readonly isTemplate: boolean;
    };

/** Five times what the longest documents come to (400,000 characters by default). */
const MOST_CHARS = 2_000_000;

/**
 * Renders a document before it is accepted: what is saved can be shown, and what cannot goes back
 * to its writer. A template that fails for an empty document too is the recipe's fault, which no
 * further call would mend.
 */
export function tryRendering({ session, stage, step }: Assembly, content: JsonRecord): Rendering {
  if (step.output.template === null) return { kind: 'rendered', body: null };
  const render = (document: JsonRecord): string =>
    renderBody(session.process, stage, step, document);
  try {
    const body = render(content);
    if (body.length <= MOST_CHARS) return { kind: 'rendered', body };
    const reason = `The document shows as ${body.length} characters; ${MOST_CHARS} are the most.`;
    return { kind: 'fault', reason, isTemplate: false };
  } catch (thrown) {
    const { message } = toDialecticError(thrown);
    return { kind: 'fault', reason: message, isTemplate: fails(() => render({})) };
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
