/** How a step is split into jobs; planning/ has one planner for each. */
export const GRANULARITIES = [
  'all_to_one',
  'per_model',
  'per_source_document',
  'per_source_document_by_lineage',
  'pairwise_by_origin',
  'per_source_group',
] as const;
export type Granularity = (typeof GRANULARITIES)[number];

export const INPUT_TYPES = [
  'seed_prompt',
  'document',
  'contribution',
  'header_context',
  'feedback',
  'source_digest',
  'project_resource',
] as const;
export type InputType = (typeof INPUT_TYPES)[number];

/** How much a run writes; contracts give the words for each. */
export const DEPTHS = ['brief', 'standard', 'full'] as const;
export type Depth = (typeof DEPTHS)[number];

/** What code makes in place of a model; generation/compute.ts has one function for each. */
export const COMPUTATIONS = ['copy', 'collect', 'checks', 'print', 'search'] as const;
export type Computation = (typeof COMPUTATIONS)[number];

/** Defects that code can look for in an answer; checks/ finds all but the last. */
export const CHECKS = [
  'effort_over_limit',
  'cost_over_budget',
  'week_impossible',
  'no_spare_week',
  'gate_before_evidence',
  'price_below_cost',
  'range_excludes_sum',
  'total_changed',
  'person_hours_changed',
  'share_over_whole',
  'date_mismatch',
  'start_in_past',
  'day_not_working',
  'opening_before_break',
  'too_little_free',
  'calendar_incomplete',
  'value_unknown',
  'need_cycle',
  'need_unknown',
  'demand_without_work',
  'finding_unanswered',
  'figure_changed',
  'demand_unknown',
  'id_duplicate',
  'field_missing',
  'too_long',
  'too_many_codes',
] as const;
export type Check = (typeof CHECKS)[number];

/** Defects of style that code can look for in an answer. */
export const STYLE_CHECKS = ['poor_style'] as const;
export type StyleCheck = (typeof STYLE_CHECKS)[number];

/** What follows where a document's citations stay wrong although its writer was asked to mend them. */
export const UNSUPPORTED = ['mark', 'other_evidence', 'other_lane'] as const;
export type Unsupported = (typeof UNSUPPORTED)[number];

/** One thing that a step reads; every default of the file format is filled in. */
export type StepInput = {
  /** Unique within the step; `for_each` and prompts refer to the input by it. */
  readonly name: string;
  readonly type: InputType;
  /** The stage that makes it; null where no stage does (resources, source digest). */
  readonly stage: string | null;
  /** Null for seed prompts, source digests, all resources, and feedback on a whole stage. */
  readonly documentKey: string | null;
  readonly scope: 'own' | 'all';
  readonly iteration: 'current' | 'previous';
  readonly multiple: boolean;
  readonly required: boolean;
  readonly relevance: number;
  /** Null leaves the choice to the rule in docs/recipes.md. */
  readonly join: 'lineage' | 'all' | null;
  /**
   * False: the input drives, anchors and is waited for, but its text reaches no prompt. Absent in
   * all others, so that the content hashes of stored recipes stay as they are.
   */
  readonly shown?: false;
};

type StepOutput = {
  readonly kind: 'document' | 'header_context';
  readonly documentKey: string;
  /** Path of the contract within the stage folder. */
  readonly contract: string;
  /** Path of the rendering template within the stage folder; null means JSON only. */
  readonly template: string | null;
};

/** When to stop asking a model to go on. */
export type ContinuationLimit = {
  readonly maxTurns: number;
  readonly maxIdleTurns: number;
  readonly maxChars: number;
};

/** Where a forked step was copied from; `hash` is the content it had then. */
export type StepOrigin = { readonly stage: string; readonly step: string; readonly hash: string };

