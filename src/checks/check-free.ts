import { type Capacity, rateIn } from './capacity.ts';
import type { Plan } from './plan.ts';
import { count, EPSILON, formatNumber, type Problem } from './problem.ts';
import type { Placed } from './schedule.ts';
import { MOST_WEEKS, type Share } from './spread.ts';
import { lastWeek } from './values.ts';

/** What stays free of everybody's hours, where the plan names no other share. */
const FREE = 0.25;

/** Weeks that are planned as one. */
type Phase = { readonly title: string; readonly from: number; readonly to: number };

/** What one person has and is asked for in one phase. */
export type PhaseTotal = {
  readonly name: string;
  readonly phase: Phase;
  readonly hours: number;
  readonly asked: number;
};

/** The share of everybody's hours that stays free, from 0 to 1. */
export const freeShare = ({ calendar }: Plan): number => calendar?.record.free ?? FREE;

/** Hours by person and phase: those of the milestones, else the whole plan. */
export function sumPhases(
  plan: Plan,
  shares: ReadonlyMap<string, readonly Share[]>,
  shared: readonly Placed[],
): PhaseTotal[] {
  const last = lastWeek(plan, shared);
  if (plan.calendar === null || last === 0) return [];
  const milestones = (plan.input.milestones ?? []).map(({ title, fromWeek, toWeek }) => ({
    title,
    from: fromWeek,
    to: toWeek,
  }));
  const phases = milestones.length > 0 ? milestones : [{ title: 'all weeks', from: 1, to: last }];
  const capacities = [...plan.capacities.values()].filter(({ limits }) => limits.length > 0);
  return phases.flatMap((phase) =>
    capacities.flatMap((capacity) => {
      const asked = (shares.get(capacity.key) ?? [])
        .filter(({ week }) => week >= phase.from && week <= phase.to)
        .reduce((sum, { high }) => sum + high, 0);
      const hours = hoursOf(plan, capacity, phase);
      return asked > 0 ? [{ name: capacity.name, phase, hours, asked }] : [];
    }),
  );
}

function hoursOf({ calendar }: Plan, capacity: Capacity, { from, to }: Phase): number {
  const first = Math.max(from, capacity.fromWeek);
  const last = Math.min(to, capacity.toWeek, first + MOST_WEEKS);
  let sum = 0;
  for (let week = first; week <= last; week += 1) sum += rateIn(capacity, week, calendar);
  return sum;
}

/** Hours to the hundredth. */
const round = (value: number): number => Math.round(value * 100) / 100;

/** People of whose hours in a phase less stays free than the plan promises. */
export function checkFree(plan: Plan, phases: readonly PhaseTotal[]): Problem[] {
  const free = freeShare(plan);
  const percent = formatNumber(Math.round(free * 100));
  return phases
    .filter(({ hours, asked }) => asked > hours * (1 - free) + EPSILON)
    .map(({ name, phase, hours, asked }): Problem => {
      const weeks =
        phase.from === phase.to ? `week ${phase.from}` : `weeks ${phase.from} to ${phase.to}`;
      const most = Math.floor(hours * (1 - free) * 100 + EPSILON) / 100;
      const told = `${count(round(hours), 'hour')} without holidays and days off, ${formatNumber(round(asked))} asked for at the high estimates`;
      return {
        code: 'too_little_free',
        subject: name,
        message: `${name} in ${weeks} (${phase.title}): ${told}; ${percent} % stays free, so at most ${formatNumber(most)}. Move, shorten or hand over some of it.`,
        details: { phase: phase.title, hours, asked, free },
      };
    });
}
