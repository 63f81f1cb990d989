import { z } from 'zod';
import { nameAuthors } from '../documents/authors.ts';
import {
  constructPath,
  deconstructPath,
  type FileIdentity,
  type Work,
} from '../documents/paths.ts';
import type { RecordedAnswer, Recording } from '../models/recorded/recording.ts';
import type { CallSubject, FinishReason } from '../models/types.ts';
import { cleanText } from '../text/clean-text.ts';
import { invalidRecording } from './settings.ts';

const FINISHES = [
  'stop',
  'length',
  'content_filter',
  'interrupted',
  'error',
] as const satisfies readonly FinishReason[];

const tokens = z.int().nonnegative();

/** An answer as the export writes it; folders of earlier releases have no usage, cost and `about`. */
const answerFile = z.object({
  about: z.array(z.int().positive()).optional(),
  finish: z.enum(FINISHES),
  usage: z
    .object({
      inputTokens: tokens,
      outputTokens: tokens,
      cachedInputTokens: tokens,
      estimated: z.boolean(),
    })
    .optional(),
  costUsd: z.number().nonnegative().max(1_000_000).nullable().default(null),
  text: z.string(),
});

type RawFile = Extract<FileIdentity, { readonly kind: 'raw_response' | 'prompt' }>;

/** One file with its place in the chain of its document. */
type Found = {
  readonly attempt: number;
  readonly turn: number;
  readonly about: readonly number[] | undefined;
  readonly answer: RecordedAnswer;
};

/**
 * The answers of an exported session by their place in the debate. `files` are its raw responses by
 * path; `models` its participants by number.
 */
export function readAnswers(
  place: string,
  files: ReadonlyMap<string, string>,
  models: readonly string[],
): Recording {
  const found = new Map<string, Found[]>();
  for (const [path, text] of files) {
    const file = identify(place, path);
    const key = keyOf(file);
    found.set(key, [...(found.get(key) ?? []), readFile(place, path, text, file)]);
  }
  const authors = nameAuthors(models);
  const chainAt = (work: Omit<Work, keyof typeof ANYWHERE>): Found[] =>
    (found.get(keyOf({ ...ANYWHERE, ...work })) ?? []).toSorted((a, b) => a.turn - b.turn);
  return {
    place,
    answersFor(subject) {
      const { stage, documentKey, iteration, lane } = subject;
      const author = authors[lane - 1];
      if (!author) return [];
      const work = { stage, documentKey, iteration, author };
      const relation = relationOf(subject, authors);
      const related = relation === null ? [] : chainAt({ ...work, relation });
      // A lane that made one document of the kind has no relation in its file's name.
      const chain = related.length > 0 ? related : chainAt({ ...work, relation: null });
      const latest = Math.max(...chain.map(({ attempt }) => attempt));
      return chain
        .filter(({ attempt, about }) => attempt === latest && isAbout(about, subject))
        .map(({ answer }) => answer);
    },
  };
}

/** What may differ between the recorded run and its replay. */
const ANYWHERE = { session: 'any', stageNumber: 1, attempt: 1 };

const keyOf = (work: Work): string =>
  constructPath({ ...work, ...ANYWHERE, kind: 'raw_response', continuation: null });

function relationOf({ about }: CallSubject, authors: ReturnType<typeof nameAuthors>) {
  const [source, ...others] = about.flatMap((lane) => authors[lane - 1] ?? []);
  if (!source) return null;
  return others.length === 0
    ? { kind: 'critiquing' as const, source }
    : { kind: 'from' as const, sources: [source, ...others] };
}

/** An answer to the work of others than it is asked about now is none. */
const isAbout = (recorded: readonly number[] | undefined, { about }: CallSubject): boolean =>
  recorded === undefined || recorded.join() === about.join();

function identify(place: string, path: string): RawFile {
  const identity = deconstructPath(path);
  if (identity.kind === 'raw_response') return identity;
  throw invalidRecording(place, `${path} is not an answer.`);
}

function readFile(
  place: string,
  path: string,
  text: string,
  { attempt, continuation }: RawFile,
): Found {
  const parsed = answerFile.safeParse(parseJson(text));
  if (!parsed.success) {
    throw invalidRecording(place, `${path} is not an answer. ${z.prettifyError(parsed.error)}`);
  }
  const { about, finish, usage, costUsd, text: answer } = parsed.data;
  return {
    attempt,
    turn: continuation ?? 0,
    about,
    answer: {
      text: cleanText(answer),
      finishReason: finish,
      usage: usage ? { ...usage, cacheWriteTokens: 0 } : null,
      costMicros: costUsd === null ? null : Math.round(costUsd * 1e6),
    },
  };
}

/** Undefined for what is no JSON, which no answer is either. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
