import { dataWriter } from '../text/prompt-data.ts';

/** A text cannot close the block that holds it, or open one of its own. */
export const asData = dataWriter(['request', 'folder', 'file']);
