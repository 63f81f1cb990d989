import { describe, expect, test } from 'vitest';
import { insertStage } from '../../src/recipe/edit.ts';
import { parseStage } from '../../src/recipe/parse.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { loadProcess } from '../../src/recipe/validate.ts';
import { startRun } from '../../src/session/start.ts';
import { debateAlone, shippedWhole } from '../recipes/shipped.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil } from './trivial.ts';

const CONTRACT = `
type: object
title: Hardening
required: [findings]
properties:
  findings: { type: string, description: What would break. }
`;

/** A stage of a user's own: one look at each branch of the debate, then one merge. */
const hardening = new Map([
  [
    'stage.yaml',
    `
key: hardening
name: Hardening
description: Looks for what breaks, branch by branch.
steps:
  - key: look
    name: Look at one branch
    job_type: EXECUTE
    granularity: per_source_document_by_lineage
    prompt: prompts/look.md
    inputs:
      - { type: document, stage: thesis, document_key: business_case, scope: all }
    output: { kind: document, document_key: look, contract: contracts/look.yaml }
  - key: merge
    name: Merge
    job_type: EXECUTE
    granularity: all_to_one
    prompt: prompts/merge.md
    inputs:
      - { type: contribution, document_key: look, scope: all, multiple: true }
    output:
      kind: document
      document_key: hardening_plan
      contract: contracts/plan.yaml
      template: templates/plan.md
`,
  ],
  ['prompts/look.md', 'Say what would break in {{ inputs.business_case.size }} document.'],
  ['prompts/merge.md', 'Merge the {{ inputs.look.size }} looks.'],
  ['contracts/look.yaml', CONTRACT],
  ['contracts/plan.yaml', CONTRACT],
  ['templates/plan.md', '# {{ document.title }}\n\n{{ content.findings | markdown }}\n'],
]);

describe("a user's stage between synthesis and parenthesis", () => {
  test('fans out over the branches and merges, without a line of code', async () => {
    const database = await openTestStore('server');
    const { tenantId } = await newTenant(database);
    const stage = parseStage(hardening).value!;
    const edited = insertStage(shippedWhole('software-plan'), stage, { after: 'synthesis' });
    const process = debateAlone(loadProcess(processToFiles(edited)));
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: 'With a stage of my own',
        brief: 'Build a thing that helps people.',
        process,
        models: ['x/a', 'x/b'],
      }),
    );
    await runUntil(database, { tenantId, sessionId }, 'completed');
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query(
        `select step_key, count(*) as jobs, count(distinct source_group) as branches,
           max(jsonb_array_length(inputs->0->'ids')) as inputs
         from documents where session_id = $1 and stage_key = 'hardening'
           and kind <> 'seed_prompt' group by step_key order by step_key`,
        [sessionId],
      ),
    );
    expect(rows).toEqual([
      { step_key: 'look', jobs: 4, branches: 2, inputs: 1 },
      { step_key: 'merge', jobs: 2, branches: 2, inputs: 4 },
    ]);
  }, 180_000);
});
