import { countNoun } from '../../text/count-noun.ts';
import { describeSeconds } from './describe-time.ts';
import type { Line } from './paint.ts';
import type { RunView } from './run-view.ts';

/** What is shown beside the work itself. */
export type RunFacts = {
  readonly participants: readonly string[];
  readonly tokens: number;
  readonly costMicros: number;
  /** Calls whose price is unknown. */
  readonly unpriced: number;
  /** What the run may spend; null = no cap. */
  readonly budgetMicros: number | null;
  readonly budgetTokens: number | null;
  readonly gates: readonly string[];
  /** Since the pass began, whichever process looks on. */
  readonly seconds: number;
  /** Null while too little is known. */
  readonly secondsLeft: number | null;
  readonly now: Date;
};

/** How much room there is. */
export type Room = {
  readonly columns: number;
  readonly rows: number;
  readonly widthOf: (text: string) => number;
  /** The text, or its beginning and an ellipsis where it is wider than that. */
  readonly cut: (text: string, width: number) => string;
};

/** Calls, tokens, money and time, each as a text of its own. */
export function summarise(view: RunView, facts: RunFacts): string[] {
  const { done, total, made, calls, queued, iteration } = view;
  const { gates, seconds, secondsLeft } = facts;
  const pass = iteration > 1 ? `pass ${iteration}: ` : '';
  // While more jobs wait after a fault than ask, the pace so far says nothing about the rest.
  const stands = gates.length > 0 || view.retries.length > calls.length;
  const left = secondsLeft === null || stands ? '' : `, about ${describeSeconds(secondsLeft)} left`;
  return [
    // Every answer that is not whole yet takes one more call at least.
    `${pass}${made} of about ${countNoun(made + total - done, 'call')}`,
    `${calls.length} in flight, ${queued} queued`,
    ...(gates.length > 0 ? [`paused (${gates.join(', ')})`] : []),
    describeTokens(facts),
    describeMoney(facts),
    `${describeSeconds(seconds)}${left}`,
  ];
}

/** Texts side by side, on as many lines as they need. */
export function flow(texts: readonly string[], { columns, widthOf }: Room): Line[] {
  const lines: string[] = [];
  for (const text of texts) {
    const joined = lines.length === 0 ? text : `${lines.at(-1)} · ${text}`;
    if (lines.length > 0 && widthOf(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(text);
  }
  return lines.map((text) => [text]);
}

const count = (value: number): string => value.toLocaleString('en');

const describeTokens = ({ tokens, budgetTokens }: RunFacts): string =>
  `${count(tokens)} ${budgetTokens === null ? '' : `of ${count(budgetTokens)} `}tokens`;

function dollars(micros: number): string {
  if (micros === 0) return '$0';
  return `$${(micros / 1e6).toFixed(micros < 1e6 ? 4 : 2)}`;
}

function describeMoney({ costMicros, unpriced, budgetMicros }: RunFacts): string {
  if (unpriced > 0 && costMicros === 0) return 'price unknown';
  const spent = dollars(costMicros) + (budgetMicros === null ? '' : ` of ${dollars(budgetMicros)}`);
  return unpriced > 0 ? `${spent} and ${countNoun(unpriced, 'call')} at unknown prices` : spent;
}
