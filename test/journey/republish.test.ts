/** An upgrade to a newer plan format: what is out serves on, and every domain is published again by itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FORMAT_REASON, requestAll, rollbackReason, survey } from '../../src/control/publishing/republish.ts';
import { createRepublisher } from '../../src/control/publishing/republisher.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { OLDEST_VERSION, PLAN_VERSION } from '../../src/engine/plan/layout.ts';
import { builtCli } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { startFollower, type TestFollower } from '../support/edge-follower.ts';
import { filePlan, sealAsPrevious, withVersion } from '../support/older-plan.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';

const CHILD = fileURLToPath(new URL('../support/publish-child.mjs', import.meta.url));
const DOMAINS = 9;

/** Domains that drop `/admin`, whose current plans are revision 2 in the version before this one. */
async function olderDomains(house: House): Promise<readonly DomainRow[]> {
  const domains: DomainRow[] = [];
  for (let number = 1; number <= DOMAINS; number++) {
    const domain = await addDomain(house, `d${number}.test`);
    await addDrop(house, domain, '/admin');
    domains.push(domain);
  }
  expect(await house.publisher.publishNow()).toBe(DOMAINS);
  for (const domain of domains) expect(await filePlan(house, domain, sealAsPrevious)).toBe(2);
  return domains;
}

function republisherOf({ store, publisher }: House): ReturnType<typeof createRepublisher> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  return createRepublisher({ store, publisher, clock: Date.now, log });
}

/** Decides requests of all domains until it is stopped; answers how many, and those not decided as they should be. */
function sendTraffic(
  node: TestFollower,
  domains: readonly DomainRow[],
): () => { requests: number; failed: readonly string[] } {
  const failed: string[] = [];
  let requests = 0;
  const timer = setInterval(() => {
    for (const { name } of domains) {
      requests += 1;
      const action = node.decide(name, '/admin');
      if (action !== 'block') failed.push(`${name}: ${action}`);
    }
  }, 1);
  return () => {
    clearInterval(timer);
    return { requests, failed };
  };
}

