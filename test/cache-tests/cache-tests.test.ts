/** http-tests/cache-tests against a node with its cache. */
import { describe, expect, test } from 'vitest';
import { externalSuite } from '../support/external-suites.ts';
import { requires } from '../support/requires.ts';
import { MISSES } from './expectations.ts';
import { runSuite } from './run-suite.ts';

const { folder: directory, missing } = externalSuite('cache-tests');

/** One more than the best published cache passes (Apache Traffic Server: 132 and 70): a floor that must never be lost. */
const FLOOR = { required: 133, optimal: 71 } as const;

describe('cache-tests', requires(missing), () => {
  test('every test of the suite passes, except those with a recorded reason', {
    timeout: 600_000,
  }, async () => {
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
