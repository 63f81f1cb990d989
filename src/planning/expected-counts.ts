import type { Process } from '../recipe/types.ts';
import { type SimulationOptions, simulateProcess } from './simulate.ts';

type ExpectedStep = {
  readonly stage: string;
  readonly step: string;
  readonly documentKey: string;
  /** Model calls in all lanes, continuations apart. */
  readonly calls: number;
  /** Markdown documents that follow from them. */
  readonly renders: number;
};

type ExpectedCounts = {
  readonly calls: number;
  readonly renders: number;
  readonly byStage: Readonly<Record<string, number>>;
  readonly steps: readonly ExpectedStep[];
};

/** How many model calls each step of a process will make; plan_too_large beyond the limit. */
export function expectedCounts(
  process: Process,
  laneCount: number,
  options: SimulationOptions = {},
): ExpectedCounts {
  const counts = new Map<string, number>();
  for (const job of simulateProcess(process, laneCount, options)) {
    const key = `${job.stage}\n${job.step}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const steps = process.stages.flatMap((stage) =>
    stage.steps.map((step): ExpectedStep => {
      const jobs = counts.get(`${stage.key}\n${step.key}`) ?? 0;
      const calls = step.compute === null ? jobs : 0;
      const renders = step.output.template === null ? 0 : jobs;
      const { documentKey } = step.output;
      return { stage: stage.key, step: step.key, documentKey, calls, renders };
    }),
  );
  const byStage = new Map<string, number>();
  for (const { stage, calls } of steps) byStage.set(stage, (byStage.get(stage) ?? 0) + calls);
  return {
    calls: steps.reduce((sum, step) => sum + step.calls, 0),
    renders: steps.reduce((sum, step) => sum + step.renders, 0),
    byStage: Object.fromEntries(byStage),
    steps,
  };
}
