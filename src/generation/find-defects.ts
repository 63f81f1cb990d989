import { checkPlan } from '../checks/check-plan.ts';
import { findForeignCodes } from '../checks/foreign-codes.ts';
import { gatherPlan } from '../checks/gather-plan.ts';
import { rivalsByLabel } from '../planning/deal-labels.ts';
import { readBallot } from '../planning/read-ballot.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { describeDocument, requireContract } from '../recipe/contract.ts';
import type { StepInput } from '../recipe/types.ts';
import type { Assembly } from './assemble-request.ts';
import { planDocuments } from './job-input.ts';
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
  const documents = [...planDocuments(others), { title, contract, content, text }];
  const { problems } = checkPlan(gatherPlan(documents));
  const found = problems.filter(({ code }) => step.checks.includes(code));
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
  ];
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
