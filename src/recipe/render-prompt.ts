import { renderLiquid } from '../text/liquid.ts';
import { freezeDeep, Memo, onceFor } from '../text/memo.ts';
import {
  type DocumentView,
  describeDocument,
  documentsGuidedBy,
  type Section,
} from './contract.ts';
import { isShown } from './edges.ts';
import type { MergedOverlay } from './overlays.ts';
import { entriesOf, entryPortion, GUIDANCE_SECTION, piecesOf, sectionsOf } from './portions.ts';
import type { Process, Stage, Step } from './types.ts';

export const RESOURCE_KINDS = [
  'deployment_context',
  'domain_standards',
  'success_criteria',
  'constraint_boundaries',
  'stakeholder_considerations',
  'reference_documents',
  'compliance_requirements',
] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** What every prompt may use, whatever the step. */
export type PromptFacts = {
  readonly userRequest: string;
  readonly iteration: number;
  /** The day that every prompt of the session calls today (YYYY-MM-DD); absent where none is known. */
  readonly date?: string | null;
  readonly project: { readonly name: string; readonly domain: string };
  readonly resources: Readonly<Partial<Record<ResourceKind, string>>>;
  readonly overlay: MergedOverlay;
};

/** One input as a prompt speaks of it: by label, never by author. */
export type PromptInput = {
  readonly label: string;
  readonly stage: string;
  readonly document_key: string;
  readonly title: string;
};

/** What the prompt of one job may use beside the facts. */
export type PromptJob = {
  /** By input name; absent inputs may be left out. */
  readonly inputs: Readonly<Record<string, readonly PromptInput[]>>;
  readonly header?: { readonly guidance: string; readonly materials: string };
  /** The portions that the prompt asks for; absent = all. */
  readonly portions?: readonly string[];
  /** How many sources the document may cite; absent = none. */
  readonly sourceCount?: number;
};

type Texts = Readonly<Record<string, string>>;

/** By stage: what was shared when its texts were put together. */
const textsOf = new WeakMap<Stage, { readonly shared: Texts; readonly texts: Texts }>();

/**
 * Texts of a stage, its own and those that the process shares: the same object each time, by which
 * their parsed templates are known.
 */
export function promptTexts({ shared }: Pick<Process, 'shared'>, stage: Stage): Texts {
  const known = textsOf.get(stage);
  if (known?.shared === shared) return known.texts;
  const texts = { ...shared, ...stage.files };
  textsOf.set(stage, { shared, texts });
  return texts;
}

/** The seed prompt of a stage. */
export function renderSeedPrompt(process: Process, stage: Stage, facts: PromptFacts): string {
  if (stage.seedPrompt === null) return facts.userRequest;
  return renderLiquid(
    promptTexts(process, stage),
    stage.seedPrompt,
    factsScope(process, stage, facts),
  );
}

/** Lists of inputs of the debates that are under way. */
const MOST_LISTS = 1_000;
const lists = new Memo<readonly PromptInput[]>(MOST_LISTS);

/** Lanes and turns read alike: what a prompt says of an equal list is known by its object. */
const sameList = (inputs: readonly PromptInput[]): readonly PromptInput[] =>
  lists.get(JSON.stringify(inputs), () => freezeDeep(structuredClone(inputs)));

/** The prompt of one job of a step. */
export function renderPrompt(
  process: Process,
  stage: Stage,
  step: Step,
  facts: PromptFacts,
  job: PromptJob,
): string {
  if (step.prompt === null) return '';
  return renderLiquid(promptTexts(process, stage), step.prompt, {
    ...factsScope(process, stage, facts),
    step: { key: step.key, name: step.name },
    document: ofJob(describeDocument(stage, step), job),
    inputs: listInputs(step, job),
    sources: { count: job.sourceCount ?? 0 },
    ...(readsHeader(step) ? { header: job.header ?? { guidance: '', materials: '' } } : {}),
    ...(step.jobType === 'PLAN' ? { guided_documents: guidedDocuments(stage, step, job) } : {}),
  });
}

/** A text that a prompt takes in as it stands there, where nothing but the inputs is given to it. */
export const renderShared = (
  process: Process,
  stage: Stage,
  step: Step,
  file: string,
  job: Pick<PromptJob, 'inputs'>,
): string => renderLiquid(promptTexts(process, stage), file, { inputs: listInputs(step, job) });

function listInputs({ inputs }: Step, job: Pick<PromptJob, 'inputs'>): PromptJob['inputs'] {
  const shown = inputs.filter(isShown);
  return Object.fromEntries(shown.map(({ name }) => [name, sameList(job.inputs[name] ?? [])]));
}

/** The sections that a job asks for; without sources, none of them cites any. */
function ofJob(document: DocumentView, { portions, sourceCount = 0 }: PromptJob): DocumentView {
  const asked = onlySections(document, portions);
  return sourceCount > 0 ? asked : uncited(asked);
}

/** One object for each document, by which what prompts say of it is known. */
const uncited = onceFor(
  (document: DocumentView): DocumentView =>
    freezeDeep({
      ...document,
      cites: false,
      sections: document.sections.map(withoutCitations),
    }),
);

const withoutCitations = (section: Section): Section => ({
  ...section,
  cites: false,
  fields: section.fields.map(withoutCitations),
});

function onlySections(document: DocumentView, portions: PromptJob['portions']): DocumentView {
  if (portions === undefined) return document;
  const only = sectionsOf(portions);
  const sections = document.sections
    .filter(({ key }) => only.includes(key))
    .map((section) => {
      const fields = section.key === GUIDANCE_SECTION ? [] : piecesOf(portions, section.key);
      return { ...section, fields: pick(section.fields, fields) };
    });
  return { ...document, sections };
}

/** The sections of these keys; all where none is named. */
const pick = (sections: readonly Section[], keys: readonly string[]): readonly Section[] =>
  keys.length === 0 ? sections : sections.filter(({ key }) => keys.includes(key));

/** Whether `header` is among the variables of the step's prompt. */
export const readsHeader = (step: Step): boolean =>
  step.inputs.some((input) => input.type === 'header_context' && isShown(input));

/** What the steps that read this header make; by title alone where no guidance for it is asked for. */
function guidedDocuments(
  stage: Stage,
  step: Step,
  { portions }: PromptJob,
): readonly DocumentView[] {
  const documents = documentsGuidedBy(stage, step);
  if (portions === undefined || portions.includes(GUIDANCE_SECTION)) return documents;
  const entries = entriesOf(portions);
  return documents.map((document) =>
    entries.includes(document.key)
      ? {
          ...document,
          sections: pick(document.sections, piecesOf(portions, entryPortion(document.key))),
        }
      : { ...document, description: '', words: 0, sections: [] },
  );
}

function factsScope(process: Process, stage: Stage, facts: PromptFacts): object {
  const resources: Record<string, string> = {};
  for (const kind of RESOURCE_KINDS) resources[kind] = facts.resources[kind] ?? '';
  return {
    user_request: facts.userRequest,
    iteration: facts.iteration,
    project: facts.project,
    resources,
    overlay: facts.overlay,
    process: { key: process.key, name: process.name, depth: process.depth },
    stage: { key: stage.key, name: stage.name, description: stage.description },
  };
}
