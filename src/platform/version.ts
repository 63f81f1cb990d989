import { readFileSync } from 'node:fs';

// The same two steps up from src/platform in the repository and dist/platform in the package.
const packageFile = new URL('../../package.json', import.meta.url);

/** The version of this program, as its package says. */
export const { version: VERSION } = JSON.parse(readFileSync(packageFile, 'utf8')) as {
  version: string;
};
