import { hash } from 'node:crypto';
import { createEngine, parseTemplate } from '../text/liquid.ts';
import { findVariableUses, type IncludeFault, type VariableUse } from '../text/liquid-paths.ts';
import { Memo } from '../text/memo.ts';
import { promptTexts } from './render-prompt.ts';
import type { Process, Stage } from './types.ts';

/** What a prompt or a template uses, and what is wrong with it or with what it includes. */
type TextUses = {
  /** Null where the text itself is no template. */
  readonly uses: readonly VariableUse[] | null;
  readonly faults: readonly IncludeFault[];
};

/** Reads the texts of a stage, each of them once. */
export type TextReader = {
  readonly has: (file: string) => boolean;
  readonly read: (file: string) => TextUses;
};

/**
 * A run checks its recipe before the estimate, at the start and for each number of lanes; LiquidJS
 * takes 0.1 s for the texts of a whole process each time. Stages with the same texts share a reader.
 */
const readers = new Memo<TextReader>(60);

/** The reader of a stage's own texts and of those that the process shares. */
export function readerOf(process: Pick<Process, 'shared'>, stage: Stage): TextReader {
  const texts = promptTexts(process, stage);
  return readers.get(hash('sha256', JSON.stringify(texts)), () => createReader(texts));
}

function createReader(texts: Readonly<Record<string, string>>): TextReader {
  const engine = createEngine(texts);
  const known = new Map<string, TextUses>();
  const find = (file: string): TextUses => {
    const parsed = parseTemplate(engine, texts[file] ?? '', file);
    if ('fault' in parsed) return { uses: null, faults: [{ ...parsed.fault, file }] };
    return findVariableUses(parsed.templates, file);
  };
  return {
    has: (file) => Object.hasOwn(texts, file),
    read: (file) => {
      const found = known.get(file) ?? find(file);
      known.set(file, found);
      return found;
    },
  };
}
