import { makeStatement, type Statement } from './statement.ts';
import { overlap } from './term-index.ts';
import { capitalise } from './title.ts';
import { anyOf } from './vocabulary.ts';

/** A thing that the brief asks for; ids follow its order, so that every call has the same. */
export type Requirement = { readonly id: string; readonly statement: Statement };

const OWN_ID = /^\W{0,3}((?:R|REQ|FR|NFR|US|UC)-?\d+(?:\.\d+)*)\b/;
const MOST = 30;
/** With fewer sentences than this, their clauses become requirements of their own. */
const FEW = 5;

/** What the brief asks for, numbered R1, R2, … unless it numbers its sentences itself. */
export function findRequirements(brief: readonly Statement[]): Requirement[] {
  const asking = brief.filter((one) => one.role !== 'context' && !one.traits.question);
  const enough = asking.length >= Math.min(FEW, brief.length / 3) ? asking : brief;
  const found = enough.flatMap(enough.length < FEW ? splitClauses : splitDemands);
  let last = 0;
  return found.slice(0, MOST).map((statement) => {
    const own = OWN_ID.exec(statement.core)?.[1];
    return { id: own ?? `R${++last}`, statement };
  });
}

const DEMAND =
  /[,;]\s+(?:and\s+|but\s+)?(?=(?:\S+\s){1,6}?(?:must|shall|should|can|has to|have to|may)\s)/;

/** A sentence that makes two demands makes two requirements. */
function splitDemands(statement: Statement): Statement[] {
  const parts = statement.core.split(DEMAND);
  if (parts.length < 2) return [statement];
  return parts.map((part) => toPart(part, statement));
}

const BREAK =
  /(?:(?<!\s)\s+)?(?:[;；、]\s*|,\s*(?:and|with|which|that|plus|as well as)?\s*)|(?<!\s)\s+and then\s+/u;
const LEAST_WORDS = 3;
/** What such a clause says belongs to the one before. */
const HANGING = new RegExp(
  `^${anyOf('because, since, as, which, when, if, where, while, although, so that, taken').source}`,
  'i',
);

/** The clauses of a long sentence, where each has words enough to stand alone. */
function splitClauses(statement: Statement): Statement[] {
  const parts: string[] = [];
  for (const part of statement.core.split(BREAK)) {
    const words = part.split(/\s+/).length;
    const hangs = HANGING.test(part) || (words < LEAST_WORDS && part.length < 24);
    if (parts.length > 0 && hangs) {
      parts[parts.length - 1] += `, ${part}`;
    } else parts.push(part);
  }
  if (parts.length < 2) return [statement];
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part)).map((part) => toPart(part, statement));
}

/** A clause of a demand is a demand, also without a verb of its own. */
function toPart(part: string, { cites, sections, role }: Statement): Statement {
  const own = makeStatement(`${capitalise(part)} ${cites.join(' ')}`.trim(), sections);
  return own.role === 'context' ? { ...own, role } : own;
}

const NAMED = 0.6;

/** The ids that a statement names, or whose requirement it repeats in other words. */
export function traceIds(statement: Statement, requirements: readonly Requirement[]): string[] {
  const written = new Set(statement.text.match(/\b[A-Z]{1,4}-?\d+(?:\.\d+)*\b/g) ?? []);
  const named = requirements.filter((one) => written.has(one.id)).map((one) => one.id);
  if (named.length > 0) return named;
  return requirements
    .map((one) => ({ id: one.id, share: overlap(one.statement.termSet, statement.termSet) }))
    .filter(({ share }) => share >= NAMED)
    .toSorted((a, b) => b.share - a.share)
    .slice(0, 2)
    .map(({ id }) => id);
}

const COVERED = 0.5;

/** How many statements take up each requirement. */
export function countCoverage(
  requirements: readonly Requirement[],
  statements: readonly Statement[],
): { readonly one: Requirement; readonly count: number }[] {
  return requirements.map((one) => ({
    one,
    count: statements.filter((statement) => takesUp(statement, one)).length,
  }));
}

const takesUp = (one: Statement, { id, statement }: Requirement): boolean =>
  overlap(statement.termSet, one.termSet) >= COVERED || one.text.includes(`${id} `);

/** Requirements that none of the statements takes up. */
export function findUncovered(
  requirements: readonly Requirement[],
  statements: readonly Statement[],
): Requirement[] {
  return requirements.filter((one) => !statements.some((statement) => takesUp(statement, one)));
}
