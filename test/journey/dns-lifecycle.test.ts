import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import { createDns, type Dns, SERVER_CONCURRENCY } from '../../src/control/dns/resolver.ts';
import { type Applied, applyEvent } from '../../src/control/domains/apply-event.ts';
import { newChallenge } from '../../src/control/domains/challenge.ts';
import type { LifecycleNote } from '../../src/control/domains/context.ts';
import { createLifecycle, type Lifecycle } from '../../src/control/domains/lifecycle.ts';
import { MAX_SCAN_TRIES, SCAN_CLAIM_MS } from '../../src/control/domains/limits.ts';
import {
  applyDelegation,
  claimManualCheck,
  createLookups,
  type DomainLookups,
  enableDomain,
  type ManualCheck,
  proveChallenge,
  proveName,
  type RequestedCheck,
  type RequestedWrite,
  verifyDomain,
} from '../../src/control/domains/requests.ts';
import { initialState, type LifecycleEvent } from '../../src/control/domains/state.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { Author } from '../../src/control/store/tables/accounts.ts';
import type { DnsMode, DomainRow } from '../../src/control/store/tables/domains.ts';
import { type TestDatabase, testDatabases } from '../support/databases.ts';
import {
  a,
  fromTable,
  NXDOMAIN,
  ns,
  type Script,
  type ScriptedServer,
  startDnsServer,
  txt,
} from '../support/dns-server.ts';
import { newDomain } from '../support/sample-rows.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DOMAIN = 'shop.example';
const SETS = [['ns1.edge.test', 'ns2.edge.test']];
const WORLD = fromTable({
  'example NS': ns('example', 'a.nic.example'),
  'a.nic.example A': a('a.nic.example', '127.0.0.97'),
  'shop.example NS': ns(DOMAIN, 'ns.old.example'),
  'ns.old.example A': a('ns.old.example', '127.0.0.98'),
});
const HOST = fromTable({ 'shop.example A': a(DOMAIN, '192.0.2.1') });
const OURS: Script = ({ name }) => ({
  authoritative: false,
  authorities: ns(name, 'ns1.edge.test', 'ns2.edge.test'),
});
const GONE: Script = ({ name }) => ({ authoritative: false, authorities: ns(name, 'ns.else.test') });

let resolver: ScriptedServer;
let registry: ScriptedServer;
let host: ScriptedServer;
let place: Awaited<ReturnType<TestDatabase['make']>>;
let store: Store;
let life: Lifecycle;
let now: number;
let notes: LifecycleNote[];
let author: Author;

beforeAll(async () => {
  resolver = await startDnsServer('127.0.0.96', 0, WORLD);
  registry = await startDnsServer('127.0.0.97', resolver.port, OURS);
  host = await startDnsServer('127.0.0.98', resolver.port, HOST);
});
afterAll(() => Promise.all([resolver.stop(), registry.stop(), host.stop()]));

function connect(timeoutMs: number): Dns {
  return createDns({
    resolvers: [`127.0.0.96:${resolver.port}`],
    authorityPort: resolver.port,
    privateAddresses: true,
    timeoutMs,
  });
}

function lookups(): DomainLookups {
  return createLookups({ nameserverSets: SETS, dns: connect(1_000), scan: null });
}

function watch(on: Store, timeoutMs = 1_000, allowed: readonly string[] | null = null): Lifecycle {
  const note = (heard: LifecycleNote): void => void notes.push(heard);
  return createLifecycle({
    store: on,
    dns: connect(timeoutMs),
    sets: SETS,
    clock: () => now,
    pollMs: 10,
    note,
    maxRecords: async () => 100,
    ...(allowed === null ? {} : { specialOrigin: createSpecialJudge({ prefixes: allowed, local: false }) }),
  });
}

function create(dns_mode: DnsMode, name = DOMAIN): Promise<DomainRow> {
  const domain = newDomain(name, author.account_id!, {
    ...initialState(dns_mode, newChallenge(now), now),
    created_at: now,
    updated_at: now,
  });
  return store.write((tx) => tx.domains.insert(domain));
}

/** A check after `distance`, or up to a tenth sooner. */
function soon(distance: number): unknown {
  return expect.toSatisfy((at: number) => at > now + 0.9 * distance && at <= now + distance);
}

async function stored({ id }: Pick<DomainRow, 'id'>): Promise<DomainRow> {
  const row = await store.latest.domains.get(id);
  if (row === null) throw new Error('the domain is gone');
  return row;
}

async function trail({ id }: Pick<DomainRow, 'id'>): Promise<readonly string[]> {
  const entries = await store.latest.audit.list(id, { limit: 50 });
  return entries.map(({ action, after_json }) => `${action} ${after_json}`).reverse();
}

