import type { EvaluatedBrief, EvaluationOptions } from '../api/evaluate.ts';
import { DialecticError } from '../errors/errors.ts';
import { MADE_RIVALS } from '../eval/texts.ts';
import { countNoun } from '../text/count-noun.ts';
import type { BudgetOptions } from './budget.ts';
import type { NewRunOptions } from './new-run.ts';
import type { PreflightOptions } from './preflight.ts';
import { readConcurrency } from './run.ts';

/** What `dialectic eval` is told. */
export type EvalOptions = BudgetOptions &
  PreflightOptions &
  Pick<NewRunOptions, 'process' | 'depth' | 'ask' | 'result' | 'shortcuts'> & {
    single?: string;
    rival: string[];
    debate: string[];
    judge: string[];
    out: string;
    words?: string;
    singleFolder: string[];
    debateFolder: string[];
    concurrency: string;
    data?: string;
    json?: boolean;
    yes?: boolean;
  };

/** Refuses options that contradict each other or would be passed over. */
export function checkEvalOptions(briefs: readonly string[], options: EvalOptions): void {
  const { single, debate, judge, rival, singleFolder, debateFolder, words } = options;
  const unknown = rival.find((one) => !isMadeRival(one));
  const wrong = [
    debate.length > 0 === debateFolder.length > 0 &&
      'Name either the participants with --debate, or folders with --debate-folder.',
    !single &&
      singleFolder.length === 0 &&
      'Name what the debate is compared with: a model that writes with --single, or a folder with --single-folder.',
    judge.length === 0 && 'Name at least one judge with --judge.',
    unknown !== undefined && `--rival takes ${MADE_RIVALS.join(', ')}, not ${unknown}.`,
    rival.length > 0 && !single && '--rival is written by a model: name it with --single.',
    [single, ...judge].some((model) => model?.startsWith('offline/')) &&
      'Offline participants are no language models: they can debate, but neither write against it nor judge.',
    words !== undefined && !single && '--words is asked of --single, and there is none.',
    words !== undefined && !/^[1-9]\d{1,5}$/.test(words) && '--words takes a number from 10.',
    findOdd('--debate-folder', debateFolder, briefs),
    findOdd('--single-folder', singleFolder, briefs),
  ].find(Boolean);
  if (wrong) throw new DialecticError('usage_invalid', wrong);
}

const isMadeRival = (name: string): name is (typeof MADE_RIVALS)[number] =>
  MADE_RIVALS.some((one) => one === name);

/** Folders belong to the briefs in their order. */
const findOdd = (
  option: string,
  folders: readonly string[],
  briefs: readonly string[],
): string | false =>
  folders.length > 0 &&
  folders.length !== briefs.length &&
  `${option} is given once for each brief, in their order: there are ${countNoun(briefs.length, 'brief')} and ${countNoun(folders.length, 'folder')}.`;

/** A brief as it was read. */
type ReadBrief = Pick<EvaluatedBrief, 'name' | 'text'>;

/** What is judged, by whom; the options were checked. */
export function toEvaluation(
  briefs: readonly ReadBrief[],
  options: EvalOptions,
): EvaluationOptions {
  const { single, rival, singleFolder, debateFolder, words, judge, out } = options;
  const kinds = rival.length === 0 ? (['one-prompt'] as const) : new Set(rival.filter(isMadeRival));
  return {
    briefs: briefs.map((brief, at) => ({
      ...brief,
      debate: debateFolder[at],
      given: singleFolder[at],
    })),
    rivals: single
      ? { model: single, kinds: [...kinds], words: words === undefined ? undefined : Number(words) }
      : undefined,
    judges: [...new Set(judge)],
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
