import type { JsonSchema } from '../text/json-schema.ts';
import { MOST } from './bounds.ts';
import {
  CHECKS,
  COMPUTATIONS,
  DEPTHS,
  FILL_SOURCES,
  GRANULARITIES,
  INPUT_TYPES,
  OWN_VOTES,
  RECORD_KINDS,
  STYLE_CHECKS,
  UNSUPPORTED,
} from './types.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const text = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description });
const flag = (fallback: boolean, description: string): JsonSchema => ({
  type: 'boolean',
  default: fallback,
  description,
});
const count = (fallback: number | undefined, maximum: number, description: string): JsonSchema => ({
  type: 'integer',
  minimum: 1,
  maximum,
  ...(fallback === undefined ? {} : { default: fallback }),
  description,
});
const choice = (values: readonly string[], description: string): JsonSchema => ({
  enum: values,
  description,
});
const record = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  description: string,
): JsonSchema => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: false,
});
const key = (description: string): JsonSchema => ({
  type: 'string',
  // Names of files are made of keys; 100 characters leave room for the rest of the name.
  pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}_.-]{0,99}$',
  description,
});
const file = (folder: string, ending: string, description: string): JsonSchema => ({
  type: 'string',
  pattern: `^${folder}/[^/]+\\.${ending}$`,
  description,
});
const list = (items: JsonSchema, description: string): JsonSchema => ({
  type: 'array',
  items,
  description,
});

const documentRef = (description: string): JsonSchema =>
  record(
    { stage: key('Stage that makes the document.'), document_key: key('Its document key.') },
    ['stage', 'document_key'],
    description,
  );

/** Schema of one overlay layer, in process.yaml or in a file of its own. */
export const OVERLAY_SCHEMA = record(
  {
    role: text('Who the model is to be; a later layer replaces it.'),
    standards: list(text('One standard.'), 'Standards to keep; layers add up.'),
    style: text('How to write; a later layer replaces it.'),
  },
  [],
  'Role, standards and style. Layers merge: system, domain, project, session.',
);

/** Schema of process.yaml; recipes/process.schema.json is this, for editors. */
export const PROCESS_SCHEMA: JsonSchema = {
  $schema: DIALECT,
  title: 'Dialectic process',
  ...record(
    {
      key: key('Identity of the process.'),
      name: text('Display name.'),
      description: { type: 'string', description: 'What the process is for.' },
      stages: {
        ...list(key('Folder of the stage.'), 'Stage keys in running order.'),
        minItems: 1,
      },
      transitions: list(
        record(
          {
            from: key('Stage that ends.'),
            to: key('Stage that follows it.'),
            gate: flag(false, 'Wait for a person to approve before going on.'),
          },
          ['from', 'to'],
          'One step from a stage to the next.',
        ),
        'Gates between consecutive stages; pairs that are not listed have none.',
      ),
      overlay: OVERLAY_SCHEMA,
      domains: {
        type: 'object',
        additionalProperties: OVERLAY_SCHEMA,
        description: 'Overlay by domain name.',
      },
      results: list(
        record(
          {
            stage: key('Stage that makes the document.'),
            document_key: key('Its document key.'),
            folder: key('Folder of the export that holds it under its title.'),
          },
          ['stage', 'document_key'],
          'One result.',
        ),
        'Documents that a reader should see first.',
      ),
      first_page: documentRef('The document that becomes project_readme.md.'),
      replaced: list(
        record(
          {
            stage: key('Stage that makes the document.'),
            document_key: key('Its document key.'),
            by: documentRef('The later document that takes its place.'),
          },
          ['stage', 'document_key', 'by'],
          'One document that a later one of the same lane replaces.',
        ),
        'Documents that a reader should not take for the last word; their files say so first.',
      ),
      convergence: record(
        {
          candidates: documentRef('The rival documents that are ranked.'),
          ballots: documentRef('The documents that hold the rankings.'),
          rankings: text('Dotted path in the ballot to its list of rankings.'),
          option: text('Field of a ranking that names the option.'),
          rank: text('Field of a ranking that gives the rank; 1 is best.'),
          own_votes: {
            ...choice(OWN_VOTES, "Whether a lane's ranking of its own document counts."),
            default: 'count',
          },
        },
        ['candidates', 'ballots', 'rankings', 'option', 'rank'],
        'How the lanes choose the plan that the readme and every hand-over follow.',
      ),
      work_items: list(
        record(
          {
            stage: key('Stage that makes the document.'),
            document_key: key('Its document key.'),
            items: text('Dotted path in the document to the list of items.'),
            id: text('Field of an item that identifies it.'),
            title: text('Field of an item that names it.'),
          },
          ['stage', 'document_key', 'items', 'id', 'title'],
          'A list of items in a document.',
        ),
        'What fills Pending/, one file for each item: the first of these that the run makes.',
      ),
      writer_after: key('Stage after which one lane may go on alone; a stage must follow it.'),
      ask_stage: key('Stage that asks the requester first; runs with --ask.'),
      result_stage: key('Stage that writes the result; left out with --no-result.'),
      depth: { ...choice(DEPTHS, 'How much is written; --depth sets it.'), default: 'standard' },
      omitted: list(
        key('Key of a stage.'),
        'Stages left out; optional inputs may still name them.',
      ),
    },
    ['key', 'name', 'stages'],
    'A process: stages in order.',
  ),
};