for (const database of testDatabases()) {
  describe(`on ${database.kind}`, () => {
    let made: Awaited<ReturnType<typeof database.make>>;
    let house: House;
    const ends: (() => Promise<void>)[] = [];

    beforeEach(async () => {
      made = await database.make();
      house = await openHouse({ database: made.database, idle: true });
    });
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
      await house.close();
      await made.drop();
    });

    async function follow(directory?: string): Promise<TestFollower> {
      const token = await house.token(`node-${ends.length + 1}`);
      const place = directory === undefined ? {} : { directory };
      const node = await startFollower({ url: `http://127.0.0.1:${house.port}`, token, ...place });
      ends.push(() => node.stop());
      return node;
    }

    const counted = (request = 0) => survey(house.store.latest, request);

    test('a node serves the older plans at once, then every domain in the new format, and no request fails', async () => {
      const domains = await olderDomains(house);
      const node = await follow();
      await until(() => domains.every(({ name }) => node.revision(name) === 2), 'the older plans');
      expect(await counted()).toEqual({ plans: DOMAINS, older: DOMAINS, left: DOMAINS });
      const stopTraffic = sendTraffic(node, domains);
      house.publisher.start();
      const republisher = republisherOf(house);
      republisher.start();
      ends.push(() => republisher.stop());
      await until(() => domains.every(({ name }) => node.revision(name) === 3), 'the new plans');
      const { requests, failed } = stopTraffic();
      expect(failed).toEqual([]);
      expect(requests).toBeGreaterThan(DOMAINS);
      expect(node.warnings).toEqual([]);
      expect(await counted()).toEqual({ plans: DOMAINS, older: 0, left: 0 });
      await until(() => republisher.older() === 0, 'the metric');
      const last = await house.store.latest.plans.list(domains[0]!.id, { limit: 1 });
      expect(last).toMatchObject([{ revision: 3, reason: FORMAT_REASON, account_id: null }]);
    });

    test('two publishers on one store publish each domain once', async () => {
      const domains = await olderDomains(house);
      house.publisher.start();
      // The embedded store is one process's alone.
      const other = database.kind === 'postgres' ? await openHouse({ database: made.database }) : house;
      if (other !== house) ends.push(() => other.close());
      const two = [republisherOf(house), republisherOf(other)];
      for (const republisher of two) republisher.start();
      ends.push(...two.map((republisher) => () => republisher.stop()));
      await until(async () => (await counted()).left === 0, 'all of them');
      for (const republisher of two) await republisher.stop();
      await until(async () => (await house.store.latest.outbox.backlog()).rows === 0, 'the rest');
      for (const { name } of domains)
        expect((await house.store.latest.plans.current(name))?.revision).toBe(3);
    });

    test('a rollback stays in force in the new format', async () => {
      const domain = await addDomain(house, 'back.test');
      await house.publisher.publishNow();
      const bytes = (await house.store.latest.plans.blob(
        (await house.store.latest.plans.current('back.test'))!.digest!,
      ))!;
      await addDrop(house, domain, '/admin');
      await house.publisher.publishNow();
      await filePlan(house, domain, (_, revision) => sealAsPrevious(bytes, revision), rollbackReason(1));
      const node = await follow();
      house.publisher.start();
      const republisher = republisherOf(house);
      republisher.start();
      ends.push(() => republisher.stop());
      await until(() => node.revision('back.test') === 4, 'the new format');
      expect(node.decide('back.test', '/admin')).toBe('forward');
      const reason = `${rollbackReason(1)}; ${FORMAT_REASON}`;
      expect(await house.store.latest.plans.get(domain.id, 4)).toMatchObject({ reason });
      await requestAll(house.store, Date.now());
      await until(() => node.revision('back.test') === 5, 'once more');
      expect(node.decide('back.test', '/admin')).toBe('forward');
      await addDrop(house, domain, '/more');
      await until(() => node.decide('back.test', '/admin') === 'block', 'the next change');
    });

    test('a damaged plan is published again from its rows, and a plan of a newer version is not replaced', async () => {
      const [damaged, newer] = [await addDomain(house, 'a.test'), await addDomain(house, 'b.test')];
      await house.publisher.publishNow();
      await filePlan(house, damaged, () => Uint8Array.of(1, 2, 3), rollbackReason(1));
      await filePlan(house, newer, (bytes) => withVersion(bytes, PLAN_VERSION + 1));
      expect(await counted()).toEqual({ plans: 2, older: 1, left: 1 });
      house.publisher.start();
      const republisher = republisherOf(house);
      republisher.start();
      await until(async () => (await counted()).left === 0, 'the damaged one');
      await republisher.stop();
      expect(await house.store.latest.plans.get(damaged.id, 3)).toMatchObject({ reason: FORMAT_REASON });
      expect((await house.store.latest.plans.current('b.test'))?.revision).toBe(2);
    });

    test('a request covers every domain once, and tombstones need nothing', async () => {
      const domains = [await addDomain(house, 'a.test'), await addDomain(house, 'b.test')];
      await addDomain(house, 'off.test', { suspended: true });
      expect(await requestAll(house.store, Date.now())).toBe(0);
      await house.publisher.publishNow();
      const request = await requestAll(house.store, Date.now());
      expect(await counted(request)).toEqual({ plans: 2, older: 0, left: 2 });
      house.publisher.start();
      const republisher = republisherOf(house);
      republisher.start();
      ends.push(() => republisher.stop());
      await until(async () => (await counted(request)).left === 0, 'both');
      for (const { name } of domains)
        expect((await house.store.latest.plans.current(name))?.revision).toBe(2);
      expect((await house.store.latest.plans.current('off.test'))?.revision).toBe(1);
    });

    test('after kill -9 in the middle every domain is published again exactly once', {
      timeout: 120_000,
    }, async () => {
      await builtCli();
      const domains = await olderDomains(house);
      await house.close();
      for (const [turn, point] of ['compiled', 'written', 'committed'].entries()) {
        const child = spawn(process.execPath, [CHILD, made.database, point, String(turn + 1), 'again']);
        let said = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said += text;
        });
        const [, signal] = await once(child, 'close');
        expect(signal, said).toBe('SIGKILL');
      }
      house = await openHouse({ database: made.database });
      expect((await counted()).left).toBeGreaterThan(0);
      const republisher = republisherOf(house);
      republisher.start();
      ends.push(() => republisher.stop());
      await until(async () => (await counted()).left === 0, 'the rest');
      await until(async () => (await house.store.latest.outbox.backlog()).rows === 0, 'the outbox');
      for (const { name } of domains)
        expect((await house.store.latest.plans.current(name))?.revision, name).toBe(3);
    });

    test('a node rejects a plan of the next version with a reason and serves the old one, also after a restart', async () => {
      const domain = await addDomain(house, 'shop.test');
      await addDrop(house, domain, '/admin');
      await house.publisher.publishNow();
      const node = await follow();
      ends.push(async () => rmSync(node.directory, { recursive: true, force: true }));
      await until(() => node.decide('shop.test', '/admin') === 'block', 'the plan');
      await filePlan(house, domain, (bytes) => withVersion(bytes, PLAN_VERSION + 1));
      const answers = async () => (await house.call('GET', '/domains/shop.test/nodes/')).body;
      await until(async () => (await answers())[0]?.outcome === 'nack', 'the nack');
      const sentence = `the plan has version ${PLAN_VERSION + 1}, this build reads ${OLDEST_VERSION} to ${PLAN_VERSION}; upgrade this node`;
      expect(await answers()).toMatchObject([{ revision: 2, reason: expect.stringContaining(sentence) }]);
      expect([node.revision('shop.test'), node.decide('shop.test', '/admin')]).toEqual([1, 'block']);
      await node.stop();
      const again = await follow(node.directory);
      expect([again.revision('shop.test'), again.decide('shop.test', '/admin')]).toEqual([1, 'block']);
      await until(() => again.state().failing.length > 0, 'the second refusal');
      expect([again.revision('shop.test'), again.decide('shop.test', '/admin')]).toEqual([1, 'block']);
    });
  });
}
