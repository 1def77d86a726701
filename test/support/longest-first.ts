/**
 * The order in which test files start: those that take minutes first, so that none of them runs alone at the end; then as Vitest
 * orders them (by the durations of the last run, else the largest files first). Most of that time is waiting, so other files
 * use the processors meanwhile.
 */
import { existsSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take two minutes or more in `npm run test:full`, the longest first. */
const LONGEST = [
  'drill/outage.test.ts',
  'drill/traffic-counts.test.ts',
  'drill/node-drain.test.ts',
  'drill/node-operations.test.ts',
  'drill/soak/edge.test.ts',
  'journey/readmes.test.ts',
];

for (const name of LONGEST) {
  if (!existsSync(new URL(`../${name}`, import.meta.url)))
    throw new Error(`test/support/longest-first.ts: there is no test/${name}`);
}

/** The rank of a file in `LONGEST`; those that are not listed share the last one. */
function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}`));
  return rank < 0 ? LONGEST.length : rank;
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => rankOf(left) - rankOf(right));
  }
}
