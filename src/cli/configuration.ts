import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { DialecticError } from '../errors/errors.ts';
import { isSearchService, readSourcesSettings } from '../gather/sources-settings.ts';
import { readJobSettings } from '../jobs/settings.ts';
import { type ModelsConfig, parseModelsFile, readModelsConfig } from '../models/config.ts';
import { readRegularFileSync } from '../platform/read-regular-file.ts';
import { readRetentionDays } from '../session/retention-settings.ts';
import { readConfirmAboveUsd } from '../wallet/spending-settings.ts';
import { readFields } from './config-fields.ts';
import { findUntrusted } from './folder-rights.ts';
import { readStoredKeys } from './key-store.ts';
import { type MergedConfiguration, mergeConfiguration } from './merge-configuration.ts';
import { type FoundFile, isTrusted, userFolder, wasTrusted } from './trusted-files.ts';

/** Far above any list of providers and models. */
const MOST_BYTES = 1_000_000;

const FILES = ['dialectic.config.yaml', 'dialectic.config.yml', 'dialectic.config.json'];

/** Providers and models from the environment, the file of this folder and the user's own. */
export function readConfiguration(): ModelsConfig {
  const { configuration, folder } = readConfigurationFiles();
  return readModelsConfig(process.env, configuration, folder);
}

/** The same without the file of this folder: for what outlives it, such as a completion script. */
export const readOwnConfiguration = (): ModelsConfig => readModelsConfig(process.env, readOwn());

/**
 * The configuration files of this folder and of the user as one, without the environment. A file that
 * merely lies in the folder is refused where it sets what only a trusted one may set.
 */
export function readConfigurationFiles(): MergedConfiguration {
  const sources = readSources();
  const { own, keys, found } = sources;
  const mine = withKeys(own?.content ?? {}, keys);
  checkSections(mine);
  if (found !== null) {
    checkSections(found.content);
    if (!sources.isTrusted) requireHarmless(found, mine);
  }
  return mergeFiles(sources);
}

/** The files as one, whether that of the folder is trusted or not. */
export const mergeFiles = (sources: ConfigurationSources): MergedConfiguration => {
  const { own, keys, found } = sources;
  const mine = withKeys(own?.content ?? {}, keys);
  return mergeConfiguration(mine, found?.content ?? {}, process.env, sources.isTrusted);
};

/** What is wrong with a file is said before a run begins. */
function checkSections(content: unknown): void {
  parseModelsFile(content);
  readJobSettings(content);
  readRetentionDays(content);
  readConfirmAboveUsd(content);
  readSourcesSettings(content);
}

/** The configuration file of a folder, or the one that is named. */
export function findConfiguration(folder: string, name?: string): FoundFile | null {
  const file = name ?? FILES.map((one) => join(folder, one)).find((path) => existsSync(path));
  if (!file) return null;
  try {
    // Not the path that a link leads to: the file may be trusted there, and not in this folder.
    return { path: join(realpathSync(dirname(file)), basename(file)), text: readText(file) };
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** A folder may hold a pipe or a device under this name, which would never end. */
const readText = (file: string): string =>
  readRegularFileSync(file, { atMostBytes: MOST_BYTES }).toString('utf8');

/** What a file does for which it has to be trusted. */
export function findWishes(file: FoundFile): string[] {
  const content = parseFile(file);
  checkSections(content);
  return findUntrusted(readOwn(), content, file.path);
}

/** The user's own configuration, with the keys that they stored. */
const readOwn = (): unknown =>
  withKeys(parseFile(findConfiguration(userFolder())), readStoredKeys());

/** A stored key stands in for one in the file. */
function withKeys(own: unknown, keys: ReadonlyMap<string, string>): unknown {
  const ofProviders = [...keys].filter(([name]) => !isSearchService(name));
  if (ofProviders.length === 0) return own;
  const { providers = {} } = parseModelsFile(own);
  const merged = new Map<string, object>(Object.entries(providers));
  for (const [name, apiKey] of ofProviders) merged.set(name, { ...merged.get(name), apiKey });
  return { ...(own as object), providers: Object.fromEntries(merged) };
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

/** What a file says; a key that is no field is refused with the nearest that is. */
function parseFile(file: FoundFile | null): unknown {
  if (!file) return {};
  let content: unknown;
  try {
    // The parser's warnings repeat a line of the file, where keys and control sequences may stand.
    content = parse(file.text, { logLevel: 'error' }) ?? {};
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

function requireHarmless({ path, content }: ParsedFile, own: unknown): void {
  const wishes = findUntrusted(own, content, path);
  if (wishes.length === 0) return;
  const state = wasTrusted(path) ? 'has changed since you trusted it' : 'is not trusted';
  const message = `${path} ${state}, and it ${wishes.join('; it ')}.`;
  throw new DialecticError('configuration_untrusted', message, { details: { path, wishes } });
}
