import type { Author } from './paths.ts';

/** A slash would make a folder. */
const nameModel = (model: string): string => model.replaceAll('/', '-');

/**
 * The participants of a session as file names tell them, by their order. The same model may take
 * part twice: its second lane is its copy 2. So is `a-b` beside `a/b`.
 */
export function nameAuthors(models: readonly string[]): Author[] {
  const names = models.map(nameModel);
  return names.map((model, at) => ({
    model,
    copy: names.slice(0, at + 1).filter((name) => name === model).length,
  }));
}