export type Step = {
  readonly key: string;
  readonly name: string;
  readonly jobType: 'PLAN' | 'EXECUTE';
  readonly granularity: Granularity;
  /** Name of the input that drives the fan-out. */
  readonly forEach: string | null;
  /** Path of the prompt within the stage folder; null where code makes the document. */
  readonly prompt: string | null;
  /** What code does in place of a model; null where a model writes. */
  readonly compute: Computation | null;
  /** Defects that code looks for in the answer; they go back to the writer once. */
  readonly checks: readonly (Check | StyleCheck)[];
  /** Name of the input that the answer only changes: code takes the rest over from it. */
  readonly extends: string | null;
  /** Name of the input that the answer replaces whole: a draft, which no check counts beside it. */
  readonly rewrites: string | null;
  /** What happens in a run of one participant, where there is nothing to merge or to rank. */
  readonly alone: 'run' | 'copy' | 'skip';
  /**
   * How the document is asked for once more where its citations stay wrong. Absent = it is marked, so
   * that the content hashes of stored recipes stay as they are.
   */
  readonly onUnsupported?: Exclude<Unsupported, 'mark'>;
  readonly output: StepOutput;
  readonly inputs: readonly StepInput[];
  /** Steps of the same stage to wait for beside those that the inputs name. */
  readonly after: readonly string[];
  readonly dependencyPolicy: 'all' | 'quorum' | 'any';
  /** Lanes that suffice under `quorum`; null means more than half. */
  readonly quorum: number | null;
  readonly continuation: ContinuationLimit;
  /** A skipped step stays in the recipe, for diff and merge, and never runs. */
  readonly skip: boolean;
  readonly origin: StepOrigin | null;
};

/** One number for all depths, or one for each. */
export type ByDepth = number | Readonly<Record<Depth, number>>;

/** The JSON Schema subset of contracts; docs/recipes.md lists the keywords. */
export type ContractNode = {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ContractNode>>;
  readonly required?: readonly string[];
  readonly items?: ContractNode;
  readonly additionalProperties?: boolean;
  readonly enum?: readonly (string | number | boolean)[];
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Statements in this section carry citation markers. */
  readonly 'x-cites'?: boolean;
  /** At the root of a contract: the share of statements with a figure or quotation that must cite. */
  readonly 'x-coverage'?: number;
  /** This section holds questions that people should answer. */
  readonly 'x-asks'?: boolean;
  /** False: what is here is for code; no template needs a place for it, and no reader gets it. */
  readonly 'x-shown'?: boolean;
  /** Code writes this field after the call; a model never sees it. */
  readonly 'x-fill'?: FillSource;
  /** How many words it should have: the document, at the root of a contract, or one place in it. */
  readonly 'x-words'?: ByDepth;
  /** How many records or points this list has at the most. */
  readonly 'x-items'?: ByDepth;
  /** The records of this list are of a kind that code reads, to check the plan. */
  readonly 'x-records'?: RecordKind;
};

export const FILL_SOURCES = [
  'lineage',
  'source_model',
  'own_model',
  'iteration',
  'document_key',
] as const;
export type FillSource = (typeof FILL_SOURCES)[number];

