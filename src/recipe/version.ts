import { hash as digest } from 'node:crypto';
import { DialecticError } from '../errors/errors.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { completeProcess } from './complete-process.ts';
import type { Process, Stage, Step } from './types.ts';

const hash = (value: unknown): string => digest('sha256', canonicalJson(value), 'hex');

/** The content of a step: its fields and the texts it uses, whatever it was copied from. */
export function hashStep(stage: Stage, step: Step): string {
  const { origin: _origin, ...content } = step;
  return hash({
    step: content,
    prompt: step.prompt === null ? null : (stage.files[step.prompt] ?? null),
    contract: stage.contracts[step.output.contract] ?? null,
    template: step.output.template === null ? null : (stage.files[step.output.template] ?? null),
  });
}

/** The version of a stage, its origin included: a fork is a version of its own. */
export const hashStage = (stage: Stage): string => hash(stage);

/** What is stored of a process: everything but the stages, which are shared by hash. */
export type ProcessManifest = Omit<Process, 'stages'> & {
  readonly stages: readonly { readonly key: string; readonly hash: string }[];
};

/** A process as immutable parts; equal stages of different processes are one part. */
type ProcessVersion = {
  readonly hash: string;
  readonly manifest: ProcessManifest;
  readonly stages: Readonly<Record<string, Stage>>;
};

/** Splits a process into its manifest and its stages by hash. */
export function versionOf(process: Process): ProcessVersion {
  const hashed = process.stages.map((stage) => ({ stage, hash: hashStage(stage) }));
  const manifest: ProcessManifest = {
    ...process,
    stages: hashed.map(({ stage, hash: version }) => ({ key: stage.key, hash: version })),
  };
  return {
    hash: hash(manifest),
    manifest,
    stages: Object.fromEntries(hashed.map(({ stage, hash: version }) => [version, stage])),
  };
}

/** The version of a process. */
export const hashProcess = (process: Process): string => versionOf(process).hash;

/** Puts a process together again; refuses a stage that is missing or is not what its hash says. */
export function processFromVersion(
  manifest: ProcessManifest,
  stages: Readonly<Record<string, Stage>>,
): Process {
  return completeProcess({
    ...manifest,
    stages: manifest.stages.map((part) => {
      const stage = stages[part.hash];
      if (stage !== undefined && hashStage(stage) === part.hash) return stage;
      const state = stage === undefined ? 'is not there' : 'has been changed';
      throw new DialecticError(
        'recipe_conflict',
        `The version ${part.hash.slice(0, 12)} of stage ${part.key} ${state}.`,
        { details: { stage: part.key, hash: part.hash } },
      );
    }),
  });
}
