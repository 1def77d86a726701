/**
 * kill -9 around every commit of a publication: nothing acknowledged is lost, and no revision is skipped or given twice.
 * `EDGEPLAN_KILL_ROUNDS` sets the number of processes that are killed.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { printPlan } from '../../src/engine/compiler/print.ts';
import { openPlan } from '../../src/engine/plan/seal.ts';
import { builtCli } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain } from '../support/publish-setup.ts';
import { sizeOf } from '../support/size.ts';

const CHILD = fileURLToPath(new URL('../support/publish-child.mjs', import.meta.url));
const POINTS = ['compiled', 'written', 'committed'] as const;
const ROUNDS = sizeOf('EDGEPLAN_KILL_ROUNDS', { usual: 9, full: 9 });

/** Milliseconds a process may live: it dies at one of its first publications. */
const MOST_MS = 20_000;

interface Death {
  readonly signal: string | null;
  /** Domain and outbox id of each acknowledged write. */
  readonly acknowledged: readonly (readonly [number, number])[];
  readonly said: string;
}

function runToDeath(database: string, point: string, turn: number): Promise<Death> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, database, point, String(turn)]);
    let out = '';
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const deadline = setTimeout(() => {
      child.kill('SIGTERM');
    }, MOST_MS);
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      clearTimeout(deadline);
      const acknowledged = out
        .split('\n')
        .filter((line) => /^\d+ \d+$/.test(line))
        .map((line) => line.split(' ').map(Number) as unknown as readonly [number, number]);
      resolve({ signal, acknowledged, said });
    });
  });
}

/** Revisions 1, 2, 3 …, each whole, in one history and in what nodes should hold. */
async function checkHistory(store: Store, domain: DomainRow): Promise<void> {
  const rows = [...(await store.latest.plans.list(domain.id, { limit: 10_000 }))].reverse();
  expect(rows.map(({ revision }) => revision)).toEqual(rows.map((_, index) => index + 1));
  let rules = -1;
  for (const row of rows) {
    const bytes = (await store.latest.plans.blob(row.digest!))!;
    expect(sha256Hex(bytes)).toBe(row.digest);
    const printed = printPlan(openPlan(bytes)) as { revision: number; rules: unknown[] };
    expect(printed.revision).toBe(row.revision);
    // Rules are only added, so no revision may hold fewer than the one before it.
    expect(printed.rules.length).toBeGreaterThanOrEqual(rules);
    rules = printed.rules.length;
  }
  expect(rules).toBe(await store.latest.rules.count(domain.id, 'drop'));
  const last = rows.at(-1)!;
  const current = await store.latest.plans.current(domain.name);
  expect(current).toMatchObject({ revision: last.revision, digest: last.digest });
}

for (const database of testDatabases()) {
  test(`${ROUNDS} deaths lose nothing on ${database.kind}`, {
    timeout: 120_000 + ROUNDS * 60_000,
  }, async () => {
    await builtCli();
    const made = await database.make();
    try {
      const first = await openStore({ database: made.database });
      const at = { created_at: 1, updated_at: 1 };
      const account = await first.write((tx) => tx.accounts.insert({ name: 'owner', active: true, ...at }));
      for (const name of ['one.test', 'two.test', 'three.test']) {
        await addDomain({ store: first, accountId: account.id }, name);
      }
      await first.close();
      const acknowledged: (readonly [number, number])[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const turn = 1 + (round % 5);
        const death = await runToDeath(made.database, POINTS[round % POINTS.length]!, turn);
        expect(death.signal, death.said).toBe('SIGKILL');
        expect(death.said).not.toContain('cannot publish');
        acknowledged.push(...death.acknowledged);
      }
      expect(acknowledged.length).toBeGreaterThan(ROUNDS);
      const store = await openStore({ database: made.database });
      const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
      const publisher = createPublisher({ store, log: silent, pollMs: 20, leaseMs: 200 });
      publisher.start();
      for (const [id, outboxId] of acknowledged) {
        const name = { id, name: '' };
        const revision = await publisher.waitForOutbox(name, outboxId, AbortSignal.timeout(10_000));
        expect(revision, `outbox ${outboxId} of domain ${id}`).not.toBeNull();
      }
      while ((await store.latest.outbox.backlog()).rows > 0)
        await new Promise((done) => setTimeout(done, 20));
      await publisher.stop();
      for (const domain of await store.latest.domains.page(0, 10)) await checkHistory(store, domain);
      await store.close();
    } finally {
      await made.drop();
    }
  });
}
