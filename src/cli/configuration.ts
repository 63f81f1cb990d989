import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import type { Configuration } from '../api/open-dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import {
  findSourceLiberties,
  isSearchService,
  readSourcesSettings,
} from '../gather/sources-settings.ts';
import { readJobSettings } from '../jobs/settings.ts';
import { type ModelsConfig, parseModelsFile, readModelsConfig } from '../models/config.ts';
import { findLiberties } from '../models/find-liberties.ts';
import { readRetentionDays } from '../session/retention-settings.ts';
import { countNoun } from '../text/count-noun.ts';
import { readConfirmAboveUsd } from '../wallet/spending-settings.ts';
import { readFields } from './config-fields.ts';
import { readStoredKeys } from './key-store.ts';
import { type FoundFile, isTrusted, userFolder, wasTrusted } from './trusted-files.ts';

const FILES = ['dialectic.config.yaml', 'dialectic.config.yml', 'dialectic.config.json'];

type Section = Readonly<Record<string, unknown>>;

/**
 * Providers and models from the environment, from a configuration file of this folder and from the
 * user's own. A file that merely lies in the folder must be trusted before it can touch secrets.
 */
export const readConfiguration = (): ModelsConfig =>
  readModelsConfig(process.env, readConfigurationFiles());

/** The configuration files of this folder and of the user as one, without the environment. */
export function readConfigurationFiles(): Configuration {
  const { own, found, file } = readFiles();
  const merged = mergeFiles(own, found);
  if (file && !isTrusted(file)) requireHarmless(file, libertiesOver(own, found));
  // What is wrong with them is said before a run begins; from here on they have their type.
  readJobSettings(merged);
  parseModelsFile(merged);
  readRetentionDays(merged);
  readConfirmAboveUsd(merged);
  readSourcesSettings(merged);
  return merged as Configuration;
}

/**
 * The same without a file of this folder that is not trusted: a server that it names must not be
 * proposed to get a brief.
 */
export function readTrustedConfiguration(): ModelsConfig {
  const { own, found, file } = readFiles();
  const isUsed = file !== null && isTrusted(file);
  return readModelsConfig(process.env, isUsed ? mergeFiles(own, found) : own);
}

/** The configuration file of a folder, or the one that is named. */
export function findConfiguration(folder: string, name?: string): FoundFile | null {
  const file = name ?? FILES.map((one) => join(folder, one)).find((path) => existsSync(path));
  if (!file) return null;
  try {
    return { path: realpathSync(file), text: readFileSync(file, 'utf8') };
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** What a file would do that it may not do before it is trusted. */
export function libertiesOf(file: FoundFile): string[] {
  const own = parseFile(findConfiguration(userFolder()));
  return libertiesOver(withKeys(own, readStoredKeys()), parseFile(file));
}

/** The user's own configuration, with the keys that they stored. */
function withKeys(own: unknown, keys: ReadonlyMap<string, string>): unknown {
  const ofProviders = [...keys].filter(([name]) => !isSearchService(name));
  if (ofProviders.length === 0) return own;
  parseModelsFile(own);
  const providers = Object.fromEntries(ofProviders.map(([name, apiKey]) => [name, { apiKey }]));
  return mergeFiles(own, { providers });
}

/** A folder of somebody else may not take keys, decide what is deleted, or let runs start unasked. */
function libertiesOver(own: unknown, found: unknown): string[] {
  const days = readRetentionDays(found);
  const unasked = readConfirmAboveUsd(found);
  return [
    ...findLiberties(process.env, own, found),
    ...findSourceLiberties(found),
    ...(days === null
      ? []
      : [`deletes projects that were unused for ${countNoun(days, 'day')} (retention)`]),
    ...(unasked > readConfirmAboveUsd(own)
      ? [`starts runs of up to $${unasked} without asking (spending)`]
      : []),
  ];
}

/** A configuration file with what it says. */
export type ParsedFile = FoundFile & { readonly content: unknown };

/** The files that a command reads, apart; null where there is none. */
export type ConfigurationSources = {
  readonly own: ParsedFile | null;
  readonly keys: ReadonlyMap<string, string>;
  readonly found: ParsedFile | null;
  /** Whether the file of this folder is trusted as it is. */
  readonly isTrusted: boolean;
};

/** Reads the user's own file, their keys and the file of this folder, each by itself. */
export function readSources(): ConfigurationSources {
  const own = findConfiguration(userFolder());
  const here = findConfiguration('.');
  const found = here?.path === own?.path ? null : here;
  return {
    own: own && { ...own, content: parseFile(own) },
    keys: readStoredKeys(),
    found: found && { ...found, content: parseFile(found) },
    isTrusted: found !== null && isTrusted(found),
  };
}

function readFiles(): { own: unknown; found: unknown; file: FoundFile | null } {
  const { own, keys, found } = readSources();
  return { own: withKeys(own?.content ?? {}, keys), found: found?.content ?? {}, file: found };
}

/** What a file says; a key that is no field is refused with the nearest that is. */
function parseFile(file: FoundFile | null): unknown {
  if (!file) return {};
  let content: unknown;
  try {
    content = parse(file.text) ?? {};
  } catch (cause) {
    throw unreadable(file.path, cause);
  }
  readFields(file.path, content);
  return content;
}

function unreadable(path: string, cause: unknown): DialecticError {
  const reason = cause instanceof YAMLParseError ? nameFault(cause) : (cause as Error).message;
  return new DialecticError('usage_invalid', `${path} cannot be read: ${reason}`);
}

/** The rest of the parser's message repeats a part of the file, where keys may stand. */
function nameFault({ message, linePos }: YAMLParseError): string {
  const [what] = message.split(/:|\n| at line/);
  return linePos ? `${what} at line ${linePos[0].line}, column ${linePos[0].col}.` : `${what}.`;
}

function requireHarmless({ path }: FoundFile, liberties: readonly string[]): void {
  if (liberties.length === 0) return;
  const state = wasTrusted(path) ? 'has changed since you trusted it' : 'is not trusted';
  const message = `${path} ${state}, and it ${liberties.join('; it ')}.`;
  throw new DialecticError('configuration_untrusted', message, { details: { path, liberties } });
}

/** Field by field, down to the single provider or model; what is no mapping is told by its parser. */
function mergeFiles(own: unknown, found: unknown, depth = 2): unknown {
  if (!isSection(own) || !isSection(found)) return found === undefined ? own : found;
  const merged = new Map(Object.entries(own));
  for (const [key, value] of Object.entries(found)) {
    merged.set(key, depth > 0 ? mergeFiles(merged.get(key), value, depth - 1) : value);
  }
  return Object.fromEntries(merged);
}

const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
