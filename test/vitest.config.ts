import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './support/longest-first.ts';

/** Folders whose tests share no files, processes or settings: their files run in the same two processes. */
const FAST = ['architecture', 'conformance', 'oracle', 'support', 'unit'];
/** The same for thousands of generated cases, which take their time. */
const GENERATED = ['differential', 'property', 'signatures'];
/** Many processes, long waits, soaks, large inputs, public suites. `npm test` leaves them out. */
const DRILL = ['drill', 'cache-tests', 'crs', 'detectors'];

/** Files of `system` that measure their own process: its memory, its warnings. Each has one that no other file has used. */
const ALONE = ['edge-http2', 'edge-pipelined', 'edge-streams'].map((name) => `test/journey/${name}.test.ts`);

const IN_PROCESS = { isolate: false, maxWorkers: 2, sequence: { groupOrder: 1 } };

/** These tests wait for sockets, timers and processes: with three workers two processors are busy for 68 % of the time. */
const OF_PROCESSES = { maxWorkers: 4, sequence: { groupOrder: 2 } };

const filesOf = (folders: readonly string[]): string[] =>
  folders.map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig(({ mode }) => {
  // Vitest evaluates this function once for the run, then for each project, those with another mode.
  if (mode === 'full') process.env['EDGEPLAN_TESTS'] = 'full';
  return {
    test: {
      root: fileURLToPath(new URL('..', import.meta.url)),
      // `--mode full`: every suite at its full size (`test/support/size.ts`).
      env: { EDGEPLAN_TESTS: process.env['EDGEPLAN_TESTS'] ?? 'usual' },
      globalSetup: ['test/support/postgres-setup.ts'],
      reporters: ['default', fileURLToPath(new URL('support/report-skips.ts', import.meta.url))],
      // Against hangs alone: nothing is meant to take so long, on a machine that is four times slower neither.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      // A busy machine answers late; what never comes is found all the same.
      expect: { poll: { timeout: 60_000, interval: 20 } },
      pool: 'forks',
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          extends: true,
          test: { name: 'fast', include: filesOf(FAST), ...IN_PROCESS },
        },
        {
          extends: true,
          test: { name: 'generated', include: filesOf(GENERATED), ...IN_PROCESS },
        },
        {
          extends: true,
          test: {
            name: 'system',
            include: ['test/**/*.test.ts'],
            exclude: [...filesOf([...FAST, ...GENERATED, ...DRILL]), ...ALONE],
            // Importing the API takes as long as a third of its tests.
            isolate: false,
            ...OF_PROCESSES,
          },
        },
        {
          extends: true,
          test: { name: 'system-alone', include: ALONE, ...OF_PROCESSES },
        },
        {
          extends: true,
          test: { name: 'drill', include: filesOf(DRILL), ...OF_PROCESSES },
        },
      ],
    },
  };
});
