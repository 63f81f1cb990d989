import { hash as digest } from 'node:crypto';
import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { requireBounded } from '../recipe/bounds.ts';
import { completeProcess } from '../recipe/complete-process.ts';
import type { Process, Stage } from '../recipe/types.ts';
import { type ProcessManifest, processFromVersion, versionOf } from '../recipe/version.ts';

/** What is stored of each version, which never changes: one that is stored again has another place. */
const known = new Map<string, Process>();
/** Stages by their hashes: what was made of one, a validator say, serves every version with it. */
const knownStages = new Map<string, Stage>();
const KEEP = 50;
const KEEP_STAGES = 10 * KEEP;

/**
 * A version as it is stored. Its hash does not tell the order of sections; the transaction that stored
 * it does, where another order was rolled back before, or erased with its project.
 */
type StoredVersion = { readonly hash: string; readonly savedBy: string };

/** A process as every reader of its version in this process of the machine gets it. */
type Stored = StoredVersion & { readonly process: Process };

/**
 * Stores a process by content: stages that are there already are shared. A hash does not tell the order
 * of sections, so of one that was there already the stored order counts, as for every later reader.
 */
export async function saveRecipe(tx: Transaction, given: Process): Promise<Stored> {
  const { hash, manifest, stages } = versionOf(given);
  const hashes = Object.keys(stages);
  const bodies = Object.values(stages).map((stage) => JSON.stringify(stage));
  // Given before one of them is awaited, the statements take one round trip.
  const [, , , stored] = await Promise.all([
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
    tx.queryOne<{ alike: number; savedBy: string }>(
      `select count(s.*)::int as alike, v.xmin::text as "savedBy"
       from recipe_versions v, unnest($2::text[], $3::text[]) as t (hash, digest)
       left join recipe_stages s on s.hash = t.hash
         and encode(sha256(convert_to(s.body::text, 'UTF8')), 'hex') = t.digest
       where v.hash = $1 group by v.xmin`,
      [hash, hashes, bodies.map((body) => digest('sha256', body, 'hex'))],
    ),
  ]);
  const version = { hash, savedBy: stored.savedBy };
  if (stored.alike < hashes.length) return { ...version, process: await loadRecipe(tx, version) };
  const place = placeOf(tx, version);
  const process =
    known.get(place) ?? completeProcess({ ...given, stages: Object.values(share(tx, stages)) });
  keep(place, process);
  return { ...version, process };
}

const placeOf = ({ tenantId }: TenantQueries, { hash, savedBy }: StoredVersion): string =>
  `${tenantId}/${hash}/${savedBy}`;

/** The stages as they are known by their hashes already, unless with their sections in another order. */
function share(tx: TenantQueries, stages: Readonly<Record<string, Stage>>): Record<string, Stage> {
  if (knownStages.size >= KEEP_STAGES) knownStages.clear();
  const shared = Object.entries(stages).map(([hash, given]): [string, Stage] => {
    const place = `${tx.tenantId}/${hash}`;
    const found = knownStages.get(place);
    const stage = found && isAlike(found, given) ? found : given;
    knownStages.set(place, stage);
    return [hash, stage];
  });
  return Object.fromEntries(shared);
}

const isAlike = (one: Stage, other: Stage): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

function keep(place: string, process: Process): void {
  if (known.size >= KEEP) known.clear();
  known.set(place, process);
}

/** Puts a stored version together again. */
export async function loadRecipe(tx: TenantQueries, stored: StoredVersion): Promise<Process> {
  const place = placeOf(tx, stored);
  const found = known.get(place);
  if (found) return found;
  const [version] = await tx.query<{ manifest: ProcessManifest }>(
    'select manifest from recipe_versions where hash = $1',
    [stored.hash],
  );
  if (!version) throw new DialecticError('not_found', `No recipe has the version ${stored.hash}.`);
  const rows = await tx.query<{ hash: string; body: Stage }>(
    'select hash, body from recipe_stages where hash = any ($1)',
    [version.manifest.stages.map(({ hash }) => hash)],
  );
  const stages = Object.fromEntries(rows.map(({ hash, body }) => [hash, body]));
  const process = processFromVersion(version.manifest, share(tx, stages));
  // A store may be of an earlier release, or of somebody else: no file of it was checked here.
  requireBounded(process);
  keep(place, process);
  return process;
}
