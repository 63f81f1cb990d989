import { Memo, onceFor } from '../text/memo.ts';
import { activeSteps } from './edges.ts';
import { forDepth } from './field-sizes.ts';
import type {
  Contract,
  ContractNode,
  Depth,
  DocumentRef,
  Process,
  Stage,
  Step,
  Transition,
} from './types.ts';

/** What a person decides about a run of a process without editing its recipe. */
export type RunSettings = {
  readonly depth: Depth;
  /** Whether the requester is asked first. */
  readonly ask: boolean;
  /** Whether the result for people is written at the end. */
  readonly result: boolean;
  /** Whether a lone participant copies where there is nothing to merge or to rank. */
  readonly shortcuts: boolean;
  readonly laneCount: number;
  /** Stages after which a person looks, beside those that the recipe names. */
  readonly gates?: readonly string[];
};

/** What a run does that is told nothing else. */
export const RUN_DEFAULTS: Omit<RunSettings, 'laneCount' | 'gates'> = {
  depth: 'standard',
  ask: false,
  result: true,
  shortcuts: true,
};

/**
 * The process as one run follows it: without the stages that it leaves out, contracts ask for the
 * words of its depth, and what a lone participant need not do is copied by code. A session pins
 * the outcome, so that a later change of the settings never changes a run under way.
 */
export const configureProcess = (process: Process, settings: RunSettings): Process =>
  configured(process).get(JSON.stringify(settings), () => configure(process, settings));

/** Kept, since much of what a run works out once is kept by its process. */
const configured = onceFor((_process: Process) => new Memo<Process>(KEEP));
const KEEP = 10;

function configure(process: Process, settings: RunSettings): Process {
  const { askStage, resultStage } = process;
  const left = [settings.ask ? null : askStage, settings.result ? null : resultStage];
  const omitted = [...process.omitted, ...left.filter((key) => key !== null)];
  const stages = process.stages
    .filter(({ key }) => !omitted.includes(key))
    .map((stage) => configureStage(stage, settings));
  const transitions = stages.slice(1).map((to, at): Transition => {
    const from = stages[at]!.key;
    const gate = hasGate(process, from) || (settings.gates ?? []).includes(from);
    return { from, to: to.key, gate };
  });
  return withoutAbsent({
    ...process,
    stages,
    transitions,
    omitted,
    askStage: settings.ask ? askStage : null,
    resultStage: settings.result ? resultStage : null,
    depth: settings.depth,
  });
}

const hasGate = ({ transitions }: Process, stage: string): boolean =>
  transitions.some(({ from, gate }) => from === stage && gate);

function configureStage(stage: Stage, settings: RunSettings): Stage {
  const { depth, laneCount, shortcuts } = settings;
  const contracts = Object.entries(stage.contracts).map(([path, contract]): [string, Contract] => [
    path,
    atDepth(contract, depth),
  ]);
  return {
    ...stage,
    lanes: laneCount === 1 ? 'all' : stage.lanes,
    contracts: Object.fromEntries(contracts),
    steps: shortcuts && laneCount === 1 ? stage.steps.map(workAlone) : stage.steps,
  };
}

function workAlone(step: Step): Step {
  if (step.alone === 'skip') return { ...step, skip: true };
  if (step.alone === 'run') return step;
  const { onUnsupported: _, ...rest } = step;
  return { ...rest, prompt: null, compute: 'copy' };
}

/** The contract with the numbers of one depth, at its root and in every place below. */
function atDepth<T extends ContractNode>(node: T, depth: Depth): T {
  const { properties, items } = node;
  const numbers = ['x-words', 'x-items'].flatMap((name) => {
    const said = forDepth(node[name as 'x-words' | 'x-items'], depth);
    return said === undefined ? [] : [[name, said] as const];
  });
  const fields = Object.entries(properties ?? {}).map(([key, child]): [string, ContractNode] => [
    key,
    atDepth(child, depth),
  ]);
  return {
    ...node,
    ...Object.fromEntries(numbers),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(items === undefined ? {} : { items: atDepth(items, depth) }),
  };
}

/** Takes out what process.yaml says of documents that no step of this run makes. */
function withoutAbsent(process: Process): Process {
  const isMade = ({ stage, documentKey }: DocumentRef): boolean =>
    process.stages.some(
      (one) =>
        one.key === stage &&
        activeSteps(one).some((step) => step.output.documentKey === documentKey),
    );
  const { convergence, firstPage } = process;
  return {
    ...process,
    results: process.results.filter(isMade),
    firstPage: firstPage && isMade(firstPage) ? firstPage : null,
    replaced: process.replaced.filter((ref) => isMade(ref) && isMade(ref.by)),
    workItems: process.workItems.filter(isMade),
    convergence: convergence && isMade(convergence.ballots) ? convergence : null,
  };
}
