import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { findRecipe, listShippedRecipes, type RecipeFolder } from '../catalogue/recipe-folders.ts';
import { nameAuthors } from '../documents/authors.ts';
import { constructPath, deconstructPath } from '../documents/paths.ts';
import { messageOf } from '../errors/errors.ts';
import type { Recording } from '../models/recorded/recording.ts';
import {
  explain,
  readTextFolder,
  readTextFolderWithin,
  readTextWithin,
} from '../platform/folders.ts';
import { configureProcess } from '../recipe/configure-process.ts';
import type { RecipeFiles } from '../recipe/parse.ts';
import type { Process } from '../recipe/types.ts';
import { loadProcess } from '../recipe/validate.ts';
import { COPIES_FOLDER } from '../session/export-copies.ts';
import { SOURCES_DATA, SOURCES_PAGE } from '../session/export-sources.ts';
import type { NewResource, NewRun } from '../session/start.ts';
import type { SourceDraft } from '../sources/source.ts';
import { findStop } from './find-stop.ts';
import { readAnswers } from './read-answers.ts';
import { invalidRecording, parseSettings, type RecordedSettings } from './settings.ts';

/** The longest answer that a provider may give has a million characters. */
const LIMITS = { maxFileBytes: 16_000_000, maxFolderBytes: 0, maxFiles: 0 };
const MOST_ANSWERS = 20_000;
/** Of all that is read together, which is kept in memory. */
const MOST_CHARS = 400_000_000;

/** An exported run: what it began with, and what its participants answered. */
export type RecordedRun = {
  readonly settings: RecordedSettings;
  readonly brief: string;
  readonly resources: readonly NewResource[];
  /** What its documents could cite, in the order of the ids. */
  readonly sources: readonly SourceDraft[];
  /** The stages that it went through. */
  readonly stages: ReadonlySet<string>;
  /** Those of its last pass. */
  readonly lastStages: ReadonlySet<string>;
  /** The lanes, from 1, whose answers in a stage of the last pass are recorded. */
  readonly lastWriters: (stage: string) => ReadonlySet<number>;
  readonly recording: Recording;
  /** The recipe that it followed; null in folders of earlier releases. */
  readonly recipe: RecipeFiles | null;
};

/** Reads the folder that a run has left. */
export async function readRecordedRun(folder: string, most = MOST_CHARS): Promise<RecordedRun> {
  let left = most;
  const read = async (path: string): Promise<string> => {
    const text = await readTextWithin(folder, path, LIMITS);
    left -= text.length;
    if (left < 0) throw invalidRecording(folder, `it holds more than ${most} characters.`);
    return text;
  };
  const paths = await listFiles(folder);
  const settingsPath = constructPath({ kind: 'project_settings' });
  if (!paths.includes(settingsPath)) {
    throw invalidRecording(folder, `it has no ${settingsPath}.`);
  }
  const settings = parseSettings(folder, await read(settingsPath));
  const own = `session_${settings.session.id.slice(-12)}/`;
  const answers = paths.filter((path) => path.startsWith(own) && path.includes('/raw_responses/'));
  if (answers.length === 0) throw invalidRecording(folder, `${own} holds no answers.`);
  if (answers.length > MOST_ANSWERS) {
    throw invalidRecording(folder, `it holds more than ${MOST_ANSWERS} answers.`);
  }
  const texts = new Map<string, string>();
  for (const path of answers) texts.set(path, await read(path));
  const models = settings.models.map(({ model }) => model);
  const recipe = `${own}recipe`;
  const authors = nameAuthors(models);
  const laneOf = (path: string, stage: string): number[] => {
    if (!stageOf(path, settings.session.iteration).includes(stage)) return [];
    const identity = deconstructPath(path);
    if (!('author' in identity)) return [];
    const { model, copy } = identity.author;
    return [authors.findIndex((one) => one.model === model && one.copy === copy) + 1];
  };
  const isOwn = paths.includes(`${recipe}/process.yaml`);
  const resources = paths
    .filter((path) => path.startsWith('general_resource/'))
    .filter((path) => path !== SOURCES_PAGE && path !== SOURCES_DATA)
    .filter((path) => path.split('/')[1] !== COPIES_FOLDER);
  return {
    settings,
    brief: await read(constructPath({ kind: 'user_prompt', name: settings.project.name })),
    resources: await readResources(resources, read),
    sources: paths.includes(SOURCES_DATA) ? readSources(folder, await read(SOURCES_DATA)) : [],
    stages: new Set(answers.flatMap((path) => stageOf(path))),
    lastStages: new Set(answers.flatMap((path) => stageOf(path, settings.session.iteration))),
    lastWriters: (stage) => new Set(answers.flatMap((path) => laneOf(path, stage))),
    recording: readAnswers(folder, texts, models),
    recipe: isOwn ? await readTextFolderWithin(folder, recipe) : null,
  };
}

