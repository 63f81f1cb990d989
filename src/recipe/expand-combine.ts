import { type InputFile, inputFromFile, type StepFile, stepFromFile } from './file-shape.ts';
import type { Contract, Stage, Step } from './types.ts';

/** What a stage gets for the inputs that are to be combined. */
type Expanded = Pick<Stage, 'steps' | 'contracts' | 'files'>;

const CONTRACT = 'contracts/_combined.yaml';
const TEMPLATE = 'templates/_combined.md';

/**
 * Steps with `combine: true` at an input: before such a step the same participant merges the documents
 * of the input into one, and the step reads that in their place. The merging is a step like any other,
 * put behind those of the file, so that planning, money, windows and exports know nothing new.
 */
export function expandCombine(
  stageKey: string,
  raw: readonly StepFile[],
  given: Expanded,
): Expanded {
  const combining = raw.flatMap((step) =>
    step.inputs
      .filter(({ combine }) => combine === true)
      .map((input) => ({ step, input, reads: inputFromFile(input, stageKey) })),
  );
  if (combining.length === 0) return given;
  const made = combining.map(({ step, input, reads }) => {
    const key = `${step.key}_${reads.name}`.replaceAll('-', '_');
    return { reader: step.key, reads, key, step: mergingStep(stageKey, key, input, step.name) };
  });
  const steps = given.steps.map((step) => ({
    ...step,
    inputs: step.inputs.map((input) => {
      const own = made.find(
        ({ reader, reads }) => reader === step.key && reads.name === input.name,
      );
      if (!own) return input;
      const merged: InputFile = { type: 'document', document_key: own.step.output.documentKey };
      const { relevance, required } = input;
      return { ...inputFromFile({ ...merged, name: input.name, relevance, required }, stageKey) };
    }),
  }));
  const prompts = made.map(
    ({ step, reads }) => [step.prompt ?? '', promptFor(reads.name)] as const,
  );
  return {
    steps: [...steps, ...made.map((one) => one.step)],
    contracts: { [CONTRACT]: COMBINED, ...given.contracts },
    files: { [TEMPLATE]: PAGE, ...Object.fromEntries(prompts), ...given.files },
  };
}

function mergingStep(stageKey: string, key: string, input: InputFile, reader: string): Step {
  const { combine: _asked, ...plain } = input;
  const file: StepFile = {
    key: `combine_${key}`,
    name: `Combine for: ${reader}`,
    job_type: 'EXECUTE',
    granularity: 'all_to_one',
    prompt: `prompts/_combine_${key}.md`,
    inputs: [plain],
    output: {
      kind: 'document',
      document_key: `${key}_combined`,
      contract: CONTRACT,
      template: TEMPLATE,
    },
  };
  return { ...stepFromFile(file), inputs: [inputFromFile(plain, stageKey)] };
}

const COMBINED: Contract = {
  type: 'object',
  title: 'Combined documents',
  description: 'Several documents as one text in which nothing of substance is lost.',
  required: ['text'],
  properties: {
    text: {
      type: 'string',
      description:
        'The merged text as Markdown with headings: every fact, figure, name, demand, reason and condition of the documents, each once.',
      'x-cites': true,
    },
    differences: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Where the documents contradict each other: the positions side by side, each with the label of its document and what it rests on.',
    },
    singular: {
      type: 'array',
      items: { type: 'string' },
      description: 'What only one of the documents says, with its label, so that it is not lost.',
    },
  },
};

const PAGE = `# {{ document.title }}

{{ content.text | markdown: 2 }}
{%- assign differences = content.differences | markdown: 3 %}
{%- if differences != '' %}

## Where they differ

{{ differences }}
{%- endif %}
{%- assign singular = content.singular | markdown: 3 %}
{%- if singular != '' %}

## Said by one alone

{{ singular }}
{%- endif %}
`;

const GOOD = [
  '- Every fact, figure, name, date, demand, argument, risk and condition of every document is there, in its most precise form. What several say is said once; what one alone says is kept.',
  '- Labels stay with what they mark; citations and ids stay with their statements, unchanged.',
  '- Where documents contradict each other, both positions stand side by side. Nothing is averaged, decided or improved.',
  '- Only repetition, courtesies and announcements are left out. The order follows the subject, not the documents.',
];

const promptFor = (name: string): string => `In this task you act as the editor who loses nothing.

# Task: {{ document.title }}

Combine the documents below into one. Whoever reads it will not see them.

## What you have
{% for one in inputs.${name} %}
- {{ one.label }} ({{ one.title }})
{%- endfor %}

## What good looks like

${GOOD.join('\n')}

## Deliver

One JSON object with these sections as its keys:
{% for section in document.sections %}
- \`{{ section.key }}\` ({{ section.type }}, {% if section.required %}required{% else %}optional{% endif %}): {{ section.description }}
{%- endfor %}
`;
