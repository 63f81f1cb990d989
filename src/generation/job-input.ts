import { gatherPlan, type PlanDocument } from '../checks/gather-plan.ts';
import type { CheckInput } from '../checks/types.ts';
import type { PromptInput } from '../recipe/render-prompt.ts';
import type { Contract, InputType } from '../recipe/types.ts';
import type { Assembly } from './assemble-request.ts';

/** One input of a job: how the prompt calls it, and its text. */
export type JobInput = PromptInput & {
  readonly name: string;
  readonly type: InputType;
  /** The place of its source among the documents of the prompt; feedback comes last. */
  readonly place: number;
  /** Orders what has one place, such as the work of several participants; the same in every call. */
  readonly order: string;
  readonly text: string;
  readonly content: unknown;
  /** For what a step made: what describes its content, and who wrote it, which no prompt says. */
  readonly contract?: Contract;
  readonly writer?: string;
  /** For a ballot: the label under which it speaks of the reading lane's own plan. */
  readonly ownLabel?: string;
};

/** What checks are given beside the documents: the session's date, and holidays. */
export const checkInput = (
  { facts, findCountry }: Pick<Assembly, 'facts' | 'findCountry'>,
  documents: readonly PlanDocument[],
): CheckInput => ({
  ...gatherPlan(documents),
  today: facts.date ?? null,
  ...(findCountry && { findCountry }),
});

/** Inputs that steps made, with the contract that says where their records are. */
export const planDocuments = (inputs: readonly JobInput[]): PlanDocument[] =>
  inputs.flatMap(({ title, contract, content, text }) =>
    contract ? [{ title, contract, content, text }] : [],
  );
