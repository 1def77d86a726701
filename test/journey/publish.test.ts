/** From an accepted write to a numbered, signed plan: on both stores, through real transactions. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import type { Store } from '../../src/control/store/store.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { RevisionRow } from '../../src/control/store/tables/plans.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import { send } from '../support/api.ts';
import { everyDatabase } from '../support/databases.ts';
import { asAdmin } from '../support/postgres.ts';
import {
  addDomain,
  addDrop,
  changeDomain,
  dropBody,
  type House,
  openHouse,
  removeDomain,
  until,
} from '../support/publish-setup.ts';

async function history(store: Store, domain: DomainRow): Promise<readonly RevisionRow[]> {
  return [...(await store.latest.plans.list(domain.id, { limit: 1_000 }))].reverse();
}

async function decide(store: Store, name: string, target: string): Promise<string> {
  const current = (await store.latest.plans.current(name))!;
  const evaluator = loadPlan((await store.latest.plans.blob(current.digest!))!);
  expect(evaluator.revision).toBe(current.revision);
  return evaluator.evaluate({ scheme: 'https', method: 'GET', host: name, target, ip: '192.0.2.1' }).action;
}

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

function soon(milliseconds = 45_000): AbortSignal {
  return AbortSignal.timeout(milliseconds);
}

for (const database of everyDatabase()) {
  describe(`publishing on ${database.kind}`, () => {
    let made: Awaited<ReturnType<typeof database.make>>;
    let house: House;

    async function open(idle: boolean): Promise<House> {
      house = await openHouse({ database: made.database, idle });
      return house;
    }

    beforeEach(async () => {
      made = await database.make();
    });
    afterEach(async () => {
      await house.close();
      await made.drop();
    });

    test('the next revision decides by what was written', async () => {
      const { store, publisher } = await open(true);
      const domain = await addDomain(house, 'shop.test');
      expect(await publisher.publishNow()).toBe(1);
      expect(await decide(store, 'shop.test', '/admin')).toBe('forward');
      const { outboxId } = await addDrop(house, domain, '/admin');
      expect(await store.latest.plans.covering(domain.id, outboxId)).toBeNull();
      expect(await publisher.publishNow()).toBe(1);
      expect(await decide(store, 'shop.test', '/admin')).toBe('block');
      const revisions = await history(store, domain);
      expect(revisions.map(({ revision, reason }) => [revision, reason])).toEqual([
        [1, 'domain created'],
        [2, 'rule for /admin'],
      ]);
      expect(revisions[1]!.through).toBe(outboxId);
      expect(await store.latest.outbox.backlog()).toEqual({ rows: 0, since: null });
      expect(await publisher.publishNow()).toBe(0);
    });

    test('several writes share a revision, and every request that waits for it is answered', async () => {
      const { store, publisher } = await open(true);
      const domain = await addDomain(house, 'shop.test');
      const ids: number[] = [];
      for (let index = 0; index < 6; index++) ids.push((await addDrop(house, domain, `/p${index}`)).outboxId);
      const waiting = ids.map((id) => publisher.waitForOutbox(domain, id, soon()));
      expect(await publisher.publishNow()).toBe(1);
      expect((await Promise.all(waiting)).map((revision) => revision?.revision)).toEqual(ids.map(() => 1));
      const [only] = await history(store, domain);
      expect(only!.reason).toBe('domain created; rule for /p0; rule for /p1; and 4 more');
      expect((await publisher.waitForOutbox(domain, ids[0]!, soon()))?.revision).toBe(1);
      expect(await publisher.waitForOutbox(domain, ids[5]! + 1, soon(50))).toBeNull();
    });

    test('a stream of writes is published in few revisions, the last of which covers all', async () => {
      const { store, publisher } = await open(false);
      const domain = await addDomain(house, 'shop.test');
      const { rule } = await addDrop(house, domain, '/p');
      const key = { domain_id: domain.id, type: 'drop', id: rule.id } as const;
      const change = (number: number) =>
        store.write(async (tx) => {
          const body = dropBody(`/p${number}`);
          await tx.rules.update(key, { priority: 100, body, record_ids: [], updated_at: number });
          const row = { ...SERVICE, domain_id: domain.id, domain: domain.name, at: number, reason: 'stream' };
          return tx.outbox.append(row);
        });
      let number = 0;
      const writer = async (): Promise<void> => {
        while (number < 1_000) await change(++number);
      };
      await Promise.all(Array.from({ length: 8 }, writer));
      const last = await change(1_001);
      expect(await publisher.waitForOutbox(domain, last, soon())).not.toBeNull();
      expect(await decide(store, 'shop.test', '/p1001')).toBe('block');
      expect((await history(store, domain)).length).toBeLessThan(200);
    }, 30_000);

    test('a domain that must not serve gets tombstones, and revisions continue across deletion', async () => {
      const { store, publisher } = await open(true);
      const first = await addDomain(house, 'shop.test', { status: 'pending', ever_active: false });
      await publisher.publishNow();
      await changeDomain(house, first, { status: 'active', ever_active: true });
      await publisher.publishNow();
      await changeDomain(house, first, { suspended: true });
      await publisher.publishNow();
      await changeDomain(house, first, { suspended: false, status: 'moved' });
      await publisher.publishNow();
      await changeDomain(house, first, { status: 'disabled' });
      await publisher.publishNow();
      await removeDomain(house, first);
      await publisher.publishNow();
      const second = await addDomain(house, 'shop.test');
      await publisher.publishNow();
      const all = [...(await history(store, first)), ...(await history(store, second))];
      expect(all.map(({ revision, digest }) => [revision, digest !== null])).toEqual([
        [1, false],
        [2, true],
        [3, false],
        [4, true],
        [5, false],
        [6, false],
        [7, true],
      ]);
      expect((await store.latest.plans.current('shop.test'))?.domain_id).toBe(second.id);
    });

    test('the tombstone of a deleted domain never outlives the next domain of its name', async () => {
      const { store, publisher } = await open(true);
      const first = await addDomain(house, 'shop.test');
      await publisher.publishNow();
      await removeDomain(house, first);
      const second = await addDomain(house, 'shop.test');
      await addDrop(house, second, '/new');
      // As when two processes have one of the two each: the new domain comes out before the old one's tombstone.
      const { publishDomain } = await import('../../src/control/publishing/publish.ts');
      const { createPlanMaker } = await import('../../src/control/publishing/plan-maker.ts');
      const { createListSealer } = await import('../../src/control/publishing/seal-lists.ts');
      const plans = createPlanMaker({ store });
      const lists = createListSealer({ store, plans, clock: Date.now, cache: plans.cache });
      const tools = { store, plans, lists, clock: Date.now };
      await publishDomain({ domain_id: second.id, domain: 'shop.test' }, tools);
      await publishDomain({ domain_id: first.id, domain: 'shop.test' }, tools);
      expect(await publishDomain({ domain_id: first.id, domain: 'shop.test' }, tools)).toBeNull();
      expect(await decide(store, 'shop.test', '/new')).toBe('block');
      expect((await history(store, first)).map(({ revision }) => revision)).toEqual([1, 3]);
      expect((await history(store, second)).map(({ revision }) => revision)).toEqual([2, 4]);
      expect((await store.latest.plans.current('shop.test'))?.domain_id).toBe(second.id);
      expect(await store.latest.outbox.backlog()).toEqual({ rows: 0, since: null });
    });

    test('the next domain of a name does not see the revisions of the one before', async () => {
      const { publisher, call, port } = await open(true);
      const before = await addDomain(house, 'shop.test');
      await publisher.publishNow();
      const reports = [{ domain: 'shop.test', revision: 1, outcome: 'nack', reason: 'rule drop/7' }];
      const headers = { authorization: `Bearer ${await house.token('one')}` };
      await send(port, { method: 'POST', path: '/nodes/reports', body: { reports }, headers });
      const at = '/domains/shop.test';
      expect((await call('GET', `${at}/nodes/`)).body).toMatchObject([
        { revision: 1, reason: 'rule drop/7' },
      ]);
      expect((await call('POST', `${at}/simulate`, { request: {} })).status).toBe(200);
      await removeDomain(house, before);
      await addDomain(house, 'shop.test');
      // The tombstone of the one before is not out yet.
      const simulated = await call('POST', `${at}/simulate`, { request: {} });
      expect(simulated, simulated.text).toMatchObject({ status: 409 });
      expect((await call('GET', `${at}/diff`)).body.error).toBe('there are no two revisions to compare yet');
      const silent = [{ name: 'one', revision: null, outcome: null, reason: '', reported_at: null }];
      expect((await call('GET', `${at}/nodes/`)).body).toMatchObject(silent);
      await publisher.publishNow();
      expect((await call('GET', `${at}/nodes/`)).body).toMatchObject(silent);
      expect((await call('POST', `${at}/simulate`, { request: {} })).status).toBe(200);
    });

    test('a write that changes nothing waits for the revision that covers the current state', async () => {
      const { publisher, call } = await open(true);
      await addDomain(house, 'shop.test');
      await publisher.publishNow();
      const made = await call('POST', '/domains/shop.test/records/', {
        name: 'a',
        type: 'A',
        destination: '192.0.2.1',
      });
      const answered: unknown[] = [];
      const path = `/domains/shop.test/records/${made.body.id}?wait=published`;
      const same = call('PUT', path, made.body).then((answer) => {
        answered.push(answer);
        return answer;
      });
      // Time enough to be answered in, had it not waited.
      for (let turn = 0; turn < 20; turn++) await call('GET', '/domains/');
      expect(answered).toEqual([]);
      await publisher.publishNow();
      expect(await same).toMatchObject({ status: 200, headers: { 'x-revision': '2' } });
      expect((await call('PUT', path, made.body)).headers['x-revision']).toBe('2');
    });

    test('a domain that cannot be compiled delays no other, and is published once it can be', async () => {
      const { store, publisher, log } = await open(false);
      const broken = await addDomain(house, 'broken.test');
      const { rule } = await addDrop(house, broken, '/a');
      const key = { domain_id: broken.id, type: 'drop', id: rule.id } as const;
      const put = (body: string): Promise<unknown> =>
        store.write((tx) => tx.rules.update(key, { priority: 100, record_ids: [], updated_at: 1, body }));
      await put('{"ips":["nowhere"]}');
      await changeDomain(house, broken, {});
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, index) => addDomain(house, `shop-${index}.test`)),
      );
      await until(() => publisher.failing().length === 1, 'the failure');
      expect(publisher.failing()[0]!.message).toContain(`rule drop/${rule.id} no longer reads`);
      for (const other of others) await until(() => store.latest.plans.current(other.name), other.name);
      expect(log.some((line) => line.includes('cannot publish') && line.includes('broken.test'))).toBe(true);
      await put(dropBody('/a'));
      const { outboxId } = await addDrop(house, broken, '/b');
      const revision = await publisher.waitForOutbox(broken, outboxId, soon());
      expect(revision).not.toBeNull();
      expect(await decide(store, 'broken.test', '/b')).toBe('block');
      await until(() => publisher.failing().length === 0, 'its end');
    });

    test('a rollback covers changes that cannot be compiled, and the domain is no longer reported as failing', async () => {
      const { store, publisher } = await open(false);
      const domain = await addDomain(house, 'shop.test');
      const { rule, outboxId } = await addDrop(house, domain, '/a');
      await publisher.waitForOutbox(domain, outboxId, soon());
      const key = { domain_id: domain.id, type: 'drop', id: rule.id } as const;
      const broken = { priority: 100, record_ids: [], updated_at: 1, body: '{"ips":["nowhere"]}' };
      await store.write((tx) => tx.rules.update(key, broken));
      await changeDomain(house, domain, {});
      await until(() => publisher.failing().length === 1, 'the failure');
      expect((await house.call('POST', '/domains/shop.test/plans/1/rollback')).status).toBe(200);
      await until(() => publisher.failing().length === 0, 'its end');
    });

    test('the only publisher of a store ends the claims of a process that died', async () => {
      const { store } = await open(true);
      const domain = await addDomain(house, 'shop.test');
      const { outboxId } = await addDrop(house, domain, '/a');
      const now = Date.now();
      const hour = 3_600_000;
      await store.write((tx) => tx.outbox.claim({ now, until: now + hour, limit: 9 }));
      const next = createPublisher({ store, log: SILENT, leaseMs: hour, alone: true });
      next.start();
      const revision = await next.waitForOutbox(domain, outboxId, soon());
      await next.stop();
      expect(revision?.through).toBeGreaterThanOrEqual(outboxId);
    });

    if (database.kind === 'postgres')
      test('while the store stalls, the renewal of claims takes one connection', async () => {
        const { store } = await open(true);
        const domain = await addDomain(house, 'shop.test');
        const { outboxId } = await addDrop(house, domain, '/a');
        const operator = new pg.Client({ connectionString: made.database });
        await operator.connect();
        // By another connection: a transaction sees one state of the sessions.
        const waiting = async (): Promise<number> => {
          const { rows } = await asAdmin(
            `SELECT pid FROM pg_stat_activity WHERE datname = '${new URL(made.database).pathname.slice(1)}'
             AND application_name = 'edgeplan' AND wait_event_type = 'Lock'`,
          );
          return rows.length;
        };
        const eager = createPublisher({ store, log: SILENT, leaseMs: 30 });
        try {
          // The publication stops while it has locked the rows that renewals change.
          await operator.query('BEGIN; LOCK TABLE plan_revisions IN EXCLUSIVE MODE');
          eager.start();
          await until(async () => (await waiting()) > 1, 'a renewal');
          // Thirty renewals are due meanwhile.
          await new Promise((resolve) => setTimeout(resolve, 300));
          // The publication, a renewal, and at most one further claim.
          expect(await waiting()).toBeLessThanOrEqual(3);
          await operator.query('ROLLBACK');
          expect(await eager.waitForOutbox(domain, outboxId, soon())).not.toBeNull();
        } finally {
          await operator.end();
          await eager.stop();
        }
      });

    test('two publishers side by side publish every write once, in order', async () => {
      const one = await open(false);
      // SQLite has one server a data folder, so there the second works on the same store.
      const two = database.kind === 'postgres' ? await openHouse({ database: made.database }) : null;
      const rival = createPublisher({ store: two?.store ?? one.store, log: SILENT, pollMs: 20, leaseMs: 30 });
      rival.start();
      const stores = [one, two ?? one];
      const domains = await Promise.all(
        Array.from({ length: 8 }, (_, index) => addDomain(one, `shop-${index}.test`)),
      );
      // One write at a time for each domain: a store that is asked for more than it has connections refuses after 5 s, and on a
      // busy disk a hundred writes at once take longer. Nothing waits for a publication before all is written.
      const waits = await Promise.all(
        domains.map(async (domain) => {
          const pending: Promise<{ outboxId: number; revision: RevisionRow | null }>[] = [];
          for (let index = 0; index < 12; index++) {
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
            const { outboxId } = await addDrop(stores[index % 2]!, domain, `/p${index}`);
            const { publisher } = stores[(index + 1) % 2]!;
            pending.push(
              publisher.waitForOutbox(domain, outboxId, soon()).then((revision) => ({ outboxId, revision })),
            );
          }
          return (await Promise.all(pending)).map((one) => ({ domain, ...one }));
        }),
      );
      for (const { domain, outboxId, revision } of waits.flat()) {
        expect(revision, `${domain.name} outbox ${outboxId}`).not.toBeNull();
        expect(revision!.through).toBeGreaterThanOrEqual(outboxId);
      }
      for (const domain of domains) {
        const revisions = await history(one.store, domain);
        expect(revisions.map(({ revision }) => revision)).toEqual(revisions.map((_, index) => index + 1));
        const through = revisions.map((row) => row.through);
        expect(through).toEqual([...new Set(through)].sort((a, b) => a - b));
        for (let index = 0; index < 12; index++) {
          expect(await decide(one.store, domain.name, `/p${index}`)).toBe('block');
        }
      }
      expect(await one.store.latest.outbox.backlog()).toEqual({ rows: 0, since: null });
      await rival.stop();
      await two?.close();
    });
  });
}
