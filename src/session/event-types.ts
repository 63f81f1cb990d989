import { z } from 'zod';
import { JOB_TYPES, type JobStatus, TRANSITIONS } from '../jobs/transitions.ts';

const error = z.object({ code: z.string().nullable(), message: z.string().nullable() }).nullable();
/** Where in the debate; what belongs to no lane, or to no stage, has null there. */
const place = {
  stage: z.string().nullable(),
  iteration: z.number().nullable(),
  laneId: z.string().nullable(),
  /** The lane's number, from 1. */
  lane: z.number().nullable(),
  model: z.string().nullable(),
  step: z.string().nullable(),
};
const job = {
  ...place,
  jobId: z.string(),
  /** The first job of the chain of continuations. */
  chainId: z.string(),
  type: z.enum(JOB_TYPES),
  documentKey: z.string().nullable(),
};
const changedJob = { ...job, status: z.enum(Object.keys(TRANSITIONS) as JobStatus[]) };
const lane = {
  stage: z.string(),
  iteration: z.number(),
  laneId: z.string(),
  lane: z.number().nullable(),
  model: z.string().nullable(),
  degraded: z.boolean(),
};
const stage = { stage: z.string(), iteration: z.number(), degraded: z.boolean() };
const session = { iteration: z.number() };

const SCHEMAS = [
  z.object({
    kind: z.enum([
      'session-created',
      'session-started',
      'session-retried',
      // Another pass over the process.
      'session-continued',
      'session-completed',
      'session-cancelled',
      // Deleted with its project: the only event of it that is left.
      'session-erased',
    ]),
    ...session,
  }),
  z.object({ kind: z.literal('session-failed'), ...session, error }),
  // The reason is a gate (user, funds, budget, approval, storage) `review` or `until`.
  z.object({ kind: z.enum(['session-paused', 'session-resumed']), ...session, reason: z.string() }),
  z.object({
    kind: z.literal('budget-reached'),
    ...session,
    scope: z.string().nullable(),
    currency: z.string().nullable(),
  }),
  z.object({
    kind: z.enum([
      'stage-started',
      'stage-retried',
      'stage-completed',
      'stage-failed',
      'stage-cancelled',
    ]),
    ...stage,
  }),
  z.object({
    kind: z.enum(['step-started', 'step-retried', 'step-completed']),
    ...lane,
    step: z.string(),
  }),
  z.object({ kind: z.literal('step-failed'), ...lane, step: z.string(), error }),
  // A lane that ended before its steps did.
  z.object({ kind: z.literal('lane-failed'), ...lane, error }),
  z.object({
    kind: z.enum([
      'job-created',
      'job-started',
      // Waits for its children or for other lanes.
      'job-suspended',
      'job-woken',
      // Back in the queue unharmed: its worker died or stopped, or the session was paused.
      'job-requeued',
      // A link that ended while its chain goes on in a next job.
      'job-continued',
      'job-completed',
      'job-superseded',
      // Failed or cancelled, and brought back by a person.
      'job-reopened',
    ]),
    ...changedJob,
  }),
  z.object({
    kind: z.literal('job-retried'),
    ...changedJob,
    error,
    attempt: z.number(),
    nextTryAt: z.coerce.date().transform((date) => date.toISOString()),
  }),
  z.object({ kind: z.enum(['job-failed', 'job-cancelled']), ...changedJob, error }),
  // What arrived of an answer so far was saved; the text is in `call_pieces` while the call runs.
  z.object({
    kind: z.literal('text-saved'),
    ...job,
    callId: z.string(),
    seq: z.number(),
    characters: z.number(),
  }),
  // How many parts of long texts are compared so far, before the call that they are read for.
  z.object({
    kind: z.literal('parts-read'),
    ...place,
    jobId: z.string(),
    /** The first text, and how many others. */
    title: z.string(),
    done: z.number(),
    all: z.number(),
  }),
  z.object({
    kind: z.literal('contribution-received'),
    ...job,
    contributionId: z.string(),
    ordinal: z.number(),
    finishReason: z.string(),
  }),
  z.object({
    kind: z.literal('call-ended'),
    ...job,
    callId: z.string(),
    purpose: z.string(),
    outcome: z.enum(['received', 'failed', 'cut']),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** Null where the price is unknown. */
    costMicros: z.number().nullable(),
  }),
  // The first document that is asked for again only because it cites too few of the given sources.
  z.object({ kind: z.literal('sources-not-cited'), ...job }),
  z.object({
    kind: z.enum(['document-created', 'document-rendered']),
    ...place,
    documentId: z.string(),
    documentKind: z.enum(['document', 'header_context', 'seed_prompt']),
    documentKey: z.string().nullable(),
    version: z.number(),
    jobId: z.string().nullable(),
    /** Of a rendered document, its place in the folder; readers work it out, it is not stored. */
    path: z.string().nullable().default(null),
  }),
] as const;

const schema = z.discriminatedUnion('kind', SCHEMAS);

/** One thing that happened in a session; `kind` tells which, and with it the other fields. */
export type SessionEvent = z.infer<typeof schema> & {
  /** Where a reader goes on after it. */
  readonly cursor: string;
  /** When it was saved, as ISO 8601. */
  readonly at: string;
};

const KINDS: ReadonlySet<string> = new Set(
  SCHEMAS.flatMap(({ shape }) =>
    'options' in shape.kind ? [...shape.kind.options] : [...shape.kind.values],
  ),
);

/** A stored event as its type; undefined for a kind that this version does not know. */
export function parseSessionEvent(stored: {
  readonly cursor: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}): SessionEvent | undefined {
  const { cursor, kind, payload, createdAt } = stored;
  if (!KINDS.has(kind)) return undefined;
  // The first job of a chain is stored without the chain's id, which is its own.
  const { jobId } = payload;
  const whole = { ...(jobId !== undefined && { chainId: jobId }), ...payload, kind };
  return { ...schema.parse(whole), cursor, at: createdAt.toISOString() };
}
