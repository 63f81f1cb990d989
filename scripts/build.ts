import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';

// tsc leaves everything but TypeScript behind; the migrations are read from beside their reader.
rmSync('dist', { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
cpSync('src/db/migrations', 'dist/db/migrations', { recursive: true });
