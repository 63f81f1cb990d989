import { addNotice } from '../db/notices.ts';
import type { Transaction } from '../db/transaction.ts';
import { admitSources } from '../sources/project-sources.ts';
import type { Registered } from '../sources/source-index.ts';
import { countNoun } from '../text/count-noun.ts';

type Reference = { readonly name: string; readonly text: string };

/** Gives ids to reference documents of a project that are no sources yet. */
export async function admitReferences(tx: Transaction, projectId: string): Promise<Registered[]> {
  const rows = await tx.query<Reference>(
    `select r.name, b.body as text from resources r
     join blobs b on b.tenant_id = r.tenant_id and b.hash = r.blob_hash
     where r.project_id = $1 and r.kind = 'reference_documents' and not exists (
       select from source_excerpts x where x.tenant_id = r.tenant_id
         and x.project_id = r.project_id and x.blob_hash = r.blob_hash)
     order by r.name, r.id`,
    [projectId],
  );
  const drafts = rows.map(({ name, text }) => ({ title: name, excerpts: [text] }));
  return admitSources(
    tx,
    projectId,
    drafts.map((draft) => ({ draft, origin: 'reference_documents' as const })),
  );
}

/**
 * The same for a project that was used before there were ids: its documents cite nothing, so a notice
 * says from when on they can. Returns how many were admitted.
 */
export async function admitEarlierReferences(tx: Transaction, projectId: string): Promise<number> {
  const admitted = (await admitReferences(tx, projectId)).filter(({ isNew }) => isNew);
  if (admitted.length === 0) return 0;
  const ids = admitted.map(({ id }) => id).join(', ');
  await addNotice(tx, {
    severity: 'warning',
    code: 'sources_numbered',
    topic: `project/${projectId}`,
    message:
      `${countNoun(admitted.length, 'reference document')} of this project had no id; ` +
      `from now on documents cite ${ids}. \`dialectic sources list\` shows them.`,
    details: { sources: admitted.map(({ id }) => id) },
  });
  return admitted.length;
}
