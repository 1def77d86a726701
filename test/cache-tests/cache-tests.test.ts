/** http-tests/cache-tests against a node with its cache. Nothing of the suite is kept here. */
import { describe, expect, test } from 'vitest';
import { MISSES } from './expectations.ts';
import { runSuite } from './run-suite.ts';

const directory = process.env['EDGEPLAN_CACHE_TESTS'] ?? '';

/** One more than the best published cache passes (Apache Traffic Server: 132 and 70): a floor that must never be lost. */
const FLOOR = { required: 133, optimal: 71 } as const;

// Skipped without the suite: set EDGEPLAN_CACHE_TESTS to a checkout of http-tests/cache-tests with undici installed.
describe.skipIf(directory === '')('cache-tests', () => {
  test('pass, but for the misses that have a reason', { timeout: 600_000 }, async () => {
    const { results, faults } = await runSuite({ directory });
    const judged = results.filter(({ kind }) => kind !== 'check');
    const missed = judged.filter(({ outcome }) => outcome !== 'pass');
    expect(missed.filter(({ id }) => MISSES[id] === undefined)).toEqual([]);
    const ids = new Set(missed.map(({ id }) => id));
    expect(Object.keys(MISSES).filter((id) => !ids.has(id))).toEqual([]);
    for (const kind of ['required', 'optimal'] as const) {
      const passed = judged.filter((result) => result.kind === kind && result.outcome === 'pass');
      expect(passed.length, kind).toBeGreaterThanOrEqual(FLOOR[kind]);
    }
    expect(faults).toEqual([]);
  });
});
