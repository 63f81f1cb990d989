import type { JsonRecord } from '../generation/json-reader.ts';
import { toWords } from '../text/markdown-blocks.ts';
import { asData } from './as-data.ts';
import { askModel, type EvalDeps } from './ask-model.ts';
import { type Spending, SpendingTally } from './spending.ts';

/** The five files of a single prompt, in the order of reading. */
export const SINGLE_FILES = [
  '1_first_page.md',
  '2_requirements.md',
  '3_architecture.md',
  '4_master_plan.md',
  '5_work_plan.md',
];

const CONTRACT = {
  type: 'object',
  required: ['files'],
  properties: {
    files: {
      type: 'array',
      minItems: SINGLE_FILES.length,
      items: {
        type: 'object',
        required: ['name', 'text'],
        properties: { name: { type: 'string', enum: SINGLE_FILES }, text: { type: 'string' } },
      },
    },
  },
};

const SYSTEM =
  'You are an experienced planner. You answer with one JSON object in the language of the request.';

const promptFor = (words: number): string =>
  `Requirements, architecture, master plan, work plan, and a first page: write these for the request above, as five Markdown files in one pass. People will decide and work by them, and have nothing else.

Together they have about ${words.toLocaleString('en')} words: not much less and not more.

Answer with one JSON object: {"files": [{"name": "…", "text": "…"}]}. The names are ${SINGLE_FILES.join(', ')}; each text is the whole file in Markdown.`;

export type SingleRequest = {
  readonly model: string;
  readonly brief: string;
  readonly words: number;
};

/** What the debate has to beat: everything in one request to one model. */
export async function writeSingle(
  deps: EvalDeps,
  request: SingleRequest,
): Promise<{ readonly files: ReadonlyMap<string, string>; readonly spent: Spending }> {
  const { model, brief, words } = request;
  const tally = new SpendingTally();
  const question = {
    model,
    system: SYSTEM,
    material: `<request>\n${asData(brief)}\n</request>`,
    prompt: promptFor(words),
    key: 'single',
    contract: CONTRACT,
    findProblems,
  };
  const files = readFiles(await askModel(deps, question, tally));
  return { files, spent: tally.sum() };
}

function findProblems(content: JsonRecord): string[] {
  const files = readFiles(content);
  return SINGLE_FILES.filter((name) => (files.get(name) ?? '').trim() === '').map(
    (name) => `The file ${name} is missing or empty.`,
  );
}

/** By name; the contract has made sure of the shape, and lets prose come as a list of lines. */
function readFiles(content: JsonRecord): Map<string, string> {
  const files = (content['files'] as JsonRecord[]).map(({ name, text }): [string, string] => {
    const lines = Array.isArray(text) ? text.map(toWords).join('\n') : toWords(text);
    return [toWords(name).toLowerCase(), `${lines.trim()}\n`];
  });
  return new Map(files);
}
