import { checkPlan } from '../checks/check-plan.ts';
import { findForeignCodes } from '../checks/foreign-codes.ts';
import type { PlanDocument } from '../checks/gather-plan.ts';
import type { Problem } from '../checks/problem.ts';
import { rivalsByLabel } from '../planning/deal-labels.ts';
import { readBallot } from '../planning/read-ballot.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { describeDocument, requireContract } from '../recipe/contract.ts';
import type { StepInput } from '../recipe/types.ts';
import type { Assembly } from './assemble-request.ts';
import { findStyleDefects } from './find-style-defects.ts';
import { checkInput, planDocuments } from './job-input.ts';
import type { JsonRecord } from './json-reader.ts';

/** A document may be longer than asked by this much before its writer is asked to cut it. */
const LONGEST_RATIO = 1.25;

/** So many codes of other documents does a reader keep apart. */
const MOST_CODES = 15;

/** What code finds wrong with an answer that fulfils its contract, one line for each defect. */
export const findDefects = (
  assembly: Assembly,
  content: JsonRecord,
  body: string | null,
): string[] => [...findSpoilt(assembly, content), ...runChecks(assembly, content, body ?? '')];

/** A ballot must rank every rival that was shown, by its label. */
function findSpoilt(
  { session: { process }, step, planned }: Assembly,
  content: JsonRecord,
): string[] {
  if (rivalsInput(process, step) === undefined) return [];
  const rivals = rivalsByLabel(process, planned.inputs);
  if (rivals.length < 2) return [];
  const { problems } = readBallot(process.convergence!, content, rivals);
  return problems.map(({ path, message }) => `\`${path}\` ${message}`);
}

/** The checks that the step names, over the answer together with what it was given. */
function runChecks(assembly: Assembly, content: JsonRecord, text: string): string[] {
  const { step, stage, inputs } = assembly;
  if (step.checks.length === 0) return [];
  const contract = requireContract(stage, step);
  const { title, words } = describeDocument(stage, step);
  const drafts = findDrafts(assembly);
  const others = inputs.filter(({ name }) => !drafts.has(name));
  const own = { title, contract, content, text };
  const documents = [...planDocuments(others), own];
  const { problems } = checkPlan(checkInput(assembly, documents));
  const isOwn = ({ details }: Problem): boolean => (details['document'] ?? title) === title;
  const found = [
    ...problems.filter(isOwn),
    ...findTyped(assembly, own).filter((one) => !problems.some((same) => isSame(one, same))),
  ].filter(({ code }) => step.checks.includes(code));
  const written = countWords(text);
  const codes = step.checks.includes('too_many_codes') ? findForeignCodes(content) : [];
  const isLong = step.checks.includes('too_long') && words > 0 && written > words * LONGEST_RATIO;
  return [
    ...found.map(({ message }) => message),
    ...(isLong
      ? [`The document has ${written} words; ${words} were asked for. Cut what changes nothing.`]
      : []),
    ...(codes.length > MOST_CODES
      ? [
          `The document uses ${codes.length} codes that it does not explain (${codes.slice(0, 5).join(', ')} …); a reader follows ${MOST_CODES}. Say in words what they stand for.`,
        ]
      : []),
    ...(step.checks.includes('poor_style') ? findStyleDefects(text) : []),
  ];
}

const isSame = (a: Problem, b: Problem): boolean => a.code === b.code && a.message === b.message;

/**
 * What the answer types against the records of drafts by other steps, too: those may still change,
 * but what they come to now is nearer to the truth than a figure that contradicts it.
 */
function findTyped(assembly: Assembly, own: PlanDocument): Problem[] {
  const { step, inputs } = assembly;
  const others = inputs.filter(({ name }) => name !== step.rewrites && name !== step.extends);
  const { problems } = checkPlan(checkInput(assembly, [...planDocuments(others), own]));
  return problems.filter(({ details }) => details['document'] === own.title);
}

/**
 * The names under which this step reads drafts. The draft of the answer is in it already: counted
 * twice, a plan would cost double. What stands in other drafts is still to be rewritten by their
 * steps, and this writer cannot mend it. Steps call one document by different names.
 */
function findDrafts({ step, stage }: Assembly): Set<string> {
  const rewritten = stage.steps.flatMap((one) =>
    one.inputs.filter(({ name }) => name === one.rewrites).map(documentOf),
  );
  const names = step.inputs
    .filter((input) => rewritten.includes(documentOf(input)))
    .map(({ name }) => name);
  return new Set(step.extends === null ? names : [step.extends, ...names]);
}

const documentOf = ({ stage, documentKey, iteration }: StepInput): string =>
  `${stage}/${documentKey}/${iteration}`;

const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
