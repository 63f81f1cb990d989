import { DialecticError } from '../errors/errors.ts';
import {
  byteLength,
  decodeName,
  encodeKey,
  encodeName,
  encodeToken,
  escapeFirst,
  MOST_BYTES,
  shortenFile,
  shortenName,
} from './path-names.ts';

/** A participant: a model, and which of the participants with that model, from 1. */
export type Author = { readonly model: string; readonly copy: number };

/** How a piece of work relates to others; its file name says so. */
export type Relation =
  | { readonly kind: 'critiquing'; readonly source: Author }
  | { readonly kind: 'from'; readonly sources: readonly Author[] }
  | { readonly kind: 'reducing'; readonly sourceId: string };

type StagePlace = {
  readonly session: string;
  readonly iteration: number;
  /** Position of the stage in its process, from 1. */
  readonly stageNumber: number;
  readonly stage: string;
};

export type Work = StagePlace & {
  readonly author: Author;
  readonly relation: Relation | null;
  readonly attempt: number;
  /** The document key; the stage's own key for work that has none. */
  readonly documentKey: string;
};

/** Every file of a project's tree. */
export type FileIdentity =
  | { readonly kind: 'project_readme' | 'project_settings' }
  /** A document of the result, under its title in a folder that the process names. */
  | { readonly kind: 'result'; readonly folder: string; readonly name: string }
  /** The list of everything that a session made. */
  | { readonly kind: 'contents'; readonly session: string }
  /** A file of the recipe that a session followed, by its path within the recipe. */
  | { readonly kind: 'recipe'; readonly session: string; readonly name: string }
  | {
      readonly kind:
        | 'user_prompt'
        | 'export'
        | 'general_resource'
        | 'pending'
        | 'current'
        | 'complete';
      /** Without extension for prompt and export; with folders and extension for every other kind. */
      readonly name: string;
    }
  | (StagePlace & { readonly kind: 'seed_prompt' | 'stage_feedback' })
  | (Work & { readonly kind: 'contribution' | 'header_context' | 'document_feedback' })
  | (Work & { readonly kind: 'document' | 'intermediate'; readonly format: 'md' | 'json' })
  | (Work & { readonly kind: 'raw_response' | 'prompt'; readonly continuation: number | null })
  | (Work & { readonly kind: 'continuation_chunk'; readonly continuation: number });

type WorkIdentity = Extract<FileIdentity, { readonly author: Author }>;

const FOLDERS = {
  general_resource: 'general_resource',
  pending: 'Pending',
  current: 'Current',
  complete: 'Complete',
} as const;

/** The path of a file within the project's folder. */
export function constructPath(identity: FileIdentity): string {
  switch (identity.kind) {
    case 'project_readme':
      return 'project_readme.md';
    case 'project_settings':
      return 'project_settings.json';
    case 'user_prompt': {
      const name = encodeName(identity.name);
      // Some file systems do not tell small letters from capitals.
      const isTaken = name.toLowerCase() === 'project_readme';
      return shortenFile(`${isTaken ? escapeFirst(name) : name}.md`);
    }
    case 'export':
      return shortenFile(`${encodeName(identity.name)}.zip`);
    case 'general_resource':
    case 'pending':
    case 'current':
    case 'complete':
      return [FOLDERS[identity.kind], ...encodeParts(identity.name)].join('/');
    case 'result': {
      const folder = encodeName(identity.folder);
      const taken =
        Object.values<string>(FOLDERS).includes(folder) || folder.startsWith('session_');
      const place = shortenFile(taken ? escapeFirst(folder) : folder);
      return `${place}/${shortenFile(`${encodeName(identity.name)}.md`)}`;
    }
    case 'contents':
      return `${sessionFolder(identity.session)}/contents.md`;
    case 'recipe':
      return [sessionFolder(identity.session), 'recipe', ...encodeParts(identity.name)].join('/');
    case 'seed_prompt':
      return `${stageFolder(identity)}/seed_prompt.md`;
    case 'stage_feedback':
      return `${stageFolder(identity)}/user_feedback_${encodeStage(identity.stage)}.md`;
    default:
      return `${stageFolder(identity)}/${workFile(identity)}`;
  }
}

/** Room for the words around the name of a stage, in its folder and in its feedback's file. */
const LONGEST_STAGE = 200;

const encodeStage = (stage: string): string => shortenName(encodeName(stage), LONGEST_STAGE);
const encodeParts = (name: string): string[] =>
  name.split('/').map((part) => shortenFile(encodeName(part)));
