import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { ContractNode } from '../../src/recipe/types.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { recordOffline, runPartly } from './partly.ts';
import { shipped } from './trivial.ts';

const softwarePlan = shipped('software-plan');

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

/** Every field of the shipped contracts that code fills, by place. */
function listFilled(): string[] {
  const found: string[] = [];
  const visit = (node: ContractNode, path: string): void => {
    if (node['x-fill']) found.push(`${path} = ${node['x-fill']}`);
    for (const [key, child] of Object.entries(node.properties ?? {}))
      visit(child, `${path}.${key}`);
    if (node.items) visit(node.items, `${path}[]`);
  };
  for (const process of [softwarePlan, shipped('decision-memo')]) {
    for (const stage of process.stages) {
      for (const [path, contract] of Object.entries(stage.contracts)) {
        visit(contract, `${stage.key}/${path.replace('contracts/', '').replace('.yaml', '')}`);
      }
    }
  }
  return found.filter(
    (place) => !place.endsWith('header_context_artifact.document_key = document_key'),
  );
}

test('the fields that code fills are these; a new one needs a look at whom it names', () => {
  expect(listFilled()).toEqual([
    'antithesis/comparison_vector.proposal.lineage_key = lineage',
    'antithesis/comparison_vector.proposal.source_model_slug = source_model',
    'antithesis/header_context.review_metadata.proposal_identifier.lineage_key = lineage',
    'antithesis/header_context.review_metadata.proposal_identifier.source_model_slug = source_model',
    'synthesis/findings.findings[].by = own_model',
    'paralysis/header_context.system_materials.iteration_metadata.iteration_number = iteration',
  ]);
});

test('a review names the participant whose proposal it is about, and no prompt does', async () => {
  const models = ['offline/builder', 'offline/skeptic'];
  const { provider, asked } = recordOffline();
  const keys = ['header_context', 'comparison_vector'];
  const { session } = await runPartly(
    { database, tenantId },
    {
      process: softwarePlan,
      models,
      provider,
      untilStage: 'antithesis',
      writes: (planned) => planned.stage === 'antithesis' && keys.includes(planned.documentKey),
    },
  );
  const rows = await database.asTenant(tenantId, (tx) =>
    tx.query<{ key: string; critic: string; author: string; named: string; lineage: string }>(
      `select d.document_key as key, critic.model as critic, author.model as author,
         p.value->>'source_model_slug' as named, p.value->>'lineage_key' as lineage
       from documents d
       join documents origin on origin.contribution_id = d.source_group
         and origin.stage_key = 'thesis' and origin.kind = 'header_context'
       join lanes author on author.id = origin.lane_id
       join lanes critic on critic.id = d.lane_id
       cross join lateral (select coalesce(d.content->'proposal',
         d.content->'review_metadata'->'proposal_identifier')) as p (value)
       where d.session_id = $1 and d.stage_key = 'antithesis' and d.document_key = any ($2)`,
      [session.id, keys],
    ),
  );
  expect(rows.length).toBe(8);
  expect(rows.filter((row) => row.critic !== row.author).length).toBe(4);
  for (const row of rows) expect(row.named).toBe(row.author);
  expect(asked.length).toBe(8);
  for (const { messages } of asked) expect(JSON.stringify(messages)).not.toMatch(/offline\//);
}, 120_000);
