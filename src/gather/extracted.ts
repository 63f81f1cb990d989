import type { Description } from './describe-markdown.ts';

/** The text of a file or page, and what it says about itself. */
export type Extracted = { readonly text: string; readonly about: Description };

/** Bytes that hold no text; the message completes a sentence that begins with their place. */
export class Unreadable extends Error {}
