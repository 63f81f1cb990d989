import { isRecord } from '../text/is-record.ts';
import type { JobInput } from './job-input.ts';

/** Queries beyond these are not searched for: each is compared with every passage, and may be paid. */
export const MOST_QUERIES = 60;

/** The queries of all lanes, each once, in the order of the lanes. */
export function readQueries(inputs: readonly JobInput[]): string[] {
  const found = inputs.flatMap(({ content }) => listOf(content, 'questions'));
  const queries = found.flatMap((question) => listOf(question, 'queries'));
  const texts = queries.filter((query) => typeof query === 'string' && query !== '');
  return [...new Set(texts.map(String))].slice(0, MOST_QUERIES);
}

function listOf(value: unknown, key: string): readonly unknown[] {
  const list = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}
