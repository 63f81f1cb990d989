import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type JobSettings, readJobSettings } from '../jobs/settings.ts';
import { type ModelsConfig, readModelsConfig } from '../models/config.ts';
import { DialecticError } from '../platform/errors.ts';

const FILES = ['dialectic.config.yaml', 'dialectic.config.yml', 'dialectic.config.json'];

/** Providers and models from the environment and from a configuration file of this folder. */
export function readConfiguration(): ModelsConfig {
  const file = readConfigurationFile();
  readJobSettings(file); // what is wrong with them is said before a run begins
  return readModelsConfig(process.env, file);
}

/** Attempts, back-off and takeovers of jobs, from the same file. */
export function readJobConfiguration(): JobSettings {
  return readJobSettings(readConfigurationFile());
}

function readConfigurationFile(): unknown {
  const file = FILES.find((name) => existsSync(name));
  if (!file) return {};
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const message = `${file} cannot be read: ${(cause as Error).message}`;
    throw new DialecticError('usage_invalid', message, { cause });
  }
}
