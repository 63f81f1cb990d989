import type { Process, Stage } from './types.ts';

/** A process of one stage, so that a stage on its own can be drawn, counted and compared. */
export function processOfStage(stage: Stage): Process {
  return {
    key: stage.key,
    name: stage.name,
    description: stage.description,
    stages: [stage],
    transitions: [],
    overlay: {},
    domains: {},
    shared: {},
    results: [],
    convergence: null,
    firstPage: null,
    replaced: [],
    workItems: [],
    writerAfter: null,
    askStage: null,
    resultStage: null,
    depth: 'standard',
    omitted: [],
  };
}
