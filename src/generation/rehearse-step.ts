import { requireContract } from '../recipe/contract.ts';
import { renderPrompt } from '../recipe/render-prompt.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { compileContract } from './compile-contract.ts';
import { renderBody } from './render-document.ts';

const NO_FACTS = {
  userRequest: '',
  iteration: 1,
  project: { name: '', domain: '' },
  resources: {},
  overlay: { role: '', standards: [], style: '' },
};

/**
 * Makes ready what the first use of a step would make, some milliseconds: its contract compiled, its
 * prompt and its template parsed, and what its prompt says of the document rendered.
 */
export function rehearseStep(process: Process, stage: Stage, step: Step): void {
  try {
    compileContract(requireContract(stage, step));
    if (step.compute === null) renderPrompt(process, stage, step, NO_FACTS, { inputs: {} });
    if (step.output.template !== null) renderEmpty(process, stage, step);
  } catch {
    // A text may be wrong for an empty document alone; else the step itself says what is wrong.
  }
}

function renderEmpty(process: Process, stage: Stage, step: Step): void {
  renderBody(process, stage, step, {});
}
