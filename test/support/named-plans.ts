/** What a node's folder says it holds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionOf } from '../../src/control/publishing/republish.ts';
import { readLines } from '../../src/edge/following/journal.ts';
import { readPlanFile } from '../../src/edge/following/plan-store.ts';

/** Digests of the plans that the list of names in `directory` gives, those before the served ones included. */
export function namedPlans(directory: string): ReadonlySet<string> {
  const { names } = readLines(readFileSync(join(directory, 'names')), 1);
  const digests = [...names.values()].flatMap(({ digest, previous }) => [digest, previous?.digest ?? null]);
  return new Set(digests.filter((digest) => digest !== null));
}

/** The format version of each plan that the node in `directory` serves, by its name. */
export function servedVersions(directory: string): Readonly<Record<string, number>> {
  const { names } = readLines(readFileSync(join(directory, 'names')), 1);
  const versions = [...names].map(([name, { digest }]) => [
    name,
    digest === null ? 0 : versionOf(readPlanFile(directory, digest)),
  ]);
  return Object.fromEntries(versions);
}