const SOURCES = z.array(
  z
    .object({
      title: z.string(),
      url: z.string().optional(),
      doi: z.string().optional(),
      isbn: z.string().optional(),
      author: z.string().optional(),
      publisher: z.string().optional(),
      year: z.number().optional(),
      excerpts: z.array(z.string()),
      degraded: z.string().optional(),
    })
    .readonly(),
);

/** The sources of the run; what stands for itself alone says so anew. */
function readSources(folder: string, text: string): SourceDraft[] {
  try {
    return SOURCES.parse(JSON.parse(text)) as SourceDraft[];
  } catch (cause) {
    const why = messageOf(cause).slice(0, 200);
    throw invalidRecording(folder, `its ${SOURCES_DATA} holds no list of sources. ${why}`);
  }
}

/** Links are not followed; reading one that is named is refused. */
async function listFiles(folder: string): Promise<string[]> {
  try {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    return found
      .filter((one) => !one.isDirectory())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
      .map((name) => name.split(sep).join('/'))
      .toSorted();
  } catch (thrown) {
    throw explain(thrown, folder);
  }
}

/** The stage of a file, where it is of the named pass. */
function stageOf(path: string, pass?: number): string[] {
  const identity = deconstructPath(path);
  if (!('stage' in identity)) return [];
  return pass === undefined || identity.iteration === pass ? [identity.stage] : [];
}

/** One after the other: a folder may hold any number of them. */
async function readResources(
  paths: readonly string[],
  read: (path: string) => Promise<string>,
): Promise<NewResource[]> {
  const resources: NewResource[] = [];
  for (const path of paths) resources.push(toResource(path, await read(path)));
  return resources;
}

function toResource(path: string, text: string): NewResource {
  const identity = deconstructPath(path);
  const name = identity.kind === 'general_resource' ? identity.name : path;
  const [kind = '', ...rest] = name.split('/');
  return { kind, name: rest.join('/'), text };
}

/** The run once more: the same participants, brief and material, with its recipe or another. */
export async function planReplay(
  recorded: RecordedRun,
  recipe: string | undefined,
): Promise<NewRun> {
  const { settings, brief, resources, sources } = recorded;
  const { project, session, run, models, feedback } = settings;
  const own = recipe === undefined ? recorded.recipe : null;
  const process = own ? loadProcess(own) : await configureRecipe(recorded, recipe);
  return {
    name: project.name,
    domain: project.domain,
    projectOverlay: project.overlay,
    overlay: session.overlay,
    brief,
    resources,
    sources,
    process,
    models: models.map(({ model }) => asRecorded(model)),
    // A run that people steered rests where they did, and is steered by what they said.
    reviewStages: feedback.some(({ iteration, readBy }) => readBy?.iteration === iteration),
    allowDegraded: settings.degraded,
    // Earlier passes went further than the last one.
    untilStage: session.iteration === 1 ? findStop(recorded, process) : session.until,
    writer: run?.writer ?? null,
    date: session.date,
  };
}

/** Another recipe with what was decided about the recorded run. */
async function configureRecipe(
  { settings: { run, models, process: key }, stages, recording }: RecordedRun,
  recipe: string | undefined,
): Promise<Process> {
  const { folder } =
    recipe === undefined ? await findShipped(recording.place, key) : await findRecipe(recipe);
  const process = loadProcess(await readTextFolder(folder));
  const isLeftOut = (stage: string | null): boolean => stage !== null && !stages.has(stage);
  return configureProcess(process, {
    depth: run?.depth ?? 'standard',
    ask: run?.ask ?? !isLeftOut(process.askStage),
    result: run?.result ?? !isLeftOut(process.resultStage),
    shortcuts: run?.shortcuts ?? true,
    laneCount: models.length,
  });
}

/** A recording may come from somebody else: it names a shipped recipe, and no folder of the user. */
async function findShipped(place: string, key: string): Promise<RecipeFolder> {
  const found = (await listShippedRecipes()).find(({ name }) => name === key);
  if (found) return found;
  throw invalidRecording(
    place,
    `its recipe ${key} is neither in it nor shipped; name one with --recipe.`,
  );
}

/**
 * A replay of a replay has the same participants as its original. Options behind a question mark
 * were for the provider of then: what they did is in its answers.
 */
function asRecorded(model: string): string {
  if (model.startsWith('recorded/')) return model;
  const mark = model.indexOf('?');
  return `recorded/${mark < 0 ? model : model.slice(0, mark)}`;
}
