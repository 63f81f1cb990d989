/**
 * What one search of the web costs in millionths of a dollar: the list prices of November 2026 for those
 * who pay by the search. An answer tells no price.
 */
const PRICES: Readonly<Record<string, number>> = { brave: 5_000, tavily: 8_000 };

/** What so many searches with a service cost; those of other services are free. */
export const searchCostMicros = (service: string, count: number): number =>
  (PRICES[service] ?? 0) * count;
