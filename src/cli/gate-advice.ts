import type { RunResult } from '../session/summary.ts';
import { quoteWord } from '../text/quote-word.ts';

type Advice = {
  /** What to do before the run can go on. */
  readonly hints: string;
  /** What to add to the command that goes on. */
  readonly parameters: string;
};

/** What a person can do about a run that rests for want of money: the command that helps. */
export function adviseGates({ gates, shortages }: Pick<RunResult, 'gates' | 'shortages'>): Advice {
  const advice = gates.map((gate) =>
    adviseGate(
      gate,
      shortages.find((one) => one.gate === gate),
    ),
  );
  return {
    hints: advice.flatMap(({ hints }) => hints || []).join(' '),
    parameters: advice.map(({ parameters }) => parameters).join(''),
  };
}

function adviseGate(gate: string, limit: RunResult['shortages'][number] | undefined): Advice {
  const inTokens = limit?.currency === 'token';
  const flags =
    (inTokens ? ' --tokens' : '') +
    (limit?.scope === 'project' ? ` --project ${quoteWord(limit.project)}` : '');
  const amount = inTokens ? 'TOKENS' : 'DOLLARS';
  if (gate === 'approval') {
    const hints =
      'One call would take a large part of the wallet; resume approves it and all later calls.';
    return { hints, parameters: '' };
  }
  if (gate === 'funds') {
    const hints = `The wallet is short: dialectic wallet grant ${amount}${flags}.`;
    return { hints, parameters: '' };
  }
  if (gate !== 'budget') return { hints: '', parameters: '' };
  if (limit && limit.scope !== 'session') {
    const whose = limit.scope === 'project' ? 'of the project' : 'on all spending';
    const hints = `The cap ${whose} is reached: dialectic wallet budget ${amount}${flags}.`;
    return { hints, parameters: '' };
  }
  const option = inTokens ? '--budget-tokens' : '--budget';
  return {
    hints: 'The next call may take more than the cap of this run leaves.',
    parameters: ` ${option} ${amount}`,
  };
}
