import { foreseeCalls } from '../estimate/foresee-calls.ts';
import type { SessionView } from '../session/read.ts';
import type { StepRow } from '../session/session-state.ts';

type Part = Pick<StepRow, 'done' | 'running' | 'failed'>;

/** How many calls each `stage/step` will make, as far as the run is to go. */
export function expectSteps(
  session: Pick<SessionView, 'process' | 'lanes' | 'untilStage' | 'writerLaneId'>,
): ReadonlyMap<string, number> {
  const { process, lanes, untilStage, writerLaneId } = session;
  const models = lanes.map(({ model }) => model);
  const writer = lanes.findIndex(({ id }) => id === writerLaneId) + 1;
  const calls = foreseeCalls({ process, models, untilStage, writer });
  const steps = Map.groupBy(calls, ({ job }) => `${job.stage}/${job.step}`);
  return new Map([...steps].map(([step, own]) => [step, own.length]));
}

/** How many calls were done before the pace of this process is measured, and from which second on. */
export type Pace = { readonly before: number; readonly since: number };

/** A line with calls, tokens and the time left; what is done never exceeds what is expected. */
export function summariseProgress(
  rows: readonly StepRow[],
  expected: ReadonlyMap<string, number>,
  { before, since, seconds, tokens }: Pace & { readonly seconds: number; readonly tokens: number },
): string {
  const { done, running } = sum(rows);
  const planned = [...expected.values()].reduce((total, calls) => total + calls, 0);
  const total = Math.max(planned, done + running);
  const own = done - before;
  const left =
    own > 2 ? `, about ${(((total - done) * (seconds - since)) / own).toFixed(0)} s left` : '';
  return (
    `${done} of about ${total} calls · ${tokens.toLocaleString('en')} tokens · ` +
    `${seconds.toFixed(0)} s${left}`
  );
}

/**
 * Where a run stands as lines: every stage, the steps of those under way with the number of
 * documents, and behind each step how far every participant is, where there are several.
 */
export function drawTree(
  { process, lanes, untilStage }: Pick<SessionView, 'process' | 'lanes' | 'untilStage'>,
  rows: readonly StepRow[],
  expected: ReadonlyMap<string, number>,
): string[] {
  const several = lanes.length > 1;
  const names = lanes.map(({ ordinal, model }) => `${ordinal} ${model}`).join(' · ');
  const lines = several ? [names] : [];
  const last = process.stages.findIndex((stage) => stage.key === untilStage);
  for (const stage of process.stages.slice(0, last < 0 ? undefined : last + 1)) {
    const own = rows.filter((row) => row.stage === stage.key);
    const active = own.some((row) => row.running > 0 || row.failed > 0);
    lines.push(`${own.length === 0 ? '·' : active ? '▸' : '✓'} ${stage.name}`);
    if (!active) continue;
    for (const [step, parts] of Map.groupBy(own, (row) => row.step)) {
      const whole = sum(parts);
      const planned = expected.get(`${stage.key}/${step}`) ?? 0;
      const most = Math.max(planned, whole.done + whole.running);
      const each = lanes.map(({ ordinal }) => {
        const part = sum(parts.filter(({ lane }) => lane === ordinal));
        return `${ordinal}${mark(part, part.running === 0 && part.done > 0)}`;
      });
      const head = `    ${mark(whole, whole.done >= most)} ${step} ${whole.done}/${most}`;
      lines.push(several ? `${head}  ${each.join(' ')}` : head);
    }
  }
  return lines;
}

const sum = (parts: readonly Part[]): Part =>
  parts.reduce<Part>(
    (total, part) => ({
      done: total.done + part.done,
      running: total.running + part.running,
      failed: total.failed + part.failed,
    }),
    { done: 0, running: 0, failed: 0 },
  );

function mark({ running, done, failed }: Part, over: boolean): string {
  if (failed > 0) return '✗';
  if (over) return '✓';
  return running > 0 || done > 0 ? '▸' : '·';
}
