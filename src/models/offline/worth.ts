import type { Mode } from './intents.ts';
import type { Persona } from './personas.ts';
import type { BlockKind } from './read-request.ts';
import type { Role, Statement } from './statement.ts';

type ByKind = Readonly<Record<BlockKind, number>>;

const kinds = (
  request: number,
  seed: number,
  header: number,
  resource: number,
  feedback: number,
  sources: number,
  document: number,
): ByKind => ({ request, seed, header, resource, feedback, sources, document });

/** What counts how much: a proposal lives on the request, a critique on the documents. */
const WEIGHTS: Readonly<Record<Mode, ByKind>> = {
  propose: kinds(1, 0.9, 0.7, 0.9, 1.4, 1, 0.5),
  critique: kinds(-1.5, -1.5, 0.2, 0.4, 1.3, 0.5, 1),
  merge: kinds(0.4, 0.4, 0.3, 0.5, 1.4, 0.5, 1),
  plan: kinds(0.9, 0.8, 0.4, 0.6, 1.4, 0.4, 0.8),
};

const ROLES: Readonly<Record<Role, number>> = {
  task: 0.35,
  limit: 0.2,
  made: 0.1,
  later: 0,
  context: 0,
  score: -2,
};

export const weightOf = (kind: BlockKind, mode: Mode): number => WEIGHTS[mode][kind];

/** What a statement is worth to a persona, whatever the section. */
export function worthOf(
  statement: Statement,
  stress: ReadonlySet<string>,
  { values }: Persona,
): number {
  const { terms, traits, remark, role, cites } = statement;
  const hits = terms.filter((term) => stress.has(term)).length;
  return (
    (0.9 * hits) / Math.sqrt(terms.length + 3) +
    (traits.figure !== '' ? values.figure : 0) +
    (traits.risk ? values.risk : 0) +
    (traits.actor !== '' ? values.actor : 0) +
    ROLES[role] +
    (remark !== '' ? 0.2 : 0) +
    (cites.length > 0 ? 0.4 : 0) -
    (traits.question ? 0.6 : 0) -
    (terms.length < 3 ? 0.8 : 0)
  );
}
