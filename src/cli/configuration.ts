import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ModelsConfig, readModelsConfig } from '../models/config.ts';
import { DialecticError } from '../platform/errors.ts';

const FILES = ['dialectic.config.yaml', 'dialectic.config.yml', 'dialectic.config.json'];

/** Providers and models from the environment and from a configuration file of this folder. */
export function readConfiguration(): ModelsConfig {
  const file = FILES.find((name) => existsSync(name));
  if (!file) return readModelsConfig(process.env);
  try {
    return readModelsConfig(process.env, parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    if (cause instanceof DialecticError) throw cause;
    const message = `${file} cannot be read: ${(cause as Error).message}`;
    throw new DialecticError('usage_invalid', message, { cause });
  }
}
