import { checkPlan } from '../checks/check-plan.ts';
import { collectLedger } from '../checks/collect-ledger.ts';
import { describeChecks } from '../checks/describe-checks.ts';
import { printDocument } from '../checks/print-document.ts';
import { saveContribution, saveDocument } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import { auditDocument } from '../generation/audit-document.ts';
import { checkInput, planDocuments } from '../generation/job-input.ts';
import { renderBody } from '../generation/render-document.ts';
import type { JobContext } from '../jobs/context.ts';
import { countAhead } from '../models/tokens.ts';
import { newId } from '../platform/ids.ts';
import { requireContract } from '../recipe/contract.ts';
import type { Computation } from '../recipe/types.ts';
import { requireRecord } from '../text/is-record.ts';
import { NO_COST } from './chain-cost.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { keepMade } from './input-documents.ts';
import type { Loaded } from './load.ts';
import { pageOf } from './make-page.ts';
import { renderJobs } from './render.ts';
import { saveCitations, toRecord } from './save-citations.ts';
import { searchSources } from './search-sources.ts';

type Content = Readonly<Record<string, unknown>>;

/** What code makes in place of a model from its inputs alone, by the name that recipes give it. */
const COMPUTE: Readonly<Record<Exclude<Computation, 'search'>, (assembly: Assembly) => Content>> = {
  copy: copyOnly,
  collect,
  checks: check,
  print,
};

/** Saves a document that code makes from its inputs; no model is called and nothing is charged. */
export async function compute(
  deps: HandlerDeps,
  context: JobContext,
  assembly: Loaded,
  computation: Computation,
): Promise<void> {
  const { job, commit } = context;
  const { planned, session, stage, step, version } = assembly;
  const content =
    computation === 'search'
      ? await searchSources(deps, context, assembly)
      : COMPUTE[computation](assembly);
  const isRendered = step.output.template !== null;
  const body = isRendered ? renderBody(session.process, stage, step, content) : null;
  const place = { sessionId: job.sessionId, jobId: job.id };
  const audit = auditDocument(assembly, content);
  const id = newId();
  const citations = toRecord(assembly, audit);
  const made = { id: newId(), planned, contributionId: id, content, body, citations };
  // The sources that a search has added are not among those that were loaded.
  const isSearch = computation === 'search';
  const page = isSearch ? null : pageOf(assembly, { ...made, cost: NO_COST });
  const text = JSON.stringify(content);
  const saved = commit({
    writeAtOnce: (tx) => {
      const chunk = { ...place, id, chainId: job.chainId, text, finishReason: 'computed' };
      return Promise.all([
        saveContribution(tx, chunk),
        saveDocument(tx, { ...place, ...made, version, page }),
        saveCitations(tx, assembly, made.id, audit),
      ]);
    },
    children: isSearch ? renderJobs(assembly) : [],
  });
  void countAhead(body ?? '');
  void keepMade(deps.database, job.tenantId, made);
  await saved;
}

/** What a contract has no place for is left out: recipes of earlier releases show less. */
function check(assembly: Assembly): Content {
  const found = describeChecks(checkPlan(checkInput(assembly, planDocuments(assembly.inputs))));
  return onlyKnown(assembly, found);
}

/** The step's first input with the values that the records of all its inputs come to. */
function print(assembly: Assembly): Content {
  const { planned, step, inputs } = assembly;
  const [first] = step.inputs;
  const printed = inputs.find(({ name }) => name === first?.name);
  if (!printed?.contract) {
    throw new DialecticError(
      'internal_error',
      `Step ${planned.stage}/${planned.step} has no document to print.`,
    );
  }
  const plan = checkInput(assembly, planDocuments(inputs));
  return onlyKnown(assembly, printDocument(printed.contract, requireRecord(printed.content), plan));
}

function onlyKnown({ stage, step }: Assembly, content: Content): Content {
  const { properties } = requireContract(stage, step);
  return Object.fromEntries(
    Object.entries(content).filter(([key]) => Object.hasOwn(properties, key)),
  );
}

function collect({ stage, step, inputs }: Assembly): Content {
  const documents = inputs.flatMap(({ title, contract, content, writer = '', ownLabel }) =>
    contract ? [{ title, author: writer, contract, content, ...(ownLabel && { ownLabel }) }] : [],
  );
  return collectLedger(requireContract(stage, step), documents);
}

/** The one document among the inputs that the step would have merged, in the new contract's shape. */
function copyOnly(assembly: Assembly): Content {
  const { planned, step, inputs } = assembly;
  const merged = new Set(step.inputs.filter(({ multiple }) => multiple).map(({ name }) => name));
  const found = inputs.filter(({ name, contract }) => contract && merged.has(name));
  const [only] = found;
  if (!only || found.length > 1) {
    throw new DialecticError(
      'internal_error',
      `Step ${planned.stage}/${planned.step} copies one document, but was given ${found.length}.`,
    );
  }
  return onlyKnown(assembly, requireRecord(only.content));
}
