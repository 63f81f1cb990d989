import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { findImage, makeImage } from '../src/db/make-image.ts';

// tsc leaves everything but TypeScript behind; SQL is read from beside its reader.
rmSync('dist', { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const folder of ['migrations', 'functions']) {
  cpSync(`src/db/${folder}`, `dist/db/${folder}`, { recursive: true });
}
// A first store is unpacked from this image instead of being made by initdb and all migrations.
// A clone keeps the one for its present schema, which is made in five seconds.
const kept = await findImage();
if (kept === undefined) await makeImage('dist/db/store-image');
else copyFileSync(kept, 'dist/db/store-image');
