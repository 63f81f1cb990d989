import type { PlannedJob } from '../planning/types.ts';
import { GUIDANCE_SECTION, sectionsOf } from '../recipe/portions.ts';
import { toWords } from '../text/markdown-blocks.ts';
import type { JobInput } from './job-input.ts';
import { isRecord } from './json-reader.ts';

/** What a request says of the plan of its stage. */
type Guided = {
  readonly planned: Pick<PlannedJob, 'documentKey'>;
  readonly inputs: readonly JobInput[];
  readonly portions?: readonly string[];
  readonly guidance?: JobInput;
};

/** The label of the guidance where it is a document of its own. */
const LABEL = 'guidance';
/** What the task says in its place: the same where the document was left out, to fit. */
export const POINTER = `(See the document "${LABEL}" above, if any.)`;

/** What the stage's plan says to the writer of the document; a line where that stands elsewhere. */
export function findHeader(guided: Guided) {
  const header = planIn(guided);
  if (!header) return undefined;
  const own = readHeader(header.content, guided.planned.documentKey, guided.portions);
  return guided.guidance === undefined ? own : { ...own, guidance: POINTER };
}

const planIn = ({ inputs }: Guided): JobInput | undefined =>
  inputs.find(({ type }) => type === 'header_context');

/**
 * The guidance for the document, or for the portions that are asked for, as a document of its own
 * behind all others, which no other request has; undefined where there is none.
 */
export function guidanceDocument({ guidance: _packed, ...guided }: Guided): JobInput | undefined {
  const [header, own] = [planIn(guided), findHeader(guided)];
  if (!header || !own || own.guidance === '') return undefined;
  const { name, type, stage, document_key } = header;
  const place = Number.MAX_SAFE_INTEGER;
  const words = { label: LABEL, title: LABEL, text: own.guidance };
  return { name, type, stage, document_key, place, order: LABEL, ...words, content: null };
}

/** All documents of a request, with the guidance where it is one of them. */
export const documentsOf = ({ inputs, guidance }: Guided): readonly JobInput[] =>
  guidance === undefined ? inputs : [...inputs, guidance];

/** What the stage's plan says about one document, or about some of its sections. */
function readHeader(content: unknown, documentKey: string, portions?: readonly string[]) {
  const record = isRecord(content) ? content : {};
  const entries = Array.isArray(record[GUIDANCE_SECTION])
    ? record[GUIDANCE_SECTION].filter(isRecord)
    : [];
  const own = entries.find((entry) => entry['document_key'] === documentKey);
  const guidance = own?.['content_to_include'] ?? own ?? '';
  return {
    guidance: isRecord(guidance) ? listGuidance(guidance, portions) : toWords(guidance),
    materials: toWords(record['system_materials'] ?? ''),
  };
}

/** An item for each section, so that what is said of one reads the same without the others. */
function listGuidance(guidance: object, portions?: readonly string[]): string {
  const only = portions && sectionsOf(portions);
  return Object.entries(guidance)
    .filter(([key, said]) => (only?.includes(key) ?? true) && toWords(said) !== '')
    .map(([key, said]) => `- ${toWords({ [key]: said })}`)
    .join('\n');
}
