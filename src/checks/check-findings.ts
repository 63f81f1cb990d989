import { idKey } from './ids.ts';
import type { Plan } from './plan.ts';
import { type Problem, quote } from './problem.ts';
import type { Decision } from './types.ts';

/** Heavy findings that no decision, of the ledger or of a document, and no work item answers. */
export function checkFindings(plan: Plan): Problem[] {
  const { findings, decisions } = plan.input;
  const answered = new Set([
    ...plan.items.flatMap((item) => item.findings.map(idKey)),
    ...decisions
      .filter(({ decision }) => decision !== '')
      .flatMap((one) => one.findings.map(idKey)),
  ]);
  // A critique's own record has no number yet; the ledger that collects it has the same with one.
  const open = findings.filter(
    ({ id, weight, decided }) =>
      id !== '' && weight === 'heavy' && decided === '' && !answered.has(idKey(id)),
  );
  return [...new Map(open.map((finding) => [idKey(finding.id), finding])).values()].map(
    ({ id, claim, remedy, option }): Problem => {
      const proposed = remedy === '' ? '' : ` Proposed: ${quote(remedy)}.`;
      return {
        code: 'finding_unanswered',
        subject: id,
        message: `${id} weighs heavy and nothing answers it: ${quote(claim)}.${proposed} Carry it out in a work item, or say where it is taken up, why it is rejected, or who decides it.`,
        details: { option },
      };
    },
  );
}

/** What a decision must say beside its verdict: taken up where, rejected why, open for whom. */
const OWED = { taken_up: 'where', rejected: 'why', open: 'owner' } as const;

/** Decisions that leave out what their verdict owes, by the field that is missing. */
export function findBareDecisions(decisions: readonly Decision[]): Map<string, string[]> {
  const bare = new Map<string, string[]>();
  for (const one of decisions) {
    if (one.decision === '' || one[OWED[one.decision]] !== '') continue;
    const field = OWED[one.decision];
    bare.set(field, [...(bare.get(field) ?? []), ...one.findings]);
  }
  return bare;
}
