import type { Gate } from '../../src/jobs/sessions.ts';
import {
  beat,
  cancel,
  claim,
  commit,
  complete,
  fail,
  handBack,
  insert,
  restart,
  retry,
  type SimEffects,
  type SimFault,
  supersede,
} from './model.ts';
import { Refusal, type SimJob, type World } from './world.ts';

/** One step of a history. Executions are named by the order of their claims. */
export type Operation =
  | { readonly op: 'stage-run'; readonly id: string }
  | { readonly op: 'enqueue'; readonly jobs: readonly SimJob[] }
  | { readonly op: 'wait'; readonly ms: number }
  | { readonly op: 'claim'; readonly worker: string; readonly batch: number }
  | { readonly op: 'complete'; readonly executions: readonly number[] }
  | { readonly op: 'commit'; readonly execution: number; readonly effects: SimEffects }
  | { readonly op: 'fail'; readonly execution: number; readonly fault: SimFault }
  | { readonly op: 'hand-back'; readonly executions: readonly number[] }
  | { readonly op: 'beat'; readonly worker: string; readonly executions: readonly number[] }
  | { readonly op: 'restart' }
  | { readonly op: 'gate'; readonly gate: Gate }
  | { readonly op: 'open'; readonly gate: Gate | null }
  | { readonly op: 'cancel' }
  | { readonly op: 'retry' }
  | { readonly op: 'supersede'; readonly job: string };

/** What an operation says: ids it claimed or completed, a count, or the code of its refusal. */
export type Outcome = string;

/** Runs one operation on the model. */
export function apply(world: World, operation: Operation): Outcome {
  try {
    return perform(world, operation);
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

export const listOf = (ids: readonly string[]): Outcome => ids.toSorted().join(' ');

function perform(world: World, operation: Operation): Outcome {
  const held = (numbers: readonly number[]) => numbers.map((number) => world.executions[number]!);
  switch (operation.op) {
    case 'stage-run':
      world.stageRuns.set(operation.id, {
        state: 'running',
        version: 0,
        degraded: false,
        steps: new Map(),
        roots: [],
      });
      return 'done';
    case 'enqueue':
      insert(world, operation.jobs);
      return 'done';
    case 'wait':
      world.now += operation.ms;
      return 'done';
    case 'claim':
      return claim(world, operation.worker, operation.batch)
        .map(({ job }) => job.id)
        .join(' ');
    case 'complete':
      return listOf(complete(world, held(operation.executions)));
    case 'commit':
      commit(world, held([operation.execution])[0]!, operation.effects);
      return 'done';
    case 'fail':
      fail(world, held([operation.execution])[0]!, operation.fault);
      return 'done';
    case 'hand-back':
      handBack(world, held(operation.executions));
      return 'done';
    case 'beat':
      beat(world, held(operation.executions));
      return 'done';
    case 'restart':
      restart(world);
      return 'done';
    case 'gate':
      world.gates.add(operation.gate);
      return 'done';
    case 'open':
      if (operation.gate) world.gates.delete(operation.gate);
      else world.gates.clear();
      return 'done';
    case 'cancel':
      cancel(world);
      return 'done';
    case 'retry':
      return String(retry(world));
    case 'supersede':
      supersede(world, operation.job);
      return 'done';
  }
}
