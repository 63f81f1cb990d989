import type {
  Check,
  Computation,
  ContinuationLimit,
  Depth,
  Granularity,
  InputType,
  Overlay,
  OwnVotes,
  StageOrigin,
  Step,
  StepInput,
  StepOrigin,
  StyleCheck,
  Unsupported,
} from './types.ts';

type RefFile = { readonly stage: string; readonly document_key: string };

/** process.yaml as written; the schema has been checked before anything has this type. */
export type ProcessFile = {
  readonly key: string;
  readonly name: string;
  readonly description?: string;
  readonly stages: readonly string[];
  readonly transitions?: readonly { from: string; to: string; gate?: boolean }[];
  readonly overlay?: Overlay;
  readonly domains?: Readonly<Record<string, Overlay>>;
  readonly results?: readonly (RefFile & { readonly folder?: string })[];
  readonly first_page?: RefFile;
  readonly replaced?: readonly (RefFile & { readonly by: RefFile })[];
  readonly convergence?: {
    readonly candidates: RefFile;
    readonly ballots: RefFile;
    readonly rankings: string;
    readonly option: string;
    readonly rank: string;
    readonly own_votes?: OwnVotes;
  };
  readonly work_items?: readonly (RefFile & {
    readonly items: string;
    readonly id: string;
    readonly title: string;
  })[];
  readonly writer_after?: string;
  readonly ask_stage?: string;
  readonly result_stage?: string;
  readonly depth?: Depth;
  readonly omitted?: readonly string[];
};

export type InputFile = {
  readonly name?: string;
  readonly type: InputType;
  readonly stage?: string;
  readonly document_key?: string;
  readonly scope?: StepInput['scope'];
  readonly iteration?: StepInput['iteration'];
  readonly multiple?: boolean;
  readonly required?: boolean;
  readonly relevance?: number;
  readonly join?: 'lineage' | 'all';
  readonly shown?: boolean;
  readonly combine?: boolean;
};

/** A step of stage.yaml as written. */
export type StepFile = {
  readonly key: string;
  readonly name: string;
  readonly job_type: Step['jobType'];
  readonly granularity?: Granularity;
  readonly for_each?: string;
  readonly prompt?: string;
  readonly compute?: Computation;
  readonly checks?: readonly (Check | StyleCheck)[];
  readonly extends?: string;
  readonly rewrites?: string;
  readonly alone?: Step['alone'];
  readonly on_unsupported?: Unsupported;
  readonly inputs: readonly InputFile[];
  readonly output: {
    readonly kind: Step['output']['kind'];
    readonly document_key: string;
    readonly contract: string;
    readonly template?: string;
  };
  readonly after?: readonly string[];
  readonly dependency_policy?: Step['dependencyPolicy'];
  readonly quorum?: number;
  readonly continuation?: { max_turns?: number; max_idle_turns?: number; max_chars?: number };
  readonly skip?: boolean;
  readonly origin?: StepOrigin;
};

/** stage.yaml as written. */
export type StageFile = {
  readonly key: string;
  readonly name: string;
  readonly description?: string;
  readonly lanes?: 'all' | 'chosen';
  readonly seed_prompt?: string;
  readonly steps: readonly StepFile[];
  readonly origin?: StageOrigin;
};

/** Ten turns of 8,000 tokens are 320,000 characters, far more than any document of a process. */
const CONTINUATION: ContinuationLimit = { maxTurns: 60, maxIdleTurns: 3, maxChars: 400_000 };

/** A step with its defaults, all but the inputs, which need the stage's key. */
export function stepFromFile(raw: StepFile): Omit<Step, 'inputs'> {
  return {
    key: raw.key,
    name: raw.name,
    jobType: raw.job_type,
    granularity: raw.granularity ?? 'per_source_document',
    forEach: raw.for_each ?? null,
    prompt: raw.prompt ?? null,
    compute: raw.compute ?? null,
    checks: raw.checks ?? [],
    extends: raw.extends ?? null,
    rewrites: raw.rewrites ?? null,
    alone: raw.alone ?? 'run',
    ...(raw.on_unsupported !== undefined &&
      raw.on_unsupported !== 'mark' && { onUnsupported: raw.on_unsupported }),
    output: {
      kind: raw.output.kind,
      documentKey: raw.output.document_key,
      contract: raw.output.contract,
      template: raw.output.template ?? null,
    },
    after: raw.after ?? [],
    dependencyPolicy: raw.dependency_policy ?? 'all',
    quorum: raw.quorum ?? null,
    continuation: {
      maxTurns: raw.continuation?.max_turns ?? CONTINUATION.maxTurns,
      maxIdleTurns: raw.continuation?.max_idle_turns ?? CONTINUATION.maxIdleTurns,
      maxChars: raw.continuation?.max_chars ?? CONTINUATION.maxChars,
    },
    skip: raw.skip ?? false,
    origin: raw.origin ?? null,
  };
}

const STAGELESS: readonly InputType[] = ['source_digest', 'project_resource'];

/** An input with its defaults; `stageKey` is the stage that the step belongs to. */
export function inputFromFile(raw: InputFile, stageKey: string): StepInput {
  const stage = STAGELESS.includes(raw.type) ? null : (raw.stage ?? stageKey);
  const input = {
    type: raw.type,
    stage,
    documentKey: raw.document_key ?? null,
    scope: raw.scope ?? 'own',
    iteration: raw.iteration ?? 'current',
    multiple: raw.multiple ?? false,
    required: raw.required ?? true,
    relevance: raw.relevance ?? 1,
    join: raw.join ?? null,
    ...(raw.shown === false && { shown: raw.shown }),
  } as const;
  return { name: raw.name ?? defaultName(input), ...input };
}

/** The name of an input that gives none; docs/recipes.md lists the rules. */
export function defaultName(input: Omit<StepInput, 'name'>): string {
  const { type, documentKey } = input;
  if (type === 'feedback') return `feedback_${documentKey ?? input.stage}`;
  if (type === 'project_resource') return documentKey ?? 'project_resources';
  if (documentKey === null) return type;
  return input.iteration === 'previous' ? `previous_${documentKey}` : documentKey;
}
