import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Dialectic } from '../api/dialectic.ts';
import type { RunOptions } from '../api/run-options.ts';
import { readCostNote } from '../eval/cost-note.ts';
import { requireEmptyFolder } from '../eval/texts.ts';
import type { RunResult } from '../session/summary.ts';
import { parseAmount, toUsd } from '../wallet/amounts.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';
import { findTerminal } from './ask-questions.ts';
import { driveReviewed } from './drive-reviewed.ts';
import { tell } from './output.ts';
import { carryOut, readConcurrency, requireCompleted } from './run.ts';
import { withModels } from './store.ts';

type Usage = Pick<RunResult['usage'], 'costUsd' | 'inputTokens' | 'outputTokens'>;
const NOTHING: Usage = { costUsd: 0, inputTokens: 0, outputTokens: 0 };

const microsOf = ({ costUsd }: Usage): number => Math.round((costUsd ?? 0) * 1e6);
const tokensOf = ({ inputTokens, outputTokens }: Usage): number => inputTokens + outputTokens;

/** A budget that several debates and their judges share. */
export class SharedBudget {
  readonly #given: RunBudget;
  #usdMicros = 0;
  #tokens = 0;

  constructor(given: RunBudget) {
    this.#given = given;
  }

  /** Counts what a session has used, without what it had used before. */
  use(usage: Usage, before: Usage = NOTHING): void {
    this.#usdMicros += microsOf(usage) - microsOf(before);
    this.#tokens += tokensOf(usage) - tokensOf(before);
  }

  /** The caps of a session, which count what it has used before. */
  capsOf(before: Usage = NOTHING): { usd?: string; tokens?: string } {
    const { usd, tokens } = this.#given;
    return {
      ...(usd !== undefined && {
        usd: toUsd(reduce(usd, 'USD', this.#usdMicros) + microsOf(before)).toFixed(6),
      }),
      ...(tokens !== undefined && {
        tokens: String(reduce(tokens, 'token', this.#tokens) + tokensOf(before)),
      }),
    };
  }
}

const reduce = (given: number | string, currency: 'USD' | 'token', used: number): number =>
  Math.max(0, parseAmount(String(given), currency) - used);

type HoldOptions = Omit<Parameters<typeof carryOut>[1], 'out' | 'preflight'> & {
  readonly out: string;
};

/**
 * Debates as `dialectic run` would, unless the folder holds a debate: one that ended is taken, one that
 * was stopped goes on. A debate that rests early is an error, which says how to go on.
 */
export async function holdDebate(
  run: RunOptions,
  options: HoldOptions,
  budget: SharedBudget,
): Promise<void> {
  const { out } = options;
  if (existsSync(out) && (await readCostNote(out))) {
    return tell(`The debate in ${out} is there, and is not held again.`);
  }
  try {
    const result = (await goOnWith(options, budget)) ?? (await begin(run, options, budget));
    requireCompleted(result);
  } catch (thrown) {
    tell('What is written is kept: the same command goes on where this one ended.');
    throw thrown;
  }
}

async function begin(
  run: RunOptions,
  options: HoldOptions,
  budget: SharedBudget,
): Promise<RunResult> {
  await requireEmptyFolder(options.out);
  const { usd, tokens } = budget.capsOf();
  const limited = {
    ...options,
    ...(usd !== undefined && { budget: usd }),
    ...(tokens !== undefined && { budgetTokens: tokens }),
    preflight: false,
  };
  const result = await carryOut(run, limited, findTerminal(options));
  budget.use(result.usage);
  return result;
}

/** The session that an earlier evaluation began for the folder, gone on with; null where none did. */
async function goOnWith(options: HoldOptions, budget: SharedBudget): Promise<RunResult | null> {
  const { out, data } = options;
  if (!existsSync(out)) return null;
  return withModels(data, async (dialectic: Dialectic) => {
    const sessions = await dialectic.list({ all: true });
    const own = sessions.find(({ folder }) => folder === resolve(out));
    if (own === undefined) return null;
    const before = await dialectic.result(own.id);
    if (before.status === 'completed') return dialectic.updateFolder(own.id);
    tell(`Session ${own.id}: goes on with the debate in ${out}`);
    await dialectic.resume(own.id, { budget: budget.capsOf(before.usage) });
    const drive = {
      concurrency: readConcurrency(options.concurrency),
      terminal: findTerminal(options),
    };
    const result = await driveReviewed(dialectic, own.id, drive);
    budget.use(result.usage, before.usage);
    return result;
  });
}
