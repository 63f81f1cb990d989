import type { HitRate, Latency } from '../platform/performance-monitor.ts';
import { countNoun } from '../text/count-noun.ts';
import type { Metrics } from './metrics.ts';

/** What the work with sources takes and reuses, in a line, and what a person may do about it. */
export function describeMetrics({ latencies, rates, settings }: Metrics): {
  readonly message: string;
  readonly next: string | null;
} {
  const times = Object.entries(latencies).filter(([, { count }]) => count > 0);
  const reused = Object.entries(rates).filter(([, { hits, misses }]) => hits + misses > 0);
  const parts = [
    ...times.map(([name, latency]) => `${name} ${describeLatency(latency)}`),
    ...reused.map(([name, rate]) => `${name.replaceAll('_', ' ')} ${describeRate(rate)}`),
    `cache of ${countNoun(settings.cacheCharacters, 'character')}`,
    `prompts show ${countNoun(settings.textCharacters, 'character')} of sources in full`,
  ];
  return { message: parts.join('; '), next: advise(latencies.fetch, settings) };
}

const describeLatency = ({ count, p50Ms, p95Ms }: Latency): string =>
  `${round(p50Ms)} ms, p95 ${round(p95Ms)} ms of ${count}`;

const round = (ms: number): string => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));

const describeRate = ({ hits, misses }: HitRate): string =>
  `${Math.round((100 * hits) / (hits + misses))} % of ${hits + misses}`;

const SLOW_FETCH_MS = 10_000;
const USUAL_TEXTS = 80_000;

function advise(fetch: Latency, { textCharacters }: Metrics['settings']): string | null {
  if (textCharacters < USUAL_TEXTS) {
    return 'Prompts had to be shortened often: a model with a larger window sees more of the sources.';
  }
  return fetch.p95Ms > SLOW_FETCH_MS
    ? 'Pages come slowly: save those that matter, and name the files with --source.'
    : null;
}
