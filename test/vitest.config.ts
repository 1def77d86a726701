import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    // Against hangs alone: nothing is meant to take so long, on a machine that is four times slower neither.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine answers late; what never comes is found all the same.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    pool: 'forks',
    // Most of these tests wait for sockets and processes: a worker for each core, the runner between them.
    maxWorkers: 2,
  },
});