const sessionFolder = (session: string): string =>
  `session_${shortenName(encodeName(session), LONGEST_STAGE)}`;

function stageFolder({ session, iteration, stageNumber, stage }: StagePlace): string {
  return `${sessionFolder(session)}/iteration_${iteration}/${stageNumber}_${encodeStage(stage)}`;
}

/** Bytes for each part of a name that would be too long as a whole; all of them fit together. */
const SHORT_PARTS = { author: 40, key: 72 };

/** Where the whole name is too long, its parts are shortened one by one, so that it still reads. */
function workFile(work: WorkIdentity): string {
  const whole = nameWorkFile(work, workName(work));
  const name = whole.slice(whole.lastIndexOf('/') + 1);
  return byteLength(name) <= MOST_BYTES ? whole : nameWorkFile(work, workName(work, SHORT_PARTS));
}

function nameWorkFile(work: WorkIdentity, name: string): string {
  switch (work.kind) {
    case 'contribution':
      return `${name}.md`;
    case 'document':
      return `documents/${name}.${work.format}`;
    case 'document_feedback':
      return `documents/${name}_feedback.md`;
    case 'intermediate':
      return `_work/${name}.${work.format}`;
    case 'continuation_chunk':
      return `_work/${name}_continuation_${work.continuation}.md`;
    case 'header_context':
      return `_work/context/${name}.json`;
    case 'prompt':
      return `_work/prompts/${name}${turn(work.continuation)}_prompt.md`;
    default:
      return `raw_responses/${name}${turn(work.continuation)}_raw.json`;
  }
}

const turn = (continuation: number | null): string =>
  continuation === null ? '' : `_continuation_${continuation}`;

const UNLIMITED = { author: Number.POSITIVE_INFINITY, key: Number.POSITIVE_INFINITY };

function workName({ author, relation, attempt, documentKey }: Work, most = UNLIMITED): string {
  const parts = [
    authorToken(author, most.author),
    ...relationTokens(relation, most.author),
    String(attempt),
  ];
  return `${parts.join('_')}_${shortenName(encodeKey(documentKey), most.key)}`;
}

function authorToken({ model, copy }: Author, most: number): string {
  const token = shortenName(encodeToken(model), most);
  return copy === 1 ? token : `${token}+${copy}`;
}

/** Of a merge of many, the file names the first two and stands for the rest by a digest. */
function relationTokens(relation: Relation | null, most: number): string[] {
  if (relation === null) return [];
  if (relation.kind === 'critiquing') return ['critiquing', authorToken(relation.source, most)];
  if (relation.kind === 'reducing') {
    return ['reducing', shortenName(encodeToken(relation.sourceId), most)];
  }
  const names = relation.sources.map((source) => authorToken(source, most));
  const [first = '', ...others] = names;
  if (others.length < 2 || most === UNLIMITED.author) return ['from', names.join('_and_')];
  return ['from', `${first}_and_${shortenName(others.join('-').replaceAll('+', '%2B'), most)}`];
}

const AUTHOR = '[^_+/]+(?:\\+\\d+)?';
const NAME = new RegExp(
  `^(?<author>${AUTHOR})_(?:critiquing_(?<source>${AUTHOR})_|` +
    `from_(?<sources>${AUTHOR}(?:_and_${AUTHOR})*)_|reducing_(?<id>[^_+/]+)_)?` +
    '(?<attempt>\\d+)_(?<key>.+)$',
  's',
);
const STAGE = /^session_([^/]+)\/iteration_(\d+)\/(\d+)_([^/]+)\/(.+)$/s;

/** What a path means; the exact inverse of constructPath. Any other path is path_invalid. */
export function deconstructPath(path: string): FileIdentity {
  const identity = readProjectFile(path) ?? readStageFile(path);
  if (identity === null || constructPath(identity) !== path) {
    throw new DialecticError('path_invalid', `${path} is not a path of a project's tree.`, {
      details: { path },
    });
  }
  return identity;
}

