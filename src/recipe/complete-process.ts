import { onceFor } from '../text/memo.ts';
import type { Process, ResultRef, Stage, Step, WorkItems } from './types.ts';

/** A process as an earlier release stored it: fields that came later are absent. */
type StoredProcess = Omit<Process, 'workItems' | 'results'> & {
  readonly workItems: WorkItems | readonly WorkItems[] | null;
  readonly results: readonly (Omit<ResultRef, 'folder'> & Partial<ResultRef>)[];
};

const STEP = { compute: null, checks: [], extends: null, rewrites: null, alone: 'run' } as const;
const PROCESS = {
  firstPage: null,
  replaced: [],
  askStage: null,
  resultStage: null,
  depth: 'standard',
  omitted: [],
} as const;

/** Fills in what a stored process lacks, so that sessions of earlier releases can be resumed. */
export function completeProcess(stored: StoredProcess): Process {
  return {
    ...PROCESS,
    ...stored,
    results: stored.results.map((ref) => ({ folder: null, ...ref })),
    workItems: [stored.workItems ?? []].flat(),
    stages: stored.stages.map(completeStage),
  };
}

/** Once for each object: what was made of a stage serves every process that has it. */
const completeStage = onceFor(
  (stage: Stage): Stage => ({
    ...stage,
    lanes: stage.lanes ?? 'all',
    steps: stage.steps.map((step): Step => ({ ...STEP, ...step })),
  }),
);
