import { z } from 'zod';
import type { ExecutePayload } from '../generation/chain.ts';
import { readPayload } from '../jobs/read-payload.ts';
import type { Job } from '../jobs/types.ts';

// Payloads of earlier releases have fewer fields, those of later ones may have more: what stands here
// is what the handler reads without looking.

const ids = z.array(z.string());
const turns = z.int().min(0);
const range = z.looseObject({ from: z.int().min(1), to: turns });
const kept = z.array(range);

const planned = z.looseObject({
  identity: z.string(),
  stage: z.string(),
  step: z.string(),
  laneId: z.string(),
  iteration: z.int(),
  documentKey: z.string(),
  outputKind: z.string(),
  inputs: z.array(z.looseObject({ name: z.string(), ids })),
  inputIds: ids,
  driverId: z.string().nullish(),
  respondingLaneId: z.string().nullish(),
  sourceGroup: z.string().nullable(),
  relationships: z.record(z.string(), z.string()),
  missing: z.array(z.looseObject({})).optional(),
});

/** The ids are replaced in the text of the plan: a short one would stand in it many times. */
const awaited = z.looseObject({
  identity: z.string(),
  documentId: z.guid(),
  contributionId: z.union([z.guid(), z.literal('')]),
});

const schema = z.looseObject({
  planned,
  state: z
    .looseObject({
      turns,
      poor: turns.optional(),
      idle: turns,
      repairs: turns,
      mended: turns.optional(),
      audits: turns.optional(),
      uncited: turns.optional(),
      reruns: turns.optional(),
    })
    .optional(),
  from: z.int().min(1).optional(),
  problems: z.string().optional(),
  only: ids.optional(),
  later: ids.optional(),
  kept: kept.optional(),
  awaits: z.union([awaited, z.array(awaited)]).optional(),
  valid: range.extend({ kept: kept.optional() }).optional(),
  rerun: z
    .looseObject({
      lanes: ids,
      tried: ids,
      given: z.array(z.array(z.looseObject({ id: z.string(), text: z.string() }))),
    })
    .optional(),
  uncited: z.literal(true).optional(),
});

/** The payload of an EXECUTE job; one of another shape fails its job by name. */
export const readExecutePayload = (job: Pick<Job, 'id' | 'type' | 'payload'>): ExecutePayload =>
  readPayload(schema, job) as unknown as ExecutePayload;
