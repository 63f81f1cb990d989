import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Node keeps the compiled program here, so that the next command needs half the time to load it. Not in
// the shared temporary folder, its default: another account could put code there for us to run. The
// program works without, and NODE_COMPILE_CACHE or NODE_DISABLE_COMPILE_CACHE of the user stands.
if (!process.env['NODE_COMPILE_CACHE']) {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  enableCompileCache(join(caches, 'dialectic'));
}

const parameters = process.argv.slice(2);
const { prepareStore } = await import('./prepare-store.ts');
prepareStore(parameters);

const { guardStreams } = await import('./guard-streams.ts');
const { endSoon } = await import('./exit-with.ts');
const { runProgram } = await import('./run-program.ts');

guardStreams(parameters.includes('--json'));
await runProgram(parameters);
endSoon();
