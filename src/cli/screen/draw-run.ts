import { countNoun } from '../../text/count-noun.ts';
import { describeClock, describeSeconds } from './describe-time.ts';
import { flow, type Room, type RunFacts, summarise } from './draw-sums.ts';
import { type Line, type Part, type Style, styled } from './paint.ts';
import type { CallView, Mark, RetryView, RunView, StageView } from './run-view.ts';

const SIGNS: Readonly<Record<Mark, { readonly sign: string; readonly style: Style }>> = {
  waiting: { sign: '·', style: 'dim' },
  active: { sign: '▸', style: 'cyan' },
  done: { sign: '✓', style: 'green' },
  failed: { sign: '✗', style: 'red' },
};

const signOf = (mark: Mark): Part => styled(SIGNS[mark].style, SIGNS[mark].sign);

/**
 * The screen as lines: stages and steps, calls in flight, what is tried again, and the sums. In a
 * window that is too low, first the steps and stages that are not under way go, then some calls.
 */
export function drawRun(view: RunView, facts: RunFacts, room: Room): Line[] {
  const sums = flow(summarise(view, facts), room);
  const retries = drawRetries(view.retries, facts.now);
  const calls = drawCalls(view.calls, facts.now, room);
  const most = Math.max(1, room.rows - 1);
  for (const drawStages of [drawAll, drawOpen, drawActive, drawNames]) {
    const lines = [...drawStages(view.stages, facts), ...calls, ...retries, ...sums];
    if (lines.length <= most) return lines;
  }
  const names = drawNames(view.stages);
  const left = Math.max(0, most - names.length - sums.length);
  const shown = [...calls, ...retries];
  const some =
    left === 0 || shown.length <= left
      ? shown.slice(0, left)
      : [...shown.slice(0, left - 1), [styled('dim', `  … ${shown.length - left + 1} more`)]];
  return [...names, ...some, ...sums].slice(-most);
}

type ActiveOrNot = { readonly mark: Mark };

const isActive = ({ mark }: ActiveOrNot): boolean => mark === 'active' || mark === 'failed';

function drawAll(
  stages: readonly StageView[],
  { participants }: RunFacts,
  isShown: (step: ActiveOrNot) => boolean = () => true,
): Line[] {
  const several = participants.length > 1;
  const head: Line[] = several ? [[styled('dim', participants.join(' · '))]] : [];
  return [...head, ...stages.flatMap((stage) => drawStage(stage, several, isShown))];
}

/** Every stage, and the steps that are under way. */
const drawOpen = (stages: readonly StageView[], facts: RunFacts): Line[] =>
  drawAll(stages, facts, isActive);

/** Stages that are over or to come share a line each; of the others, the steps under way. */
function drawActive(stages: readonly StageView[], { participants }: RunFacts): Line[] {
  const several = participants.length > 1;
  return [
    ...joinNames(stages, 'done'),
    ...stages.filter(isActive).flatMap((stage) => drawStage(stage, several, isActive)),
    ...joinNames(stages, 'waiting'),
  ];
}

/** The stages under way alone. */
const drawNames = (stages: readonly StageView[]): Line[] =>
  stages.filter(isActive).flatMap((stage) => drawStage(stage, false, () => false));

function joinNames(stages: readonly StageView[], mark: Mark): Line[] {
  const names = stages.filter((stage) => stage.mark === mark).map(({ name }) => name);
  const text = ` ${names.join(', ')}`;
  return names.length === 0
    ? []
    : [[signOf(mark), mark === 'waiting' ? styled('dim', text) : text]];
}

function drawStage(
  { name, mark, done, total, calls, steps }: StageView,
  several: boolean,
  isShown: (step: StageView['steps'][number]) => boolean,
): Line[] {
  if (mark === 'waiting') return [[signOf(mark), styled('dim', ` ${name}`)]];
  const count = mark === 'done' ? countCalls(calls) : `${done} of ${total}`;
  const head: Line = [signOf(mark), ' ', styled('bold', name), ` ${count}`];
  if (mark === 'done') return [head];
  const lines = steps.filter(isShown).map((step): Line => {
    const lanes = step.lanes.flatMap(({ ordinal, mark: own }) => [` ${ordinal}`, signOf(own)]);
    const text = ` ${step.name} ${step.done}/${step.total} `;
    return ['    ', signOf(step.mark), text, ...(several ? lanes : [])];
  });
  return [head, ...lines];
}

