/** What a node keeps of its control plane, on a disk that has no room left. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalLine } from '../../../src/sync/journal.ts';
import { openPlanStore } from '../../../src/sync/plan-store.ts';
import { missingFile, requires } from '../../support/requires.ts';

/** util-linux has the tool. */
const NO_LIMITS = missingFile('/usr/bin/prlimit', 'util-linux');

let folder: string;
const warnings: string[] = [];
const log = {
  info: () => undefined,
  warn: (_: object, message: string) => void warnings.push(message),
  error: () => undefined,
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-keeper-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function nameLine(at: number): JournalLine {
  const held = {
    revision: 1,
    digest: 'd'.repeat(64),
    tombstone: null,
    previous: null,
    purgeEpoch: 0,
    keyId: 'k'.repeat(16),
    clearance: null,
  };
  return { kind: 'name', name: `d${at}.test`, held };
}

/** Octets that a file of this process may have, as on a disk that is nearly full: a write is cut short there. */
function limitFiles(octets: string): void {
  execFileSync('/usr/bin/prlimit', ['--pid', String(process.pid), `--fsize=${octets}:unlimited`]);
}

it('the list of names is written anew whole or not at all', requires(NO_LIMITS), async () => {
  const names = 1_500;
  const first = await openPlanStore(folder, log);
  await first.commit(Array.from({ length: names }, (_, at) => nameLine(at)));
  await first.close();
  // Has it written anew at the next change.
  appendFileSync(join(folder, 'names'), 'torn');
  const second = await openPlanStore(folder, log);
  expect(second.held.size).toBe(names);
  limitFiles('65536');
  const refused = await second.commit([nameLine(names)]).catch((error: unknown) => error);
  limitFiles('unlimited');
  expect(refused).toMatchObject({ code: 'EFBIG' });
  // As after a crash: nothing is written since.
  const third = await openPlanStore(folder, log);
  expect(third.held.size).toBe(names);
  await second.commit([nameLine(names)]);
  await second.close();
  await third.close();
  const fourth = await openPlanStore(folder, log);
  expect(fourth.held.size).toBe(names + 1);
  await fourth.close();
});
