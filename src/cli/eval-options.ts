import type { EvaluationOptions } from '../api/evaluate.ts';
import { DialecticError } from '../errors/errors.ts';
import type { BudgetOptions } from './budget.ts';
import type { NewRunOptions } from './new-run.ts';
import type { PreflightOptions } from './preflight.ts';
import { readConcurrency } from './run.ts';

/** What `dialectic eval` is told. */
export type EvalOptions = BudgetOptions &
  PreflightOptions &
  Pick<NewRunOptions, 'process' | 'depth' | 'ask' | 'result' | 'shortcuts'> & {
    single?: string;
    debate: string[];
    judge: string[];
    out: string;
    words?: string;
    singleFolder?: string;
    debateFolder?: string;
    concurrency: string;
    data?: string;
    json?: boolean;
    yes?: boolean;
  };

/** Refuses options that contradict each other or would be passed over. */
export function checkEvalOptions(options: EvalOptions): void {
  const { single, debate, judge, singleFolder, debateFolder, words } = options;
  const wrong = [
    debate.length > 0 === Boolean(debateFolder) &&
      'Name either the participants with --debate, or a folder with --debate-folder.',
    Boolean(single) === Boolean(singleFolder) &&
      'Name either a model with --single, or a folder with --single-folder.',
    judge.length === 0 && 'Name at least one judge with --judge.',
    [single, ...judge].some((model) => model?.startsWith('offline/')) &&
      'Offline participants are no language models: they can debate, but neither write the single prompt nor judge.',
    words !== undefined && !single && '--words is asked of --single, and there is none.',
    debateFolder &&
      (options.budget ?? options.budgetTokens) !== undefined &&
      'A budget is for the debate, and --debate-folder makes none.',
    words !== undefined && !/^[1-9]\d{1,5}$/.test(words) && '--words takes a number from 10.',
  ].find(Boolean);
  if (wrong) throw new DialecticError('usage_invalid', wrong);
}

/** What is judged, by whom; the options were checked. */
export function toEvaluation(brief: string, options: EvalOptions): EvaluationOptions {
  const { single, singleFolder, debateFolder, words, judge, out } = options;
  return {
    brief,
    debate: debateFolder,
    single:
      singleFolder !== undefined
        ? { folder: singleFolder }
        : { model: single ?? '', words: words === undefined ? undefined : Number(words) },
    judges: judge,
    out,
    concurrency: readConcurrency(options.concurrency),
  };
}

/** What the debate is told, as `dialectic run` would be. */
export function toRunOptions(options: EvalOptions): NewRunOptions {
  const { debate, process: name, depth, ask, result, shortcuts } = options;
  return {
    model: debate,
    resource: [],
    source: [],
    depth,
    result,
    shortcuts,
    ...(name === undefined ? {} : { process: name }),
    ...(ask === undefined ? {} : { ask }),
  };
}