const input = record(
  {
    name: key('How for_each and prompts call it.'),
    type: choice(INPUT_TYPES, 'What kind of thing is read.'),
    stage: key('Stage that makes it; this stage if absent.'),
    document_key: key('Which document, header context or kind of resource.'),
    scope: { ...choice(['own', 'all'], 'Own lane, or all lanes.'), default: 'own' },
    iteration: {
      ...choice(['current', 'previous'], 'This pass, or the one before.'),
      default: 'current',
    },
    multiple: flag(false, 'One job may receive several.'),
    required: flag(true, 'The job cannot run without it.'),
    relevance: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Weight for fitting the window and for the anchor.',
    },
    join: choice(['lineage', 'all'], 'Only what belongs to the branch of the job, or all.'),
    shown: flag(true, 'False: it drives, anchors and is waited for, but no prompt shows it.'),
    combine: flag(false, 'True: a model merges the documents into one before the step reads them.'),
  },
  ['type'],
  'One thing that the step reads.',
);

const output = record(
  {
    kind: choice(['document', 'header_context'], 'PLAN steps make header contexts.'),
    document_key: key('Key of what is made; unique in the stage.'),
    contract: file('contracts', 'yaml', 'contracts/*.yaml'),
    template: file('templates', 'md', 'templates/*.md; absent means JSON only.'),
  },
  ['kind', 'document_key', 'contract'],
  'What the step makes.',
);

const step = record(
  {
    key: key('Unique in the stage.'),
    name: text('Display name.'),
    job_type: choice(['PLAN', 'EXECUTE'], 'PLAN makes a header context, EXECUTE a document.'),
    granularity: {
      ...choice(GRANULARITIES, 'How the step is split into jobs.'),
      default: 'per_source_document',
    },
    for_each: key('Name of the driver input.'),
    prompt: file('prompts', 'md', 'prompts/*.md'),
    compute: choice(COMPUTATIONS, 'What code makes in place of a model; then without a prompt.'),
    checks: list(
      choice([...CHECKS, ...STYLE_CHECKS], 'One defect.'),
      'Defects that code looks for in the answer; they go back to the writer once.',
    ),
    extends: key('Input that the answer only changes; code takes the rest over from it.'),
    rewrites: key('Input that the answer replaces whole; no check counts it beside the answer.'),
    alone: {
      ...choice(['run', 'copy', 'skip'], 'What happens in a run of one participant.'),
      default: 'run',
    },
    on_unsupported: {
      ...choice(
        UNSUPPORTED,
        'What follows where citations stay wrong: a mark, or up to two more requests first.',
      ),
      default: 'mark',
    },
    inputs: list(input, 'What the step reads.'),
    output,
    after: list(key('Key of a step.'), 'Steps to wait for beside those that inputs imply.'),
    dependency_policy: {
      ...choice(['all', 'quorum', 'any'], 'Which lanes must have delivered.'),
      default: 'all',
    },
    quorum: count(
      undefined,
      MOST.quorum,
      'Lanes that suffice under quorum; more than half if absent.',
    ),
    continuation: record(
      {
        max_turns: count(
          60,
          MOST.turns,
          'Calls for one document, or for one portion of it in a small window, in all.',
        ),
        max_idle_turns: count(3, MOST.idleTurns, 'Continuations in a row without progress.'),
        max_chars: count(400_000, MOST.chars, 'Length of the whole text.'),
      },
      [],
      'When to stop asking the model to go on.',
    ),
    skip: flag(false, 'Leave the step out of every run.'),
    origin: record(
      { stage: key('Stage.'), step: key('Step.'), hash: text('Its content then.') },
      ['stage', 'step', 'hash'],
      'Written by fork: where the step was copied from.',
    ),
  },
  ['key', 'name', 'job_type', 'inputs', 'output'],
  'One step of the stage.',
);