async function outbox({ id }: Pick<DomainRow, 'id'>): Promise<readonly string[]> {
  return (await store.latest.outbox.list(id)).map(({ reason }) => reason);
}

describe.each(testDatabases())('on $kind', ({ kind, make }) => {
  beforeEach(async () => {
    now = Date.UTC(2030, 0, 1);
    notes = [];
    place = await make();
    store = await openStore({ database: place.database });
    life = watch(store);
    const account = await store.write((tx) =>
      tx.accounts.insert({ name: 'ann', active: true, created_at: now, updated_at: now }),
    );
    author = { account_id: account.id, key_id: null };
    resolver.tell(WORLD);
    registry.tell(OURS);
    host.tell(HOST);
  });
  afterEach(async () => {
    await life.stop();
    await store.close();
    await place.drop();
  });

  describe('the scheduler', () => {
    it('moves a managed domain from pending through active and moved to disabled, each with an outbox row', async () => {
      registry.tell(() => ({ rcode: NXDOMAIN }));
      const domain = await create('managed');
      expect(await life.runDue()).toBe(1);
      expect(await stored(domain)).toMatchObject({ status: 'pending', next_check_at: soon(5 * MINUTE) });
      expect(await outbox(domain)).toEqual([]);
      registry.tell(OURS);
      expect(await life.runDue()).toBe(0);
      now += 5 * MINUTE;
      expect(await life.runDue()).toBe(1);
      expect(await stored(domain)).toMatchObject({
        status: 'active',
        ever_active: true,
        next_check_at: soon(DAY),
      });
      registry.tell(GONE);
      now += DAY;
      const movedAt = now;
      await life.runDue();
      expect(await stored(domain)).toMatchObject({ status: 'moved', moved_since: movedAt });
      registry.tell(() => null);
      now += 7 * DAY;
      await life.runDue();
      expect((await stored(domain)).status).toBe('moved');
      registry.tell(GONE);
      now += HOUR;
      await life.runDue();
      expect(await stored(domain)).toMatchObject({ status: 'disabled', next_check_at: null });
      expect(await outbox(domain)).toEqual([
        'the domain went from pending to active',
        'the domain went from active to moved',
        'the domain went from moved to disabled',
      ]);
      expect(await trail(domain)).toEqual([
        'domain.checked {"status":"active","ever_active":true,"pending_since":null}',
        `domain.checked {"status":"moved","moved_since":"${new Date(movedAt).toISOString()}"}`,
        'domain.checked {"status":"disabled","moved_since":null}',
      ]);
      expect(notes.flatMap((heard) => (heard.kind === 'changed' ? [heard.to] : []))).toEqual([
        'active',
        'moved',
        'disabled',
      ]);
    });

    it('checks every due domain after start, and none after stop', async () => {
      const domains: DomainRow[] = [];
      for (let index = 0; index < 70; index++) domains.push(await create('managed', `d${index}.example`));
      life.start();
      await expect
        .poll(
          async () =>
            (await store.latest.domains.page(0, 100)).filter(({ status }) => status === 'active').length,
        )
        .toBe(70);
      await life.stop();
      const late = await create('managed');
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect((await stored(late)).status).toBe('pending');
      expect(await life.runDue()).toBe(0);
    });

    it('checks no domain twice when two processes share one database', async () => {
      for (let index = 0; index < 20; index++) await create('managed', `d${index}.example`);
      // On PostgreSQL the other process has a store of its own; an SQLite folder has one server.
      const shared = kind === 'sqlite';
      const beside = shared ? store : await openStore({ database: place.database });
      const other = watch(beside);
      const counts = await Promise.all([life.runDue(), other.runDue()]);
      expect(counts[0]! + counts[1]!).toBe(20);
      expect(notes.filter(({ kind }) => kind === 'checked')).toHaveLength(20);
      await other.stop();
      if (!shared) await beside.close();
    });

    it('checks a domain again after the claim of a crashed process ends', async () => {
      const domain = await create('managed');
      await store.write((tx) => tx.domains.update(domain.id, { next_check_at: now + 2 * MINUTE }));
      expect(await life.runDue()).toBe(0);
      now += 2 * MINUTE;
      expect(await life.runDue()).toBe(1);
      expect((await stored(domain)).status).toBe('active');
    });

    it('leaves the status unchanged when stop aborts a check', async () => {
      registry.tell((query) => ({ ...OURS(query), delayMs: 60 }));
      const domain = await create('managed');
      const run = life.runDue();
      await new Promise((resolve) => setTimeout(resolve, 20));
      await life.stop();
      await run;
      expect((await stored(domain)).status).toBe('pending');
    });
  });

  describe('a request of the owner', () => {
    it('checks the delegation at most once an hour, also when two requests come at once', async () => {
      const domain = await create('managed');
      const both = await Promise.all([checkNow(domain), checkNow(domain)]);
      expect(both.filter((result) => 'state' in result)).toHaveLength(1);
      expect(both.find((result) => !('state' in result))).toEqual({
        ok: false,
        code: 'too_soon',
        waitMs: HOUR,
      });
      expect(await stored(domain)).toMatchObject({ status: 'active', last_manual_ns_check_at: now });
      now += HOUR;
      expect(await checkNow(domain)).toMatchObject({ state: 'delegated', transition: { ok: true } });
      const external = await create('external', 'else.example');
      expect(await checkNow(external)).toEqual({ ok: false, code: 'not_managed' });
    });

    it('verifies a domain by its TXT record alone, and replaces an expired challenge value', async () => {
      const domain = await create('external');
      expect((await verify(domain)).transition).toMatchObject({ ok: false, code: 'absent' });
      resolver.tell(() => null);
      expect((await verify(domain)).transition).toMatchObject({ ok: false, code: 'unknown' });
      const publish = ({ verification_token }: DomainRow): void =>
        resolver.tell(({ name }) => ({ answers: txt(name, verification_token) }));
      publish(domain);
      now += 7 * DAY;
      const expired = await verify(domain);
      expect(expired.transition).toMatchObject({ ok: false, code: 'expired' });
      expect(expired.domain.verification_token).not.toBe(domain.verification_token);
      expect((await verify(domain)).transition).toMatchObject({ ok: false, code: 'absent' });
      publish(await stored(domain));
      const verified = await verify(domain);
      expect(verified.transition).toMatchObject({ ok: true, status: 'active' });
      expect(await stored(domain)).toMatchObject({ status: 'active', verified_at: now });
      expect(await outbox(domain)).toEqual(['the domain went from unverified to active']);
      expect((await store.latest.outbox.list(domain.id)).map(({ id }) => id)).toEqual([verified.outboxId]);
      expect((await trail(domain)).join()).not.toContain('edgeplan-verification');
    });

    it('enables a disabled domain whose proof holds, and else makes it pending again', async () => {
      const domain = await create('managed');
      expect((await enable(domain)).transition).toMatchObject({ ok: false, code: 'not_disabled' });
      await apply(domain, { kind: 'disable' });
      expect((await enable(domain)).domain.status).toBe('active');
      registry.tell(GONE);
      await apply(domain, { kind: 'ban' });
      expect((await enable(domain)).transition).toMatchObject({ ok: false, code: 'banned' });
      const unban = { kind: 'unban', proof: 'absent', challenge: newChallenge(now) } as const;
      expect((await apply(domain, unban)).domain.status).toBe('pending');
      await apply(domain, { kind: 'suspend' });
      expect(await stored(domain)).toMatchObject({ suspended: true, suspended_at: now });
      expect((await outbox(domain)).at(-1)).toBe('the domain was suspended');
    });

    /** Runs a request's transaction on the domain as it is now. */
    const request = <T>(domain: DomainRow, work: (write: RequestedWrite) => Promise<T>): Promise<T> =>
      store.write(async (tx) => {
        const fresh = await tx.domains.get(domain.id);
        if (fresh === null) throw new Error('the domain is gone');
        return work({ tx, domain: fresh, author, now });
      });

    const apply = (domain: DomainRow, event: LifecycleEvent): Promise<Applied> =>
      request(domain, (write) => applyEvent(write.tx, write.domain, event, { author, now }));

    async function checkNow(domain: DomainRow): Promise<RequestedCheck | ManualCheck> {
      const claimed = await request(domain, claimManualCheck);
      if (!claimed.ok) return claimed;
      const delegation = await lookups().delegation(domain);
      return request(domain, (write) => applyDelegation(write, delegation));
    }

    async function verify(domain: DomainRow): Promise<Applied> {
      const proof = await proveChallenge(lookups(), await stored(domain));
      return request(domain, (write) => verifyDomain(write, proof));
    }

    async function enable(domain: DomainRow): Promise<Applied> {
      const proof = await proveName(lookups(), await stored(domain));
      return request(domain, (write) => enableDomain(write, proof));
    }
  });

  describe('the scan of a new domain', () => {
    async function createToScan(name = DOMAIN): Promise<DomainRow> {
      const domain = await create('managed', name);
      await askForScan(domain);
      return domain;
    }
    const askForScan = ({ id }: DomainRow): Promise<void> =>
      store.write((tx) => tx.scans.put({ ...author, domain_id: id, run_at: now, tries: 0 }));

    it('imports each record once, and none whose name and type the domain already has', async () => {
      const domain = await createToScan();
      expect(await life.runScans()).toBe(1);
      expect(await store.latest.records.list(domain.id)).toMatchObject([
        {
          name: '@',
          type: 'A',
          destination: '192.0.2.1',
          proxied: true,
          scheme: 'Default',
          domain_id: domain.id,
        },
      ]);
      expect(await outbox(domain)).toEqual(['1 record was imported']);
      expect(await store.latest.audit.list(domain.id, { limit: 9 })).toMatchObject([
        { action: 'record.import', account_id: author.account_id },
      ]);
      expect(await life.runScans()).toBe(0);
      await askForScan(domain);
      expect(await life.runScans()).toBe(1);
      expect(await store.latest.records.count(domain.id)).toBe(1);
    });

    it.each([
      [[], false],
      [['192.0.2.0/24'], true],
    ])('proxies a record of a special address only within %j', async (allowed, proxied) => {
      const careful = watch(store, 100, allowed);
      const domain = await createToScan();
      expect(await careful.runScans()).toBe(1);
      await careful.stop();
      expect(await store.latest.records.list(domain.id)).toMatchObject([
        { destination: '192.0.2.1', proxied },
      ]);
    });

    it('imports nothing for an external domain or one that is deleted during the scan', async () => {
      const external = await create('external', 'else.example');
      await askForScan(external);
      expect(await life.runScans()).toBe(1);
      expect(await store.latest.records.count(external.id)).toBe(0);
      const domain = await createToScan();
      const scan = life.runScans();
      await store.write((tx) => tx.domains.remove(domain.id));
      await scan;
      expect(await store.latest.scans.due(now + DAY, 9)).toEqual([]);
      expect(notes.filter(({ kind }) => kind === 'failed')).toEqual([]);
    });

    it('starts again when the process that claimed it has crashed', async () => {
      const domain = await createToScan();
      // What a crash leaves behind: begun, and nothing more.
      await store.write((tx) => tx.scans.claim(domain.id, { now, until: now + SCAN_CLAIM_MS }));
      expect(await life.runScans()).toBe(0);
      now += SCAN_CLAIM_MS;
      await life.stop();
      life = watch(store);
      life.start();
      await expect.poll(() => store.latest.records.count(domain.id)).toBe(1);
      expect(await outbox(domain)).toContain('1 record was imported');
    });

    it('stays due when it is stopped, and runs once when two processes look for it', async () => {
      const domain = await createToScan();
      host.tell(() => null);
      const before = host.queries.length;
      const cut = life.runScans();
      await expect.poll(() => host.queries.length).toBeGreaterThan(before);
      await life.stop();
      await cut;
      expect(await store.latest.scans.due(now, 9)).toMatchObject([{ domain_id: domain.id, tries: 1 }]);
      host.tell(HOST);
      const both = [watch(store), watch(store)];
      const done = await Promise.all(both.map((one) => one.runScans()));
      expect(done.toSorted()).toEqual([0, 1]);
      expect(await store.latest.records.count(domain.id)).toBe(1);
      await Promise.all(both.map((one) => one.stop()));
    });

    it('is removed after the highest number of tries', async () => {
      const domain = await createToScan();
      for (let tries = 0; tries < MAX_SCAN_TRIES; tries++) {
        await store.write((tx) => tx.scans.claim(domain.id, { now, until: now }));
      }
      expect(await life.runScans()).toBe(1);
      expect(await store.latest.scans.due(now + DAY, 9)).toEqual([]);
      expect(await store.latest.records.count(domain.id)).toBe(0);
    });
  });

  it('limits the concurrent questions to a server, and spreads the next checks of domains that were due together', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `shop${at}.example`);
    for (const name of names) await create('managed', name);
    const busy = { now: 0, most: 0 };
    registry.tell((query) => {
      busy.now++;
      busy.most = Math.max(busy.most, busy.now);
      return {
        ...OURS(query)!,
        delayMs: 5,
        mangle: (octets) => {
          busy.now--;
          return octets;
        },
      };
    });
    // A time-out longer than the queue: a question that times out is still in progress at the server.
    expect(await watch(store, 10_000).runDue()).toBe(names.length);
    expect(busy.most).toBeGreaterThan(1);
    expect(busy.most).toBeLessThanOrEqual(SERVER_CONCURRENCY);
    const next = (await store.latest.domains.due(now + DAY, 100)).map(({ next_check_at }) => next_check_at!);
    expect(next).toHaveLength(names.length);
    for (const at of next) expect(at).toBeGreaterThanOrEqual(now + 0.9 * DAY);
    // No five minutes hold more than some of them.
    const crowd = (from: number): number => next.filter((at) => at >= from && at < from + 5 * MINUTE).length;
    expect(Math.max(...next.map(crowd))).toBeLessThan(names.length / 4);
  });
});
