/** The plan store of a node on a disk that is full. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalLine } from '../../../../src/edge/following/journal.ts';
import { openPlanStore } from '../../../../src/edge/following/plan-store.ts';
import { missingFile, requires } from '../../../support/requires.ts';

/** The tool is part of util-linux. */
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
  const plan = {
    revision: 1,
    digest: 'd'.repeat(64),
    tombstone: null,
    previous: null,
    purgeEpoch: 0,
    keyId: 'k'.repeat(16),
    clearance: null,
    purges: null,
  };
  return { kind: 'name', name: `d${at}.test`, plan };
}

/** Limits the size of this process's files, as a nearly full disk does: a write stops at the limit. */
function limitFiles(octets: string): void {
  execFileSync('/usr/bin/prlimit', ['--pid', String(process.pid), `--fsize=${octets}:unlimited`]);
}

it(
  'a rewrite of the journal that the disk interrupts leaves the old journal whole',
  requires(NO_LIMITS),
  async () => {
    const names = 1_500;
    const first = await openPlanStore(folder, log);
    await first.commit(Array.from({ length: names }, (_, at) => nameLine(at)));
    await first.close();
    // A damaged end: the next commit rewrites the file.
    appendFileSync(join(folder, 'names'), 'torn');
    const second = await openPlanStore(folder, log);
    expect(second.names.size).toBe(names);
    limitFiles('65536');
    const refused = await second.commit([nameLine(names)]).catch((error: unknown) => error);
    limitFiles('unlimited');
    expect(refused).toMatchObject({ code: 'EFBIG' });
    // As after a crash: nothing was written since.
    const third = await openPlanStore(folder, log);
    expect(third.names.size).toBe(names);
    await second.commit([nameLine(names)]);
    await second.close();
    await third.close();
    const fourth = await openPlanStore(folder, log);
    expect(fourth.names.size).toBe(names + 1);
    await fourth.close();
  },
);
