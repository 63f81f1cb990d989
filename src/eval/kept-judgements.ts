import { z } from 'zod';
import { readKept, spendingShape } from './cost-note.ts';
import { type Judgement, SIDES } from './judge-cases.ts';
import { DIMENSIONS, ROLES } from './rubric.ts';
import { MADE_RIVALS } from './texts.ts';

const score = z.strictObject({ score: z.number().min(0).max(10), why: z.string() });
const opinion = z.strictObject({
  scores: z.strictObject(
    Object.fromEntries(DIMENSIONS.map(([key]) => [key, score])) as Record<
      (typeof DIMENSIONS)[number][0],
      typeof score
    >,
  ),
  best: z.array(z.string()),
  worst: z.array(z.string()),
});

const judgements = z.array(
  z.strictObject({
    brief: z.string(),
    rivals: z.array(z.enum([...MADE_RIVALS, 'given'])),
    pair: z.string(),
    judge: z.string(),
    role: z.enum(ROLES.map(({ key }) => key)),
    first: z.enum(SIDES),
    preference: z.enum(SIDES),
    reason: z.string(),
    opinions: z.strictObject({ debate: opinion, rival: opinion }),
    spent: z.strictObject(spendingShape),
  }),
);

/** A hundred judges of one brief. */
const LIMITS = { maxFileBytes: 64_000_000, maxFolderBytes: 64_000_000, maxFiles: 1 };

/** What an earlier evaluation was told by judges; they are asked that no more. */
export const readKeptJudgements = async (path: string): Promise<readonly Judgement[]> =>
  (await readKept(path, judgements, LIMITS)) ?? [];
