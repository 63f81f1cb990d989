import { isRecord } from '../text/is-record.ts';

/** Nothing said: no text, or only marks that stand for text. */
export function isBlank(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === 'string') return /^[\s.…_-]*$/.test(value);
  if (Array.isArray(value)) return value.every(isBlank);
  return isRecord(value) && Object.values(value).every(isBlank);
}

/** Nothing said and no empty list: that is an answer, also as a field of an otherwise blank record. */
export const isEmpty = (value: unknown): boolean =>
  isBlank(value) && ![value, ...(isRecord(value) ? Object.values(value) : [])].some(isEmptyList);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