const countCalls = (count: number): string => countNoun(count, 'call');

/** A character is a quarter of a token, near enough for text that is still arriving. */
const CHARACTERS_PER_TOKEN = 4;

function drawCalls(calls: readonly CallView[], now: Date, room: Room): Line[] {
  const { columns, widthOf, cut } = room;
  const rows = calls.map(({ participant, title, characters, reading, startedAt }) => {
    const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
    const awaited = reading === null ? 'no text yet' : describeReading(reading, cut);
    const arrived = characters > 0 ? `~${countNoun(tokens, 'token')}` : awaited;
    const sinceMs = startedAt === null ? 0 : now.getTime() - Date.parse(startedAt);
    return { participant, title, arrived, seconds: describeSeconds(sinceMs / 1000) };
  });
  const widest = (of: keyof (typeof rows)[number]): number =>
    Math.max(0, ...rows.map((row) => widthOf(row[of])));
  const pad = (text: string, width: number): string =>
    text + ' '.repeat(Math.max(0, width - widthOf(text)));
  // Four columns with two spaces before each; the names give way to the figures.
  const left = columns - 8 - widest('arrived') - widest('seconds');
  const participantWidth = Math.min(widest('participant'), Math.max(8, left - widest('title')));
  const titleWidth = Math.min(widest('title'), Math.max(8, left - participantWidth));
  return rows.map(
    ({ participant, title, arrived, seconds }): Line => [
      styled('cyan', `  ${pad(cut(participant, participantWidth), participantWidth)}`),
      `  ${pad(cut(title, titleWidth), titleWidth)}  `,
      styled('dim', `${pad(arrived, widest('arrived'))}  ${seconds}`),
    ],
  );
}

const WIDEST_TITLE = 30;

/** "reading big: 1,200 of 9,000 parts" */
export function describeReading(
  { title, done, all }: NonNullable<CallView['reading']>,
  cut: Room['cut'] = (text) => text,
): string {
  const parts = `${done.toLocaleString('en')} of ${countNoun(all, 'part')}`;
  return `reading ${cut(title, WIDEST_TITLE)}: ${parts}`;
}

/** Jobs that wait for the same reason share a line. */
function drawRetries(retries: readonly RetryView[], now: Date): Line[] {
  const reasons = Map.groupBy(retries, ({ error }) => describeError(error));
  return [...reasons].map(([reason, own]) => {
    const [only] = own;
    const text =
      only && own.length === 1 ? describeRetry(only, now) : describeTogether(own, reason, now);
    return [styled('yellow', `↻ ${text}`)];
  });
}

function describeTogether(retries: readonly RetryView[], reason: string, now: Date): string {
  const [first = ''] = retries.map(({ nextTryAt }) => nextTryAt).toSorted();
  return `${countNoun(retries.length, 'job waits', 'jobs wait')}: next try ${describeNext(first, now)}. ${reason}`;
}

/** Who waits, until when, and for which fault. */
export function describeRetry(retry: RetryView, now: Date): string {
  const { participant, title, error, attempt, nextTryAt } = retry;
  // Faults that do not count against the job, such as rate limits, leave the attempt at 0.
  const which = attempt > 0 ? `try ${attempt + 1}` : 'next try';
  return `${participant}, ${title}: ${which} ${describeNext(nextTryAt, now)}. ${describeError(error)}`;
}

/** `at 20:00:08, in 8 s`. */
function describeNext(nextTryAt: string, now: Date): string {
  const next = new Date(nextTryAt);
  const seconds = describeSeconds((next.getTime() - now.getTime()) / 1000);
  return `at ${describeClock(next, now)}, in ${seconds}`;
}

export const describeError = (error: RetryView['error']): string =>
  error ? `${error.message ?? 'A fault.'} (${error.code ?? 'no code'})` : 'The reason is unknown.';
