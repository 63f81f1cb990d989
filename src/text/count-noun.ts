/** A number with its noun: `1 call`, `1,200 calls`; `many` where an s is not all that changes. */
export const countNoun = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
