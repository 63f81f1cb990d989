import type { Step, StepInput } from './types.ts';

/** What the recipe alone says about a step's anchor; planning/ finds the document for each job. */
export type AnchorRule =
  | { readonly status: 'no_anchor_required' }
  | { readonly status: 'derive_from_header_context'; readonly input: StepInput }
  | {
      readonly status: 'anchor_found';
      readonly input: StepInput;
      /** Inputs that share the top with the first; a recipe that has one is refused. */
      readonly ties: readonly StepInput[];
    };

const NONE: AnchorRule = { status: 'no_anchor_required' };

/** Decided by job type, granularity and required inputs; docs/recipes.md has the table. */
export function anchorRule(step: Step): AnchorRule {
  const header = step.inputs.find((input) => input.type === 'header_context' && input.required);
  const documents = step.inputs.filter(competesForAnchor);
  const merges = step.granularity === 'all_to_one' || step.granularity === 'per_model';
  if (merges) {
    if (step.jobType === 'PLAN' || header === undefined) return NONE;
    if (documents.length === 0) return { status: 'derive_from_header_context', input: header };
    return { status: 'anchor_found', input: header, ties: [] };
  }
  if (documents.length > 0) return strongest(documents);
  return header === undefined ? NONE : { status: 'derive_from_header_context', input: header };
}

/** Only what a step cannot do without, and what steps write, can be a reference. */
export const competesForAnchor = (input: StepInput): boolean =>
  (input.type === 'document' || input.type === 'contribution') && input.required;

function strongest(documents: readonly StepInput[]): AnchorRule {
  const own = documents.filter((input) => input.scope === 'own');
  const field = own.length > 0 ? own : documents;
  const top = Math.max(...field.map((input) => input.relevance));
  const [input, ...ties] = field.filter((one) => one.relevance === top);
  return input === undefined ? NONE : { status: 'anchor_found', input, ties };
}
