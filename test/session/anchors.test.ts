import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { startRun } from '../../src/session/start.ts';
import { ANCHOR_TABLE, type AnchorRow } from '../recipes/anchor-table.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped } from './trivial.ts';

/** One stored document; `reference` is the document whose contribution is the anchor. */
type Stored = {
  readonly stage: string;
  readonly step: string;
  readonly own: boolean;
  readonly agrees: boolean;
  readonly reference: string;
  readonly newLineage: boolean;
  readonly lineageOfReference: boolean;
  readonly lineageOfInputs: boolean;
};

const readStored = (database: Database, tenantId: string, sessionId: string): Promise<Stored[]> =>
  database.asTenant(tenantId, (tx) =>
    tx.query<Stored>(
      `select d.stage_key as stage, d.step_key as step, d.anchor_id = d.contribution_id as own,
         d.anchor_id = (d.relationships->>d.stage_key)::uuid as agrees,
         a.stage_key || '/' || a.document_key as reference,
         d.source_group = d.contribution_id as "newLineage",
         d.source_group = a.source_group as "lineageOfReference",
         (select array_agg(distinct i.source_group) from jsonb_array_elements(d.inputs) n,
            jsonb_array_elements_text(n->'ids') as given (input_id)
            join documents i on i.id = given.input_id::uuid
          -- Optional inputs do not decide about the lineage.
          where i.source_group is not null and i.document_key <> 'demands'
         ) = array[d.source_group] as "lineageOfInputs"
       from documents d join documents a on a.contribution_id = d.anchor_id
       where d.session_id = $1 and d.kind <> 'seed_prompt'`,
      [sessionId],
    ),
  );

function expectRow(stored: Stored, row: AnchorRow): void {
  const [stage, step, , reference, lineage, own] = row;
  const place = `${stage}/${step}`;
  expect(stored.agrees, place).toBe(true);
  expect(stored.own, place).toBe(own);
  if (!own) expect(stored.reference, place).toBe(reference);
  if (lineage === 'new') expect(stored.newLineage, place).toBe(true);
  if (lineage === 'shared') expect(stored.newLineage, place).toBe(!stored.lineageOfInputs);
  if (lineage === 'anchor') {
    expect(stored.newLineage, place).toBe(false);
    if (!own) expect(stored.lineageOfReference, place).toBe(true);
  }
}

describe('stored anchors', () => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore('server');
    ({ tenantId } = await newTenant(database));
  });

  test.each([1, 2])(
    'of the shipped process with %i lanes are those of the table, in both places',
    async (lanes) => {
      const { sessionId } = await database.asTenant(tenantId, (tx) =>
        startRun(tx, {
          name: 'A project',
          brief: 'Build a thing that helps people.',
          process: shipped('software-plan'),
          models: Array.from({ length: lanes }, (_, n) => `x/model-${n}`),
        }),
      );
      await runUntil(database, { tenantId, sessionId }, 'completed');
      const stored = await readStored(database, tenantId, sessionId);
      // Beside the calls two documents that code makes in each lane.
      expect(stored.length).toBe((lanes === 1 ? 33 : 104) + 2 * lanes);
      for (const row of ANCHOR_TABLE) {
        const found = stored.filter(({ stage, step }) => stage === row[0] && step === row[1]);
        expect(found.length, row[1]).toBeGreaterThan(0);
        for (const one of found) expectRow(one, row);
      }
    },
    120_000,
  );
});
