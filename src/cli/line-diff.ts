import { diffArrays } from 'diff';

/** Texts with more differing lines than this are shown as replaced, before the search gets slow. */
const MOST_EDITS = 1000;

/** The lines that were taken out, with `-`, and put in, with `+`, in their order. */
export function diffLines(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const parts = diffArrays(old, now, { maxEditLength: MOST_EDITS }) ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ];
  return parts
    .filter(({ removed, added }) => removed || added)
    .flatMap(({ value, removed }) => value.map((line) => `${removed ? '-' : '+'} ${line}`));
}
