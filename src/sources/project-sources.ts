import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { saveBlobs } from '../documents/blobs.ts';
import { DialecticError } from '../errors/errors.ts';
import { elapsedMs, Slices } from '../platform/clock.ts';
import { monitor } from '../platform/performance-monitor.ts';
import { type SourceDraft, withLines } from './source.ts';
import { type ArchivedBytes, saveCopies } from './source-copies.ts';
import type { Likeness, Registered } from './source-index.ts';
import { SourceSet, type StoredSource } from './source-set.ts';

/** How a source came into a project. */
type SourceOrigin = 'given' | 'added' | 'reference_documents' | 'research';

/** A source that is to be admitted. */
export type NewSource = {
  readonly draft: SourceDraft;
  readonly origin: SourceOrigin;
  /** The bytes that it was read from, which are kept with it. */
  readonly archived?: ArchivedBytes;
  /** For what a step found: the places of step, lane and find, which order it among the others. */
  readonly found?: readonly [step: number, lane: number, index: number];
};

/** What people give twice under two names is one source. */
export const SAME_TEXT: Likeness = { mergeAt: 1 };

type Row = {
  ordinal: number;
  key: string;
  title: string;
  about: unknown;
  degraded: string | null;
  alias_of: number | null;
  split_from: readonly number[];
  characters: number;
};

/** Characters that are read at a time: the embedded store keeps the memory that a reply took. */
const MOST_READ = 8_000_000;

/** The sources of a project with their texts. */
export async function readProjectSources(tx: TenantQueries, projectId: string): Promise<SourceSet> {
  const rows = await tx.query<Row>(
    `select s.ordinal, s.key, s.title, s.about, s.degraded, s.alias_of, s.split_from,
       coalesce((select sum(length(b.body)) from source_excerpts x
         join blobs b on b.tenant_id = x.tenant_id and b.hash = x.blob_hash
         where x.tenant_id = s.tenant_id and x.project_id = s.project_id
           and x.source = s.ordinal), 0)::float8 as characters
     from sources s where s.project_id = $1 order by s.ordinal`,
    [projectId],
  );
  const stored: StoredSource[] = [];
  for (const part of partsOf(rows)) {
    const texts = await tx.query<{ source: number; body: string }>(
      `select x.source, b.body from source_excerpts x
       join blobs b on b.tenant_id = x.tenant_id and b.hash = x.blob_hash
       where x.project_id = $1 and x.source = any ($2::int[]) order by x.source, x.ordinal`,
      [projectId, part.map(({ ordinal }) => ordinal)],
    );
    const bodies = Map.groupBy(texts, ({ source }) => source);
    stored.push(...part.map((row) => toStored(row, bodies.get(row.ordinal) ?? [])));
  }
  return new SourceSet(stored);
}

/** Runs of sources whose texts are read together. */
function partsOf(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row.characters;
    const last = parts.at(-1);
    if (last && left >= 0) last.push(row);
    else {
      parts.push([row]);
      left = MOST_READ - row.characters;
    }
  }
  return parts;
}

const toStored = (
  { key, title, about, degraded, ...row }: Row,
  texts: readonly { readonly body: string }[],
): StoredSource => ({
  key,
  draft: withLines({
    // As writeSources put it there.
    ...(about as Omit<SourceDraft, 'title' | 'excerpts'>),
    title,
    excerpts: texts.map(({ body }) => body),
    ...(degraded !== null && { degraded }),
  }),
  aliasOf: row.alias_of,
  splitFrom: row.split_from,
});

/** How many characters of sources a project has. */
export async function countCharacters(tx: TenantQueries, projectId: string): Promise<number> {
  const [row] = await tx.query<{ characters: number }>(
    `select coalesce(sum(length(b.body)), 0)::float8 as characters from source_excerpts x
     join blobs b on b.tenant_id = x.tenant_id and b.hash = x.blob_hash
     where x.project_id = $1`,
    [projectId],
  );
  return row?.characters ?? 0;
}

/**
 * Admits sources in the order of their finds, so that ids do not depend on which lane was faster, and
 * otherwise in the order of the list. Registrations in one project follow each other: the project's row
 * is locked until the transaction ends.
 */
