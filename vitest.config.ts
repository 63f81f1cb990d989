import { defineConfig } from 'vitest/config';
import { SlowFilesFirst } from './test/slow-files-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.long.test.ts'],
    // The tester's own configuration is none of the tests' business.
    env: { XDG_CONFIG_HOME: '/nonexistent' },
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    // A file starts within half a second less where the modules are there already.
    isolate: false,
    pool: 'forks',
    // Files wait half of their time: for the server, for leases, back-off and other processes.
    maxWorkers: 4,
    sequence: { sequencer: SlowFilesFirst },
    // For what hangs; no test depends on how fast the machine is.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
