import type { Transaction } from '../db/transaction.ts';
import { readProjectSources } from '../sources/project-sources.ts';
import type { Citation, Source } from '../sources/source.ts';
import { type LastCheck, readChecks } from '../sources/source-checks.ts';
import { readCopies, type SourceCopy } from '../sources/source-copies.ts';
import type { Near } from '../sources/source-index.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { nameOf } from './name-document.ts';

/** A place that cites a source. */
export type SourceUse = Citation & {
  readonly session: string;
  readonly document: string;
  /** `stage/key@lane`. */
  readonly name: string;
  /** The id that it cites: an alias of the source, or the source itself. */
  readonly cited: string;
};

/** A source as lists show it. */
export type SourceInfo = Omit<Source, 'excerpts'> & {
  /** How it came here: `given` with a run, `added`, `reference_documents` or `research`. */
  readonly origin: string;
  readonly admittedAt: Date;
  /** How much of its text is stored. */
  readonly characters: number;
  /** The ids of the sources that it stands for. */
  readonly aliases: readonly string[];
  /** How many places of current documents cite it or an alias of it. */
  readonly uses: number;
  /** How its page stood when it was last looked at; absent where it never was. */
  readonly checked?: LastCheck;
  /** The earlier source whose text is nearly the same, where there is one. */
  readonly near?: Near;
};

/** A source with its texts, what is archived of it, and everything that cites it. */
export type SourceDetail = SourceInfo & {
  readonly excerpts: readonly string[];
  readonly copies: readonly SourceCopy[];
  readonly citedBy: readonly SourceUse[];
};

type UseRow = {
  source: number;
  kind: string;
  place: string;
  session: string;
  document: string;
  stage: string;
  key: string;
  lane: number;
};

/** Where the sources of a project are cited, by the id that stands for each. */
export async function readUses(
  tx: Transaction,
  projectId: string,
  sources: SourceSet,
): Promise<ReadonlyMap<string, readonly SourceUse[]>> {
  const rows = await tx.query<UseRow>(
    `select u.source, u.kind, u.place, d.session_id as session, d.id as document,
       d.stage_key as stage, d.document_key as key, l.ordinal as lane
     from source_uses u
     join documents d on d.tenant_id = u.tenant_id and d.id = u.document_id
     join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
     where u.project_id = $1 and not d.superseded
     order by d.created_at, d.id, u.ordinal`,
    [projectId],
  );
  const uses = rows.map(({ source, kind, place, session, document, ...of }) => ({
    kind: kind as Citation['kind'],
    place,
    session,
    document,
    name: nameOf(of),
    cited: `S${source}`,
  }));
  return Map.groupBy(uses, ({ cited }) => sources.find(cited)?.aliasOf ?? cited);
}

/** The sources of a project in the order of their ids, each with its texts beside it. */
export async function listSources(
  tx: Transaction,
  projectId: string,
): Promise<(Omit<SourceDetail, keyof SourceInfo> & { readonly info: SourceInfo })[]> {
  const sources = await readProjectSources(tx, projectId);
  const uses = await readUses(tx, projectId, sources);
  const rows = await tx.query<{ origin: string; admitted_at: Date }>(
    'select origin, admitted_at from sources where project_id = $1 order by ordinal',
    [projectId],
  );
  const all = sources.all;
  const checks = await readChecks(tx, projectId);
  const copies = Map.groupBy(await readCopies(tx, projectId), ({ source }) => source);
  const near = new Map(sources.near.map(({ of, ...nearest }) => [of, nearest]));
  return all.map(({ excerpts, ...source }, at) => {
    const citedBy = uses.get(source.id) ?? [];
    const checked = checks.get(source.id);
    const info = {
      ...source,
      origin: rows[at]!.origin,
      admittedAt: rows[at]!.admitted_at,
      characters: excerpts.reduce((sum, text) => sum + text.length, 0),
      aliases: all.filter(({ aliasOf }) => aliasOf === source.id).map(({ id }) => id),
      uses: citedBy.length,
      ...(checked && { checked }),
      ...(near.has(source.id) && { near: near.get(source.id)! }),
    };
    return { info, excerpts, copies: copies.get(source.id) ?? [], citedBy };
  });
}
