import { mostRepetitions } from '../generation/judge-answer.ts';
import { mostRerunsOf } from '../generation/rerun.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import type { Process } from '../recipe/types.ts';
import type { MostRepetitions } from './estimate-run.ts';
import type { ForeseenCall } from './foresee-calls.ts';

/**
 * How often each document of a run may be asked for again, by the rules that judge its answers.
 * `isAudited`: whether the run has sources, or may find some on its way.
 */
export const repetitionsIn =
  (process: Process, lanes: number, isAudited: boolean) =>
  ({ step }: Pick<ForeseenCall, 'step'>): MostRepetitions => {
    const isBallot = rivalsInput(process, step) !== undefined;
    const isChecked = step.checks.length > 0 || isBallot;
    const mostReruns = isAudited ? mostRerunsOf(step, lanes) : 0;
    return {
      most: mostRepetitions({ isChecked, isAudited, mostReruns }),
      elsewhere: step.onUnsupported === 'other_lane' ? mostReruns : 0,
    };
  };
