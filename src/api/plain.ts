/** A value as it comes back from JSON: its dates are ISO 8601 texts. */
export type Plain<T> = T extends Date
  ? string
  : T extends readonly (infer One)[]
    ? readonly Plain<One>[]
    : T extends object
      ? { readonly [Key in keyof T]: Plain<T[Key]> }
      : T;

/** Makes a value plain, so that it can go over any transport and arrive as it left. */
export const toPlain = <T>(value: T): Plain<T> => JSON.parse(JSON.stringify(value)) as Plain<T>;
