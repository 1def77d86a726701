/** One request budget for API processes side by side on one PostgreSQL. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type RunningServer, startServer } from '../../src/cli/start-server.ts';
import { createAccount, createKey } from '../../src/control/accounts/keys.ts';
import { createSharedBudget } from '../../src/control/accounts/shared-budget.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import { send } from '../support/api.ts';
import { everyDatabase } from '../support/databases.ts';
import { TEST_ORIGINS } from '../support/origin-bounds.ts';
import { requires } from '../support/requires.ts';

const MINUTE = 60_000;
const BUDGET = 60;
const found = everyDatabase().find(({ kind }) => kind === 'postgres');

/** What one request came to, between two moments. */
interface Asked {
  readonly status: number;
  readonly retryAfter: number;
  readonly from: number;
  readonly to: number;
}

/** The most requests that were surely let through in one minute. */
function mostInAMinute(asked: readonly Asked[]): number {
  const accepted = asked.filter(({ status }) => status === 200);
  return Math.max(
    0,
    ...accepted.map(
      ({ from }) => accepted.filter((one) => one.from >= from && one.to < from + MINUTE).length,
    ),
  );
}

describe('a budget that processes share', requires(inject('missingPostgres')), () => {
  let database: string;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    ({ database, drop } = await found!.make());
  });
  afterAll(() => drop());

  async function newKey(name: string): Promise<string> {
    const store = await openStore({ database });
    const now = Date.now();
    await createAccount(store, { name, now });
    const made = await createKey(store, { account: name, name: 'test', expiry: null, readOnly: false, now });
    await store.close();
    if (!made.ok) throw new Error(made.reason);
    return made.value.key;
  }

  async function serve(): Promise<RunningServer> {
    return startServer({
      store: await openStore({ database }),
      host: '127.0.0.1',
      port: 0,
      operationsPort: 0,
      tier: 'enterprise',
      overQuota: 'serve',
      nameserverSets: [['ns1.edge.test', 'ns2.edge.test']],
      resolvers: [],
      trustNames: true,
      privateNames: true,
      allowedOrigins: { prefixes: TEST_ORIGINS, local: false },
      requestsPerMinute: BUDGET,
      log: pino({ level: 'silent' }),
    });
  }

  async function ask(server: RunningServer, key: string): Promise<Asked> {
    const from = Date.now();
    const { status, headers } = await send(Number(new URL(server.url).port), {
      method: 'GET',
      path: '/domains/ns-sets',
      headers: { 'x-api-key': key },
    });
    return { status, retryAfter: Number(headers['retry-after'] ?? 0), from, to: Date.now() };
  }

  test('two servers together admit at most the budget, and nearly all of it', async () => {
    const key = await newKey('both');
    const servers = await Promise.all([serve(), serve()]);
    const asked: Asked[] = [];
    const began = Date.now();
    for (let round = 0; round < BUDGET; round++) {
      asked.push(...(await Promise.all([0, 1, 0, 1].map((at) => ask(servers[at]!, key)))));
    }
    const took = Date.now() - began;
    expect(mostInAMinute(asked)).toBeLessThanOrEqual(BUDGET);
    const refused = asked.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    // A twentieth of the budget may lie idle in each process.
    expect(asked.length - refused.length).toBeGreaterThanOrEqual(BUDGET - 6);
    for (const { retryAfter, to } of refused) {
      expect(retryAfter).toBeGreaterThanOrEqual(1);
      expect(retryAfter).toBeLessThanOrEqual(61);
      // Nothing was used before the first request, so nothing comes back sooner.
      if (took < MINUTE) expect(to + retryAfter * 1_000).toBeGreaterThanOrEqual(began + MINUTE);
    }
    const other = await newKey('unhurried');
    for (const server of servers) expect((await ask(server, other)).status).toBe(200);
    await Promise.all(servers.map((server) => server.stop()));
  });

  test('a server alone admits the whole budget, and its requests still count after it has stopped', async () => {
    const key = await newKey('alone');
    const first = await serve();
    const asked: Asked[] = [];
    for (let sent = 0; sent < BUDGET - 10; sent++) asked.push(await ask(first, key));
    await first.stop();
    const second = await serve();
    for (let sent = 0; sent < BUDGET; sent++) asked.push(await ask(second, key));
    await second.stop();
    expect(mostInAMinute(asked)).toBeLessThanOrEqual(BUDGET);
    expect(asked.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(BUDGET);
  });

  describe('share by share', () => {
    let stores: readonly Store[];
    beforeAll(async () => {
      stores = await Promise.all([openStore({ database }), openStore({ database })]);
    });
    afterAll(async () => {
      for (const store of stores) await store.close();
    });

    function budgets(limit: number, clock: { now: number }) {
      return stores.map((store) =>
        createSharedBudget({
          shares: store.shares!,
          limit,
          clock: () => clock.now,
          failed: (error) => {
            throw error;
          },
        }),
      );
    }

    test('concurrent requests of one key to both processes never exceed the limit', async () => {
      const clock = { now: 1_000_000 };
      for (const limit of [1, 2, 7, 300]) {
        const [left, right] = budgets(limit, clock);
        const key = 1_000 + limit;
        const sides = Array.from({ length: limit * 2 }, (_, at) => (at % 2 === 0 ? left! : right!));
        const waits = await Promise.all(sides.map((side) => side.spend(key, clock.now)));
        const admitted = waits.filter((wait) => wait === 0).length;
        expect(admitted).toBeLessThanOrEqual(limit);
        expect(admitted).toBeGreaterThanOrEqual(Math.ceil(limit * 0.9));
        await left!.stop();
        await right!.stop();
      }
    });

    test('requests of one process are free for the other a minute later, after its next pass', async () => {
      const clock = { now: 5_000_000 };
      const [left, right] = budgets(20, clock);
      for (let sent = 0; sent < 20; sent++) expect(await left!.spend(7, clock.now)).toBe(0);
      expect(await left!.spend(7, clock.now)).toBe(60);
      expect(await right!.spend(7, clock.now)).toBe(61);
      clock.now += MINUTE;
      await expect.poll(() => right!.spend(7, clock.now)).toBe(0);
      await left!.stop();
      await right!.stop();
    });

    test('the share of a crashed process is reserved until a minute after its last possible use', async () => {
      const terms = { limit: 10, countedMs: 300 };
      const [left, right] = stores.map((store) => store.shares!);
      const all = { key_id: 9, used: 0, held: 0, wanted: 10 };
      expect(await left!.divide([all], terms)).toEqual(new Map([[9, 5]]));
      expect(await left!.divide([{ ...all, used: 5, held: 5 }], terms)).toEqual(new Map([[9, 8]]));
      await expect.poll(async () => (await right!.divide([all], terms)).get(9)).toBe(5);
      // The one that comes back has nothing but what is left.
      const back = await left!.divide([{ ...all, used: 10 }], { ...terms, countedMs: MINUTE });
      expect(back.get(9)).toBeLessThanOrEqual(5);
    });
  });
});