function readProjectFile(path: string): FileIdentity | null {
  if (path === 'project_readme.md') return { kind: 'project_readme' };
  if (path === 'project_settings.json') return { kind: 'project_settings' };
  const [folder, ...rest] = path.split('/');
  if (rest.length === 0) {
    const top = /^(.+)\.(md|zip)$/s.exec(path);
    if (top === null) return null;
    const name = decodeName(top[1] ?? '');
    return { kind: top[2] === 'zip' ? 'export' : 'user_prompt', name };
  }
  const name = rest.map(decodeName).join('/');
  for (const kind of ['general_resource', 'pending', 'current', 'complete'] as const) {
    if (folder === FOLDERS[kind]) return { kind, name };
  }
  const [file = '', ...inner] = rest;
  if (folder?.startsWith('session_') && file === 'recipe' && inner.length > 0) {
    const session = decodeName(folder.slice('session_'.length));
    return { kind: 'recipe', session, name: inner.map(decodeName).join('/') };
  }
  if (rest.length > 1 || !file.endsWith('.md')) return null;
  if (folder?.startsWith('session_') && file === 'contents.md') {
    return { kind: 'contents', session: decodeName(folder.slice('session_'.length)) };
  }
  const title = decodeName(file.slice(0, -'.md'.length));
  return { kind: 'result', folder: decodeName(folder ?? ''), name: title };
}

function readStageFile(path: string): FileIdentity | null {
  const match = STAGE.exec(path);
  if (match === null) return null;
  const [, session = '', iteration, stageNumber, stage = '', file = ''] = match;
  const place: StagePlace = {
    session: decodeName(session),
    iteration: Number(iteration),
    stageNumber: Number(stageNumber),
    stage: decodeName(stage),
  };
  if (file === 'seed_prompt.md') return { kind: 'seed_prompt', ...place };
  if (file === `user_feedback_${stage}.md`) return { kind: 'stage_feedback', ...place };
  return readWorkFile(place, file);
}

function readWorkFile(place: StagePlace, file: string): FileIdentity | null {
  const at = file.lastIndexOf('/');
  const folder = file.slice(0, Math.max(at, 0));
  const [, stem = '', format] = /^(.*)\.(md|json)$/s.exec(file.slice(at + 1)) ?? [];
  const ending = (pattern: RegExp): [string, number | null] => {
    const [, name = '', continuation] = pattern.exec(stem) ?? [];
    return [name, continuation === undefined ? null : Number(continuation)];
  };
  const work = (name: string): Work | null => readWorkName(place, name);
  const typed = <Kind extends object>(name: string, rest: Kind): (Work & Kind) | null => {
    const read = work(name);
    return read === null ? null : { ...rest, ...read };
  };
  const form = format === 'json' ? 'json' : 'md';
  switch (folder) {
    case '':
      return typed(stem, { kind: 'contribution' });
    case 'documents':
      return stem.endsWith('_feedback')
        ? typed(stem.slice(0, -'_feedback'.length), { kind: 'document_feedback' })
        : typed(stem, { kind: 'document', format: form });
    case '_work/context':
      return typed(stem, { kind: 'header_context' });
    case '_work/prompts': {
      const [name, continuation] = ending(/^(.*?)(?:_continuation_(\d+))?_prompt$/s);
      return typed(name, { kind: 'prompt', continuation });
    }
    case 'raw_responses': {
      const [name, continuation] = ending(/^(.*?)(?:_continuation_(\d+))?_raw$/s);
      return typed(name, { kind: 'raw_response', continuation });
    }
    case '_work': {
      const [name, continuation] = ending(/^(.*)_continuation_(\d+)$/s);
      return continuation === null
        ? typed(stem, { kind: 'intermediate', format: form })
        : typed(name, { kind: 'continuation_chunk', continuation });
    }
    default:
      return null;
  }
}

function readWorkName(place: StagePlace, name: string): Work | null {
  const groups = NAME.exec(name)?.groups;
  if (groups === undefined) return null;
  const { author = '', source, sources, id, attempt, key = '' } = groups;
  return {
    ...place,
    author: readAuthor(author),
    relation: readRelation(source, sources, id),
    attempt: Number(attempt),
    documentKey: decodeName(key),
  };
}

function readRelation(source?: string, sources?: string, id?: string): Relation | null {
  if (source !== undefined) return { kind: 'critiquing', source: readAuthor(source) };
  if (id !== undefined) return { kind: 'reducing', sourceId: decodeName(id) };
  if (sources === undefined) return null;
  return { kind: 'from', sources: sources.split('_and_').map(readAuthor) };
}

function readAuthor(token: string): Author {
  const [model = '', copy] = token.split('+');
  return { model: decodeName(model), copy: copy === undefined ? 1 : Number(copy) };
}
