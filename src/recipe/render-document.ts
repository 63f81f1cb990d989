import { contractOf, describeDocument } from './contract.ts';
import { isRecord } from './json-schema.ts';
import { renderLiquid } from './liquid.ts';
import { humanise, toMarkdown } from './markdown.ts';
import { promptTexts } from './prompt.ts';
import type { ContractNode, Process, Stage, Step } from './types.ts';

type Leftover = { readonly title: string; readonly value: unknown };

/**
 * A document's JSON as Markdown, by the step's template. Optional sections that are absent print
 * nothing; whatever the contract does not foresee gets a place at the end.
 */
export function renderDocument(
  process: Pick<Process, 'shared'>,
  stage: Stage,
  step: Step,
  content: Readonly<Record<string, unknown>>,
): string {
  const document = describeDocument(stage, step);
  if (step.output.template === null)
    return joinBlocks([`# ${document.title}`, toMarkdown(content, 2)]);
  const leftovers: Leftover[] = [];
  const fitted = fitToContract(contractOf(stage, step) ?? {}, content, '', leftovers);
  const texts = promptTexts(process, stage);
  const scope = { document, content: fitted };
  const body = renderLiquid(texts, step.output.template, scope, { strict: false });
  const appendix = leftovers.map(({ title, value }) => {
    const text = toMarkdown(value, 3);
    return text === '' ? '' : `## ${title}\n\n${text}`;
  });
  return joinBlocks([body, ...appendix]);
}

const joinBlocks = (blocks: readonly string[]): string => {
  const tidy = blocks.map((block) => block.replaceAll(/\n{3,}/g, '\n\n').trim());
  return `${tidy.filter((block) => block !== '').join('\n\n')}\n`;
};

/** The value in the shape that templates count on; what does not fit goes to the leftovers. */
function fitToContract(
  node: ContractNode,
  value: unknown,
  title: string,
  leftovers: Leftover[],
): unknown {
  if (value === null || value === undefined) return null;
  if (node.properties !== undefined) return fitRecord(node.properties, value, title, leftovers);
  if (node.items?.properties === undefined) return value;
  const items = Array.isArray(value) ? value : [value];
  return items
    .map((item: unknown, index) =>
      fitToContract(node.items ?? {}, item, `${title} ${index + 1}`.trim(), leftovers),
    )
    .filter((item) => item !== null);
}

function fitRecord(
  fields: Readonly<Record<string, ContractNode>>,
  value: unknown,
  title: string,
  leftovers: Leftover[],
): unknown {
  if (!isRecord(value)) {
    leftovers.push({ title, value });
    return null;
  }
  const fitted: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    const name = title === '' ? humanise(key) : `${title}: ${humanise(key)}`;
    const node = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (node === undefined) leftovers.push({ title: name, value: child });
    else fitted[key] = fitToContract(node, child, name, leftovers);
  }
  return fitted;
}