export const RECORD_KINDS = [
  'demands',
  'people',
  'work_items',
  'costs',
  'findings',
  'decisions',
  'figures',
  'calendar',
  'milestones',
  'gates',
  'prices',
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

export type Contract = ContractNode & {
  readonly type: 'object';
  readonly title: string;
  readonly properties: Readonly<Record<string, ContractNode>>;
};

/** Where a forked stage was copied from; `version` is the hash of that stage. */
export type StageOrigin = {
  readonly process: string;
  readonly stage: string;
  readonly version: string;
};

export type Stage = {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** Which lanes run the stage: all, or only the one that the ballots chose. */
  readonly lanes: 'all' | 'chosen';
  /** Path of the template of the stage's seed prompt; null where nothing reads one. */
  readonly seedPrompt: string | null;
  readonly steps: readonly Step[];
  readonly contracts: Readonly<Record<string, Contract>>;
  /** Text of prompts/*.md and templates/*.md by path within the stage folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly origin: StageOrigin | null;
};

/** Role, standards and style that prompts take up; layers merge, see mergeOverlays. */
export type Overlay = {
  readonly role?: string;
  readonly standards?: readonly string[];
  readonly style?: string;
};

export type DocumentRef = { readonly stage: string; readonly documentKey: string };

/** A document that people read first, and the folder that the export puts it into. */
export type ResultRef = DocumentRef & { readonly folder: string | null };

/** A document whose place a later one takes, in the same lane; its file then says so. */
export type Replacement = DocumentRef & { readonly by: DocumentRef };

/** How the lanes' rankings of the rival documents are read, to choose one lane. */
export type Convergence = {
  readonly candidates: DocumentRef;
  readonly ballots: DocumentRef;
  /** Dotted path from the ballot document to its list of rankings. */
  readonly rankings: string;
  /** Field of a ranking that names the option, and the one that gives its rank. */
  readonly option: string;
  readonly rank: string;
  /** `ignore`: a lane's own document is taken out of its ranking before the count. */
  readonly ownVotes?: OwnVotes;
};

export const OWN_VOTES = ['count', 'ignore'] as const;
export type OwnVotes = (typeof OWN_VOTES)[number];

/** Where the files of `Pending/` come from: one for each item of a list. */
export type WorkItems = DocumentRef & {
  readonly items: string;
  readonly id: string;
  readonly title: string;
};

export type Transition = { readonly from: string; readonly to: string; readonly gate: boolean };

export type Process = {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** In running order. */
  readonly stages: readonly Stage[];
  readonly transitions: readonly Transition[];
  readonly overlay: Overlay;
  readonly domains: Readonly<Record<string, Overlay>>;
  /** Text of shared/*.md by path within the process folder. */
  readonly shared: Readonly<Record<string, string>>;
  readonly results: readonly ResultRef[];
  /** The document that becomes the first page of the folder; null where code writes one. */
  readonly firstPage: DocumentRef | null;
  readonly replaced: readonly Replacement[];
  readonly convergence: Convergence | null;
  /** The first of these that a run makes fills `Pending/`. */
  readonly workItems: readonly WorkItems[];
  /** The stage after which a run may go on in one lane alone; null where it may not. */
  readonly writerAfter: string | null;
  /** The stage that asks the requester first; it runs only where a person is there to answer. */
  readonly askStage: string | null;
  /** The stage that writes the result for people; a run may leave it out. */
  readonly resultStage: string | null;
  readonly depth: Depth;
  /** Stages that this run leaves out; optional inputs may still name them. */
  readonly omitted: readonly string[];
};

/** The kinds of defects. */
export type IssueCode =
  | 'yaml_invalid'
  | 'file_missing'
  | 'field_invalid'
  | 'unknown_strategy'
  | 'duplicate_key'
  | 'missing_producer'
  | 'never_produced'
  | 'cycle'
  | 'driver_invalid'
  | 'anchor_tie'
  | 'anchor_missing'
  | 'ballot_not_blind'
  | 'prompt_invalid'
  | 'prompt_variable_unknown'
  | 'template_invalid'
  | 'template_field_unknown'
  | 'contract_field_unplaced'
  | 'no_room'
  | 'reference_unknown'
  | 'transition_invalid'
  | 'input_unsatisfied'
  | 'input_ambiguous';

/** One defect of a recipe and the place to correct it. */
export type RecipeIssue = {
  readonly code: IssueCode;
  readonly message: string;
  readonly file: string;
  /** One-based; 1 where the file is missing or empty. */
  readonly line: number;
  /** For example `steps[2].inputs[0].document_key`; empty for the file as a whole. */
  readonly field: string;
};

/** Line of each YAML node: file, then JSON pointer. JSON-serialisable. */
export type LineIndex = Readonly<Record<string, Readonly<Record<string, number>>>>;
