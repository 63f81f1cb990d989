import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';
import { MOST_PARTICIPANTS } from '../models/participants.ts';
import { parseOverlay } from '../recipe/parse-overlay.ts';
import { DEPTHS, type Overlay } from '../recipe/types.ts';
import { isDay } from '../text/day.ts';

const SETTINGS = 'project_settings.json';

const overlay = z.record(z.string(), z.unknown()).nullable().default(null).transform(toOverlay);

function toOverlay(value: Record<string, unknown> | null): Overlay | null {
  return value && parseOverlay(SETTINGS, JSON.stringify(value));
}

const feedback = z.object({
  iteration: z.int().positive(),
  stage: z.string(),
  document: z.string().nullable(),
  question: z.string().nullable(),
  text: z.string(),
  readBy: z.object({ stage: z.string(), iteration: z.int().positive() }).nullable(),
});

/** What `project_settings.json` says of the run that a folder holds. */
const settings = z.object({
  project: z.object({ name: z.string(), domain: z.string().nullable(), overlay }),
  session: z.object({
    id: z.uuid(),
    iteration: z.int().positive(),
    status: z.string().default('completed'),
    awaiting: z.string().nullable().default(null),
    until: z.string().nullable().default(null),
    /** Absent in folders of earlier releases, whose prompts named no day. */
    date: z.string().refine(isDay, 'is no day').nullable().default(null),
    chosen: z
      .object({ lane: z.int().positive().nullable(), by: z.string().nullable() })
      .default({ lane: null, by: null }),
    overlay,
  }),
  process: z.string(),
  /** Absent in folders of earlier releases. */
  run: z
    .object({
      depth: z.enum(DEPTHS),
      ask: z.boolean(),
      result: z.boolean(),
      shortcuts: z.boolean(),
      writer: z.int().positive().nullable(),
    })
    .optional(),
  models: z
    .array(z.object({ lane: z.int().positive(), model: z.string() }))
    .min(1)
    .max(MOST_PARTICIPANTS),
  degraded: z.boolean().default(false),
  feedback: z.array(feedback).default([]),
});

export type RecordedSettings = z.infer<typeof settings>;
export type RecordedFeedback = RecordedSettings['feedback'][number];

/** Parses the settings of an exported folder. */
export function parseSettings(folder: string, text: string): RecordedSettings {
  const parsed = settings.safeParse(parseJson(folder, text));
  if (parsed.success) {
    const { models } = parsed.data;
    return { ...parsed.data, models: models.toSorted((a, b) => a.lane - b.lane) };
  }
  const why = z.prettifyError(parsed.error);
  throw invalidRecording(folder, `its ${SETTINGS} is not valid. ${why}`);
}

function parseJson(folder: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidRecording(folder, `its ${SETTINGS} is not JSON: ${(cause as Error).message}`);
  }
}

/** Says why a folder cannot be replayed. */
export const invalidRecording = (folder: string, why: string): DialecticError =>
  new DialecticError('recording_invalid', `${folder} cannot be replayed: ${why}`, {
    details: { folder },
  });
