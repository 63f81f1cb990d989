import type { ClientBase } from 'pg';
import { toLiterals, withLiterals } from './with-literals.ts';

/** A statement of a batch; with a name the connection keeps its plan for the next time. */
type BatchStatement = {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
  readonly name: string | undefined;
};

/**
 * A batch as texts. `preparing` must be sent before the others and apart from them: the server keeps
 * the whole message with each statement that it prepares, and copies it for every execution.
 */
type PreparedBatch = {
  /** What prepares statements that the connection does not know yet. */
  readonly preparing: readonly string[];
  /** One text each for the statements of the batch. */
  readonly texts: readonly string[];
  /** Must be called when the server has taken `preparing`, `failed` where it refused. */
  readonly made: () => void;
  readonly failed: () => void;
};

type Prepared = { readonly as: string; readonly isMade: boolean };

/** By connection and name: under which name the server has a statement, or will have. */
const known = new WeakMap<ClientBase, Map<string, Prepared>>();

/**
 * Puts statements together for the protocol that takes several at once. It knows no parameters, so
 * that each would be planned every time; those with a name are prepared by the connection's first
 * batch that holds them, and executed from then on.
 */
export function prepareBatch(
  client: ClientBase,
  statements: readonly BatchStatement[],
): PreparedBatch {
  const names = known.get(client) ?? new Map<string, Prepared>();
  known.set(client, names);
  const preparing: string[] = [];
  const added = new Map<string, string>();
  const texts = statements.map(({ text, values = [], name }) => {
    if (name === undefined) return withLiterals(text, values);
    const found = names.get(name) ?? { as: `batch_${name}`, isMade: false };
    if (!found.isMade && !added.has(name)) {
      preparing.push(`prepare "${found.as}" as ${text}`);
      added.set(name, found.as);
    }
    const given = values.length === 0 ? '' : `(${toLiterals(values).join(', ')})`;
    return `execute "${found.as}"${given}`;
  });
  return {
    preparing,
    texts,
    made: () => {
      for (const [name, as] of added) names.set(name, { as, isMade: true });
    },
    // Some may have been prepared: PREPARE outlives its transaction.
    failed: () => {
      for (const [name, as] of added) names.set(name, { as: `${as}_`, isMade: false });
    },
  };
}
