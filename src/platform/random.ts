/** A number from 0 up to 1; the only source of chance beside ids. */
export const random = (): number => Math.random();
