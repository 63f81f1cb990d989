import type { Process, Step } from '../recipe/types.ts';

/** Anything that a job can be given, as far as planning needs to know it. */
export type SourceDocument = {
  /** What is recorded as the job's input. */
  readonly id: string;
  /**
   * A name that is the same in every run: the `identity` of the job that made it, or for example
   * `seed_prompt/thesis`. Orders inputs, so that random ids never change a prompt.
   */
  readonly identity: string;
  readonly kind:
    | 'document'
    | 'header_context'
    | 'seed_prompt'
    | 'feedback'
    | 'source_digest'
    | 'project_resource';
  readonly stage: string | null;
  readonly documentKey: string | null;
  readonly iteration: number;
  /** Null for what belongs to no lane. Feedback has the lane of the document it is about. */
  readonly laneId: string | null;
  /** The first chunk; anchors and lineages point to it. Null for what no model wrote. */
  readonly contributionId: string | null;
  /** Feedback has the source group of the document it is about. */
  readonly sourceGroup: string | null;
  /** Stage key to anchor, as saved with the contribution. */
  readonly relationships: Readonly<Record<string, string>>;
  /** Of feedback: the stage and pass that has to take it up, whatever its steps' inputs name. */
  readonly addressee?: { readonly stage: string; readonly iteration: number } | null;
  /** What it was written without. */
  readonly missing?: readonly Loss[];
};

/** A document that a run goes on without, and why. JSON-serialisable. */
export type Loss = {
  readonly iteration: number;
  readonly stage: string;
  readonly step: string;
  readonly document: string;
  /** The ordinal of the lane that owes it; null where only the branch is known. */
  readonly lane: number | null;
  /** The branch it would have belonged to; null where its job was never planned. */
  readonly lineage: string | null;
  /** Of the job that failed; null where the planner found it absent. */
  readonly error: { readonly code: string; readonly message: string } | null;
};

export type Lane = { readonly id: string; readonly ordinal: number };

export type PlanRequest = {
  readonly process: Process;
  readonly stageKey: string;
  readonly stepKey: string;
  readonly lane: Lane;
  /** Every lane of the session. */
  readonly lanes: readonly Lane[];
  /** Ids of the lanes that take part in a stage, where not all do (one writer, for instance). */
  readonly stageLanes?: Readonly<Record<string, readonly string[]>>;
  readonly iteration: number;
  /** Decides, with pass and lane, which rival bears which label on a ballot. */
  readonly labelSeed?: string;
  /** The current version of everything that exists, in any order. */
  readonly documents: readonly SourceDocument[];
  /** What the run goes on without; a step does not wait for these, whatever its policy. */
  readonly losses?: readonly Loss[];
};

export type AnchorResult =
  | { readonly status: 'no_anchor_required' }
  | {
      readonly status: 'anchor_found' | 'derive_from_header_context';
      readonly inputId: string;
      readonly contributionId: string;
    }
  | {
      readonly status: 'anchor_not_found';
      readonly stage: string | null;
      readonly documentKey: string | null;
    };

export type PlannedInput = { readonly name: string; readonly ids: readonly string[] };

/** One EXECUTE job; JSON-serialisable. */
export type PlannedJob = {
  /** The same for the same place in the debate, in every run; unique within a session. */
  readonly identity: string;
  readonly stage: string;
  readonly step: string;
  readonly laneId: string;
  readonly iteration: number;
  readonly documentKey: string;
  readonly outputKind: Step['output']['kind'];
  /**
   * In the order of the step's inputs; ids by lane ordinal, then identity; the rivals of a ballot
   * by label. Last `+feedback`.
   */
  readonly inputs: readonly PlannedInput[];
  /** All ids once, sorted. */
  readonly inputIds: readonly string[];
  /** The document that the job fans out over, and under pairwise the lane that responded. */
  readonly driverId: string | null;
  readonly respondingLaneId: string | null;
  readonly anchor: AnchorResult;
  /** Null: the contribution starts a lineage and gets its own id. */
  readonly sourceGroup: string | null;
  /** Without the key of this stage where the contribution is to be its own anchor. */
  readonly relationships: Readonly<Record<string, string>>;
  /** What it has to be written without; absent where nothing is. */
  readonly missing?: readonly Loss[];
};

/** What a policy other than `all` let the step do without. */
export type MissingInput = {
  readonly input: string;
  readonly laneId: string | null;
  readonly sourceGroup: string | null;
};

export type StepPlan = {
  readonly jobs: readonly PlannedJob[];
  readonly missing: readonly MissingInput[];
};