/** Schema of stage.yaml; recipes/stage.schema.json is this, for editors. */
export const STAGE_SCHEMA: JsonSchema = {
  $schema: DIALECT,
  title: 'Dialectic stage',
  ...record(
    {
      key: key('Identity of the stage; equals its folder.'),
      name: text('Display name.'),
      description: { type: 'string', description: 'What the stage does.' },
      lanes: {
        ...choice(['all', 'chosen'], 'Who takes part; chosen: the lane that the ballots chose.'),
        default: 'all',
      },
      seed_prompt: file('prompts', 'md', 'Template of the seed prompt of the stage.'),
      steps: { ...list(step, 'The steps.'), minItems: 1 },
      origin: record(
        { process: key('Process.'), stage: key('Stage.'), version: text('Its content hash.') },
        ['process', 'stage', 'version'],
        'Written by fork: where the stage was copied from.',
      ),
    },
    ['key', 'name', 'steps'],
    'A stage: one move of the debate.',
  ),
};

const JSON_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

const byDepth = (maximum: number, what: string): JsonSchema => ({
  anyOf: [
    { type: 'integer', minimum: 1, maximum },
    record(
      Object.fromEntries(DEPTHS.map((depth) => [depth, { type: 'integer', minimum: 0, maximum }])),
      DEPTHS,
      'By depth.',
    ),
  ],
  // The message where neither form fits: it has to name the bound.
  description: `must be at most ${maximum}: ${what}`,
});

const contractNode: JsonSchema = record(
  {
    type: {
      anyOf: [{ enum: JSON_TYPES }, { type: 'array', items: { enum: JSON_TYPES }, minItems: 1 }],
      description: `One of ${JSON_TYPES.join(', ')}, or a list of them.`,
    },
    title: text('Heading.'),
    description: text('What belongs here; models read it.'),
    properties: { type: 'object', additionalProperties: { $ref: '#/$defs/node' } },
    required: list({ type: 'string' }, 'Fields that must be there and not empty.'),
    items: { $ref: '#/$defs/node' },
    additionalProperties: { type: 'boolean' },
    enum: { type: 'array', items: { type: ['string', 'number', 'boolean'] }, minItems: 1 },
    minItems: { type: 'integer', minimum: 0, maximum: MOST.items },
    minLength: { type: 'integer', minimum: 0, maximum: MOST.length },
    minimum: { type: 'number' },
    maximum: { type: 'number' },
    'x-cites': flag(false, 'The statements here carry citations.'),
    'x-coverage': {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'At the root: the share of statements that must cite, where there are sources.',
    },
    'x-asks': {
      type: 'boolean',
      description: 'The questions here are for people to answer; absent: open_questions are.',
    },
    'x-shown': flag(true, 'False: for code alone; it stays in the JSON and out of the Markdown.'),
    'x-fill': choice(FILL_SOURCES, 'Code writes this after the call; the model never sees it.'),
    'x-words': byDepth(
      MOST.words,
      'how many words the document, or this place in it, should have.',
    ),
    'x-items': byDepth(MOST.items, 'on a list, how many records or points it has at the most.'),
    'x-records': choice(RECORD_KINDS, 'Code reads the records of this list, to check the plan.'),
  },
  [],
  'One section or field.',
);

/** Schema of contracts/*.yaml; recipes/contract.schema.json is this, for editors. */
export const CONTRACT_SCHEMA: JsonSchema = {
  $schema: DIALECT,
  ...contractNode,
  title: 'Dialectic document contract',
  description: 'JSON Schema of one document; its properties are the sections.',
  properties: {
    ...contractNode.properties,
    type: { const: 'object' },
    properties: {
      type: 'object',
      minProperties: 1,
      additionalProperties: { $ref: '#/$defs/node' },
    },
  },
  required: ['type', 'title', 'properties'],
  $defs: { node: contractNode },
};
