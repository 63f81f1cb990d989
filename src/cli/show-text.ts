import type { CostReport, SessionInfo } from '../api/data.ts';
import { describeDocument } from '../recipe/contract.ts';
import type { Process, Stage } from '../recipe/types.ts';
import { tellCounts } from '../session/counts.ts';
import { shortId } from '../session/name-document.ts';
import type { SessionView } from '../session/read.ts';
import type { RunResult } from '../session/summary.ts';
import { countNoun } from '../text/count-noun.ts';
import { tellStyle } from '../text/measure-style.ts';
import { describeAge } from './describe-age.ts';
import { withKey } from './with-key.ts';

/** Everything that `show` tells of a session. */
export type Shown = {
  readonly info: SessionInfo;
  readonly view: Pick<SessionView, 'process' | 'lanes' | 'iteration'>;
  readonly result: RunResult;
  readonly costs: Pick<CostReport, 'byStage' | 'unknownPrices'>;
  /** The most that it may spend, in dollars; null = no cap. */
  readonly budgetUsd: number | null;
  readonly now: Date;
};

type ShownDocument = RunResult['documents'][number];

/** A stage takes ten lines at most, with its own and one that says how many are left out. */
const MOST_TITLES = 9;

/** A session at a glance: what it is, each stage with its documents and money, the sum. */
export function describeSession(shown: Shown, all: boolean): string[] {
  const { info, view } = shown;
  const pass = info.iteration > 1 ? ` · pass ${info.iteration}` : '';
  const age = describeAge(new Date(info.createdAt), shown.now);
  return [
    `${info.project} · ${view.process.name}${pass} · ${shown.result.standing}`,
    `session ${info.id} · started ${age}`,
    view.lanes.map(({ ordinal, model }) => `${ordinal} ${model}`).join(' · '),
    ...view.process.stages.flatMap((stage) => describeStage(shown, stage, all)),
    describeSum(shown),
  ];
}

function describeStage(shown: Shown, stage: Stage, all: boolean): string[] {
  const documents = shown.result.documents.filter((one) => one.stage === stage.key);
  const cost = shown.costs.byStage.find((one) => one.stage === stage.key);
  const name = withKey(stage.name, stage.key);
  if (documents.length === 0 && !cost) {
    return [`${name} · ${shown.result.stage === stage.key ? 'begun' : 'not begun'}`];
  }
  const calls = cost?.calls ?? 0;
  const head = `${name} · ${countNoun(calls, 'call')} · ${describeCost(shown, cost?.usd ?? 0)}`;
  const current = documents.filter(({ iteration }) => iteration === shown.view.iteration);
  const standing = current.filter((one) => !isReplaced(shown.view.process, one, current));
  return [head, ...(all ? listAll(stage, documents) : listTitles(stage, standing))];
}

/** Whether a later document of the same stage takes its place: a draft and what became of it. */
const isReplaced = (
  { replaced }: Process,
  { stage, key }: ShownDocument,
  documents: readonly ShownDocument[],
): boolean =>
  replaced.some(
    ({ by, ...ref }) =>
      ref.stage === stage &&
      ref.documentKey === key &&
      documents.some((one) => one.stage === by.stage && one.key === by.documentKey),
  );

/** The documents of this pass that people read, each once, with the numbers of its writers. */
function listTitles(stage: Stage, documents: readonly ShownDocument[]): string[] {
  const read = documents.filter(({ path }) => path !== null);
  const titles = [...Map.groupBy(read, ({ key }) => key)].map(([key, own]) => {
    const lanes = [...new Set(own.map(({ lane }) => lane))].toSorted((a, b) => a - b);
    const style = own.find((one) => one.style)?.style;
    const told = style ? ` · ${tellStyle(style)}` : '';
    return `  ${withKey(titleOf(stage, key), key)} · ${lanes.join(' ')}${told}`;
  });
  if (titles.length <= MOST_TITLES) return titles;
  const shown = titles.slice(0, MOST_TITLES - 1);
  return [...shown, `  and ${titles.length - shown.length} more: dialectic show --all`];
}

/** Every document, those that only other steps read included. */
const listAll = (stage: Stage, documents: readonly ShownDocument[]): string[] =>
  documents.map((one) => {
    const { id, key, lane, iteration, version, model, costUsd, path, dataPath, rerun } = one;
    const cost = costUsd === null ? 'price unknown' : dollars(costUsd);
    const name = `${titleOf(stage, key)}${iteration > 1 ? `, pass ${iteration}` : ''}`;
    const by = rerun === null ? model : `${model}, ${rerun}`;
    const what = `${name} v${version} · ${by} · ${cost} · ${path ?? dataPath}`;
    return `  ${shortId(id)}  ${key}@${lane}  ${what}`;
  });

function titleOf(stage: Stage, key: string): string {
  const step = stage.steps.find(({ output }) => output.documentKey === key);
  return step ? describeDocument(stage, step).title : key;
}

function describeSum(shown: Shown): string {
  const { calls, documentCount: documents, iteration, usage } = shown.result;
  const tokens = countNoun(usage.inputTokens + usage.outputTokens, 'token');
  const cap = shown.budgetUsd === null ? '' : ` of ${dollars(shown.budgetUsd)}`;
  const spent = usage.costUsd === null ? 'price unknown' : dollars(usage.costUsd);
  return `In all: ${tellCounts({ calls, documents }, iteration)}, ${tokens}, ${spent}${cap}`;
}

const describeCost = ({ costs }: Shown, usd: number): string =>
  usd === 0 && costs.unknownPrices.length > 0 ? 'price unknown' : dollars(usd);

const dollars = (usd: number): string => `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
