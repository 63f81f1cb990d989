import { MOST_QUERIES } from '../generation/read-queries.ts';
import { searchCostMicros } from '../models/search-prices.ts';
import type { ForeseenCall } from './foresee-calls.ts';
import type { Estimate, Range } from './types.ts';

/** What one participant typically asks for. */
const USUAL_QUERIES = 6;

/** What searches of the web take: every search step asks the service for the queries of all lanes. */
export function foreseeSearches(
  service: string | null,
  calls: readonly ForeseenCall[],
  lanes: number,
): Estimate['searches'] {
  const steps = calls.filter(({ step }) => step.compute === 'search').length;
  if (service === null || steps === 0 || searchCostMicros(service, 1) === 0) return null;
  const usual = Math.min(MOST_QUERIES, USUAL_QUERIES * lanes);
  const count: Range = { low: 0, middle: steps * usual, high: steps * MOST_QUERIES };
  const costOf = (searches: number): number => searchCostMicros(service, searches) / 1e6;
  const costUsd = {
    low: costOf(count.low),
    middle: costOf(count.middle),
    high: costOf(count.high),
  };
  return { service, count, costUsd };
}
