import { defineConfig } from 'vitest/config';

// The proofs that take minutes: one after another, so that nothing disturbs their timing.
export default defineConfig({
  test: {
    include: ['test/**/*.long.test.ts'],
    // The tester's own configuration is none of the tests' business.
    env: { XDG_CONFIG_HOME: '/nonexistent' },
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
