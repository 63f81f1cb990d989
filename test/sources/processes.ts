import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { SourceRegistry } from '../../src/sources/registry.ts';
import { temporaryFolder } from '../stores.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('register.ts', import.meta.url));

/** Lets processes register at once; ids must be dense, and in order within each of them. */
export async function registerAtOnce(processes: number, each: number): Promise<void> {
  const folder = await temporaryFolder();
  const names = Array.from({ length: processes }, (_, at) => `process ${at}`);
  const printed = await Promise.all(
    names.map((name) => run(process.execPath, [program, folder, name, String(each)])),
  );
  const registry = await SourceRegistry.open(folder);
  expect(registry.size).toBe(processes * each);
  for (const [at, name] of names.entries()) {
    const ids = JSON.parse(printed[at]?.stdout ?? '[]') as string[];
    const own = [...registry].filter(({ title }) => title.startsWith(name));
    expect(own.map(({ id }) => id)).toEqual(ids);
    expect(own.map(({ title }) => title)).toEqual(ids.map((_, n) => `${name} ${n}`));
  }
  await registry.close();
}
