import { limitsEffort } from './capacity.ts';
import { findBudgets } from './check-cost.ts';
import type { Deadline } from './check-weeks.ts';
import { compareTexts, idKey } from './ids.ts';
import type { Plan } from './plan.ts';
import { joinWords, type Problem, quote } from './problem.ts';
import type { Demand } from './types.ts';

/** Needs and demands that do not exist, cycles, and ids that two different records share. */
export function checkReferences(plan: Plan): Problem[] {
  const known = new Set(plan.input.demands.map(({ id }) => idKey(id)));
  const unknownNeeds = plan.unknownNeeds.map(
    ({ item, needs }): Problem => ({
      code: 'need_unknown',
      subject: item.id,
      message: `${item.id} needs ${joinWords(needs)}, which no work item is. Add it, or name the right one.`,
      details: { needs },
    }),
  );
  const cycles = plan.cycles.map((cycle): Problem => {
    const [first = ''] = cycle;
    return {
      code: 'need_cycle',
      subject: first,
      message: `Work items need each other in a circle: ${[...cycle, first].join(' → ')}. Take one of these needs out.`,
      details: { cycle },
    };
  });
  const unknownDemands = plan.items.flatMap(({ id, demands }): Problem[] => {
    const wrong = demands.filter((demand) => !known.has(idKey(demand)));
    if (wrong.length === 0 || known.size === 0) return [];
    const message = `${id} serves ${joinWords(wrong)}, which the list of demands does not hold.`;
    return [{ code: 'demand_unknown', subject: id, message, details: { demands: wrong } }];
  });
  return [...unknownNeeds, ...cycles, ...unknownDemands, ...findDuplicates(plan)];
}

/** A record that two documents repeat is one; another text under the same id is a fault. */
function findDuplicates(plan: Plan): Problem[] {
  const kinds: [string, readonly { readonly id: string; readonly text: string }[]][] = [
    ['demands', plan.input.demands],
    ['work items', plan.items.map(({ id, title }) => ({ id, text: title }))],
    ['findings', plan.input.findings.map(({ id, claim }) => ({ id, text: claim }))],
  ];
  return kinds.flatMap(([kind, records]) => {
    const texts = new Map<string, { readonly id: string; readonly texts: Set<string> }>();
    for (const { id, text } of records.filter((record) => record.id !== '')) {
      const same = texts.get(idKey(id)) ?? { id, texts: new Set() };
      texts.set(idKey(id), { ...same, texts: same.texts.add(text) });
    }
    return [...texts.values()]
      .filter((one) => one.texts.size > 1)
      .map((one): Problem => {
        const said = [...one.texts].toSorted(compareTexts).map((text) => quote(text, 60));
        const message = `${one.texts.size} ${kind} have the id ${one.id}: ${joinWords(said)}. Give each its own.`;
        return { code: 'id_duplicate', subject: one.id, message, details: { kind } };
      });
  });
}

/** Which limits code itself has compared with the plan. */
export function listComputed(plan: Plan, deadlines: readonly Deadline[]): Set<string> {
  const { demands } = plan.input;
  return new Set([
    ...findBudgets(demands).map(({ id }) => id),
    ...demands.filter(limitsEffort).map(({ id }) => id),
    ...deadlines.map(({ demand }) => demand),
  ]);
}

/**
 * Demands that no work item serves; a limit is also served where a document names it, or where code
 * has computed it. If no work item names any demand, `field_missing` says so once.
 */
export function checkDemands(plan: Plan, computed: ReadonlySet<string>): Problem[] {
  const named = new Set(plan.items.flatMap(({ demands }) => demands.map(idKey)));
  if (named.size === 0) return [];
  const told = new Map<string, Demand>();
  for (const demand of plan.input.demands) {
    if (!told.has(idKey(demand.id))) told.set(idKey(demand.id), demand);
  }
  return [...told.values()]
    .filter(({ id }) => id !== '' && !named.has(idKey(id)))
    .filter(({ id, kind }) => kind === 'demand' || !computed.has(id))
    .filter(({ id, kind }) => kind === 'demand' || !isMentioned(plan, id))
    .map(({ id, kind, text, quote: words }): Problem => {
      const none = kind === 'limit' ? 'No work item and no document' : 'No work item';
      const said = words || text;
      const message = `${none} serves ${id}${said === '' ? '' : ` (${quote(said)})`}. Add one, or name ${id} where it is served.`;
      return { code: 'demand_without_work', subject: id, message, details: { kind } };
    });
}

function isMentioned(plan: Plan, id: string): boolean {
  const isWord = (text: string, at: number): boolean =>
    !/[\p{L}\p{N}]$/u.test(text.slice(0, at)) && !/^[\p{L}\p{N}]/u.test(text.slice(at + id.length));
  return plan.input.documents.some(({ text = '' }) => {
    let at = text.indexOf(id);
    while (at >= 0 && !isWord(text, at)) at = text.indexOf(id, at + 1);
    return at >= 0;
  });
}
