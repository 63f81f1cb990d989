import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { makeImage } from '../src/db/make-image.ts';

// tsc leaves everything but TypeScript behind; SQL is read from beside its reader.
rmSync('dist', { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const folder of ['migrations', 'functions']) {
  cpSync(`src/db/${folder}`, `dist/db/${folder}`, { recursive: true });
}
// A first store is unpacked from this image instead of being made by initdb and all migrations.
await makeImage('dist/db/store-image');
