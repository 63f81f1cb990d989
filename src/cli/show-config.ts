import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { locateStore } from '../db/open.ts';
import { describeUrl } from '../db/server-errors.ts';
import { listFields } from './config-fields.ts';
import { findInForce } from './config-in-force.ts';
import { readSources } from './configuration.ts';
import { describeRight, FOLDER_RIGHTS } from './folder-rights.ts';
import { keyStorePath } from './key-store.ts';
import { printResult } from './output.ts';
import { userFolder } from './trusted-files.ts';

/** Prints where the configuration lies, what of it is in force and from where, and every field. */
export function showConfig(json: boolean): void {
  const sources = readSources();
  const { own, found, isTrusted } = sources;
  const files = {
    own: { path: own?.path ?? join(userFolder(), 'dialectic.config.yaml'), exists: own !== null },
    keys: { path: keyStorePath(), exists: existsSync(keyStorePath()) },
    folder: { path: found?.path ?? null, trusted: found === null ? null : isTrusted },
  };
  const inForce = findInForce(sources, process.env);
  const location = locateStore(process.env);
  const store =
    'databaseUrl' in location ? describeUrl(location.databaseUrl) : location.dataDirectory;
  const fields = listFields().map((field) => {
    const right = FOLDER_RIGHTS[field.path];
    return { ...field, inFolder: right === undefined ? 'only trusted' : describeRight(right) };
  });
  const trust = isTrusted ? 'trusted' : 'not trusted: dialectic config trust';
  printResult(json, { files, store, inForce, fields }, [
    'Each of these wins over the one before, and the environment over all:',
    `  your own:    ${files.own.path}${state(files.own)}`,
    `  your keys:   ${files.keys.path}${state(files.keys)}`,
    `  this folder: ${found === null ? 'no dialectic.config.yaml' : `${found.path} (${trust})`}`,
    `Sessions are kept in ${store}.`,
    '',
    'In force:',
    ...inForce.map(
      ({ field, value, unit, from }) =>
        `  ${field}: ${show(value)} ${unit}`.trimEnd() + `, ${from}`,
    ),
    '',
    'Fields, all optional (NAME is a provider, ID a provider/model), and what a folder may do:',
    ...fields.map(
      ({ path, unit, meaning, inFolder }) =>
        `  ${path}${unit && ` (${unit})`}: ${meaning} [${inFolder}]`,
    ),
  ]);
}

const state = ({ exists }: { readonly exists: boolean }): string => (exists ? '' : ' (not there)');

const show = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
