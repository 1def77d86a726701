/**
 * Public test suites and rule sets that are not part of this repository: checkouts in the folder that `EDGEPLAN_SUITES`
 * names (`test/README.md`).
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Each checkout's folder, and a path in it that tells that it is one. */
const SUITES = {
  'cache-tests': 'test-engine/cli.mjs',
  coreruleset: 'tests/regression/tests',
  crs33: 'rules/REQUEST-942-APPLICATION-ATTACK-SQLI.conf',
  'json-schema': 'tests/draft2020-12',
  ja4: 'rust/ja4/src/snapshots',
  libinjection: 'data',
} as const;

export interface ExternalSuite {
  /** Absolute; empty where the suite is missing. */
  readonly folder: string;
  /** Why the suite cannot run, or `null`. */
  readonly missing: string | null;
}

/** Finds a suite. Throws where `EDGEPLAN_SUITES` names no folder, or a folder of the suite's name that is not the suite. */
export function externalSuite(name: keyof typeof SUITES): ExternalSuite {
  const root = process.env['EDGEPLAN_SUITES'] ?? '';
  if (root === '') return { folder: '', missing: `EDGEPLAN_SUITES is not set: no ${name}` };
  if (!existsSync(root)) throw new Error(`EDGEPLAN_SUITES=${root}: there is no such folder`);
  const folder = resolve(root, name);
  if (!existsSync(folder)) return { folder: '', missing: `EDGEPLAN_SUITES has no folder ${name}` };
  if (!existsSync(join(folder, SUITES[name]))) throw new Error(`${folder} has no ${SUITES[name]}`);
  return { folder, missing: null };
}
