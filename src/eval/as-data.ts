import { asAttribute, dataWriter } from '../text/prompt-data.ts';
import type { Reading } from './reading.ts';
import type { Label } from './rubric.ts';

/** A text cannot close the block that holds it, or open one of its own. */
const asData = dataWriter(['request', 'folder', 'file', 'faults']);

/** The brief as all prompts show it. */
export const showRequest = (brief: string): string => `<request>\n${asData(brief)}\n</request>`;

/** The faults of a draft, as its writer is given them back. */
export const showFaults = (faults: readonly string[]): string =>
  `<faults>\n${faults.map((one, at) => `${at + 1}. ${asData(one)}`).join('\n')}\n</faults>`;

/** A folder. A judge cannot feel how long a text is: the time that it takes a person is told. */
export function showFolder(label: Label | 'draft', { files, words, minutes }: Reading): string {
  const shown = files.map(
    ({ name, text }) => `<file name="${asAttribute(name)}">\n${asData(text)}\n</file>`,
  );
  const head = `<folder label="${label}" words="${words}" minutes_of_reading="${minutes}">`;
  return [head, ...shown, '</folder>'].join('\n');
}

/** The brief and two folders, of which nobody is told who wrote them. */
export const showPair = (brief: string, x: Reading, y: Reading): string =>
  [showRequest(brief), showFolder('X', x), showFolder('Y', y)].join('\n\n');
