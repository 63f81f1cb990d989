import { hash as digest } from 'node:crypto';
import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { completeProcess } from '../recipe/complete-process.ts';
import type { Process, Stage } from '../recipe/types.ts';
import { type ProcessManifest, processFromVersion, versionOf } from '../recipe/version.ts';

/**
 * What was read of a version stays true, but for the order of its sections while nothing is stored: a
 * transaction may be rolled back, or a project erased, and another order be saved then.
 */
const known = new Map<string, Process>();
/** Stages by their hashes: what was made of one, a validator say, serves every version with it. */
const knownStages = new Map<string, Stage>();
const KEEP = 50;
const KEEP_STAGES = 10 * KEEP;

/** A process as every reader of its version in this process of the machine gets it. */
type Stored = { readonly hash: string; readonly process: Process };

/**
 * Stores a process by content: stages that are there already are shared. A hash does not tell the order
 * of sections, so of one that was there already the stored order counts, as for every later reader.
 */
export async function saveRecipe(tx: Transaction, given: Process): Promise<Stored> {
  const { hash, manifest, stages } = versionOf(given);
  const hashes = Object.keys(stages);
  const bodies = Object.values(stages).map((stage) => JSON.stringify(stage));
  // Given before one of them is awaited, the statements take one round trip.
  const [, , , [stored]] = await Promise.all([
    tx.query('select keep_texts()'),
    tx.query(
      `insert into recipe_stages (tenant_id, hash, body)
       select $1, t.hash, t.body from unnest($2::text[], $3::json[]) as t (hash, body)
       order by t.hash
       on conflict do nothing`,
      [tx.tenantId, hashes, bodies],
    ),
    tx.query(
      `insert into recipe_versions (tenant_id, hash, process_key, manifest)
       values ($1, $2, $3, $4) on conflict do nothing`,
      [tx.tenantId, hash, given.key, JSON.stringify(manifest)],
    ),
    tx.query<{ alike: number }>(
      `select count(*)::int as alike
       from unnest($1::text[], $2::text[]) as t (hash, digest)
       join recipe_stages s on s.hash = t.hash
         and encode(sha256(convert_to(s.body::text, 'UTF8')), 'hex') = t.digest`,
      [hashes, bodies.map((body) => digest('sha256', body, 'hex'))],
    ),
  ]);
  if (stored?.alike !== hashes.length) {
    forget(tx, [hash, ...hashes]);
    return { hash, process: await loadRecipe(tx, hash) };
  }
  const place = placeOf(tx, hash);
  const made = completeProcess({ ...given, stages: share(tx, stages) });
  const found = known.get(place);
  if (found?.stages.every((stage, at) => stage === made.stages[at]))
    return { hash, process: found };
  keep(place, made);
  return { hash, process: made };
}

const placeOf = ({ tenantId }: TenantQueries, hash: string): string => `${tenantId}/${hash}`;

/** The stages as they are known by their hashes already, unless with their sections in another order. */
function share(tx: TenantQueries, stages: Readonly<Record<string, Stage>>): Stage[] {
  if (knownStages.size >= KEEP_STAGES) knownStages.clear();
  return Object.entries(stages).map(([hash, given]) => {
    const found = knownStages.get(placeOf(tx, hash));
    const stage = found && isAlike(found, given) ? found : given;
    knownStages.set(placeOf(tx, hash), stage);
    return stage;
  });
}

const isAlike = (one: Stage, other: Stage): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

function forget(tx: TenantQueries, hashes: readonly string[]): void {
  for (const hash of hashes) {
    known.delete(placeOf(tx, hash));
    knownStages.delete(placeOf(tx, hash));
  }
}

function keep(place: string, process: Process): void {
  if (known.size >= KEEP) known.clear();
  known.set(place, process);
}

/** Puts a stored version together again. */
export async function loadRecipe(tx: TenantQueries, hash: string): Promise<Process> {
  const place = placeOf(tx, hash);
  const found = known.get(place);
  if (found) return found;
  const [version] = await tx.query<{ manifest: ProcessManifest }>(
    'select manifest from recipe_versions where hash = $1',
    [hash],
  );
  if (!version) throw new DialecticError('not_found', `No recipe has the version ${hash}.`);
  const hashes = version.manifest.stages.map((stage) => stage.hash);
  const process = processFromVersion(version.manifest, await loadStages(tx, hashes));
  keep(place, process);
  return process;
}

async function loadStages(
  tx: TenantQueries,
  hashes: readonly string[],
): Promise<Record<string, Stage>> {
  const missing = hashes.filter((hash) => !knownStages.has(placeOf(tx, hash)));
  const rows =
    missing.length === 0
      ? []
      : await tx.query<{ hash: string; body: Stage }>(
          'select hash, body from recipe_stages where hash = any ($1)',
          [missing],
        );
  const read = new Map(rows.map((row) => [row.hash, row.body]));
  const found = hashes.flatMap((hash): [string, Stage][] => {
    const stage = knownStages.get(placeOf(tx, hash)) ?? read.get(hash);
    return stage ? [[hash, stage]] : [];
  });
  share(tx, Object.fromEntries(found));
  return Object.fromEntries(found);
}