export async function admitSources(
  tx: Transaction,
  projectId: string,
  wanted: readonly NewSource[],
  likeness: Likeness = {},
): Promise<Registered[]> {
  if (wanted.length === 0) return [];
  const startedMs = elapsedMs();
  const ordered = wanted.toSorted(compareFinds);
  const sources = await lockSources(tx, projectId);
  const origins: SourceOrigin[] = [];
  const registered = new Map<NewSource, Registered>();
  // Leases are extended meanwhile: a text of 9 MB takes half a second.
  const slices = new Slices();
  for (const one of ordered) {
    const before = sources.size;
    const outcome = sources.admit(one.draft, likeness);
    registered.set(one, outcome);
    if (sources.size > before) origins.push(one.origin);
    await slices.rest();
  }
  await writeSources(tx, projectId, sources, origins);
  const copies = ordered.flatMap((one) =>
    one.archived ? [{ id: registered.get(one)!.id, archived: one.archived }] : [],
  );
  await saveCopies(tx, projectId, copies);
  const outcomes = wanted.map((one) => registered.get(one)!);
  const own = outcomes.filter(({ id, isNew }) => isNew && !sources.find(id)?.aliasOf).length;
  monitor.count('duplicates', wanted.length - own, own);
  monitor.observe('register', (elapsedMs() - startedMs) / wanted.length);
  return outcomes;
}

const compareFinds = ({ found: a = [0, 0, 0] }: NewSource, { found: b = [0, 0, 0] }: NewSource) =>
  a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Makes a source an alias of another; `splitSource` takes it back. */
export async function mergeSource(
  tx: Transaction,
  projectId: string,
  id: string,
  into: string,
): Promise<void> {
  const sources = await lockSources(tx, projectId);
  sources.merge(id, into);
  await writeSources(tx, projectId, sources, []);
}

/** Makes an alias a source of its own again, with what was said of it. */
export async function splitSource(tx: Transaction, projectId: string, id: string): Promise<void> {
  const sources = await lockSources(tx, projectId);
  sources.split(id);
  await writeSources(tx, projectId, sources, []);
}

async function lockSources(tx: Transaction, projectId: string): Promise<SourceSet> {
  const [project] = await tx.query('select id from projects where id = $1 for no key update', [
    projectId,
  ]);
  if (!project) throw new DialecticError('not_found', `There is no project ${projectId}.`);
  return readProjectSources(tx, projectId);
}

/** Stores what was changed; `origins` are those of the new sources, in the order of their ids. */
async function writeSources(
  tx: Transaction,
  projectId: string,
  sources: SourceSet,
  origins: readonly SourceOrigin[],
): Promise<void> {
  const first = sources.size - origins.length + 1;
  const changed = [...sources.changed].map((ordinal) => ({ ordinal, ...sources.stored(ordinal) }));
  for (const { ordinal, key, draft, aliasOf, splitFrom } of changed) {
    const { title, excerpts: _, degraded = null, ...about } = draft;
    // A key that is known belongs to a source that is known: these are new, or the same row.
    await tx.query(
      `insert into sources
         (tenant_id, project_id, ordinal, key, title, about, degraded, alias_of, origin, split_from)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       on conflict (tenant_id, project_id, ordinal) do update set title = excluded.title,
         about = excluded.about, degraded = excluded.degraded, alias_of = excluded.alias_of,
         split_from = excluded.split_from`,
      [
        tx.tenantId,
        projectId,
        ordinal,
        key,
        title,
        JSON.stringify(about),
        degraded,
        aliasOf,
        origins[ordinal - first] ?? 'given',
        splitFrom,
      ],
    );
  }
  const excerpts = changed.flatMap(({ ordinal, draft }) =>
    draft.excerpts.map((text, at) => ({ source: ordinal, ordinal: at + 1, text })),
  );
  const hashes = await saveBlobs(
    tx,
    excerpts.map(({ text }) => text),
  );
  // Excerpts are only ever added behind those that are there.
  await tx.query(
    `insert into source_excerpts (tenant_id, project_id, source, ordinal, blob_hash)
     select $1, $2, x.source, x.ordinal, x.hash
     from unnest($3::int[], $4::int[], $5::text[]) as x (source, ordinal, hash)
     on conflict do nothing`,
    [
      tx.tenantId,
      projectId,
      excerpts.map(({ source }) => source),
      excerpts.map(({ ordinal }) => ordinal),
      hashes,
    ],
  );
}
