/** Invariants that a domain requires of its drafts, over real HTTP, on both databases. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain, type House, openHouse } from '../support/publish-setup.ts';

const DOMAIN = '/domains/shop.test';
const OFFICE = {
  name: 'only the office reaches /admin',
  when: { path: ['/admin', '/admin/*'], ip: { not: '198.51.100.0/24' } },
  never: 'forward',
};
const OFFICE_RULE = {
  path_includes: ['/admin', '/admin/*'],
  ip_match_type: 'exclude',
  ips: ['198.51.100.0/24'],
};

for (const database of testDatabases()) {
  describe(`invariants on ${database.kind}`, () => {
    let made: Awaited<ReturnType<typeof database.make>>;
    let house: House;

    beforeEach(async () => {
      made = await database.make();
      house = await openHouse({ database: made.database });
      await addDomain(house, 'shop.test');
    });
    afterEach(async () => {
      await house.close();
      await made.drop();
    });

    const ok = async (method: string, path: string, body?: unknown): Promise<Answer> => {
      const answer = await house.call(method, `${DOMAIN}${path}`, body);
      expect([answer.status, answer.text], `${method} ${path}`).toEqual([200, answer.text]);
      return answer;
    };
    const refused = async (method: string, path: string, body?: unknown): Promise<string> => {
      const { status, text } = await house.call(method, `${DOMAIN}${path}`, body);
      return `${status} ${text}`;
    };
    const revision = async () => (await house.store.latest.plans.current('shop.test'))?.revision ?? null;
    const manual = () => ok('PUT', '/publishing', { publish_mode: 'manual' });

    test('a draft that breaks one is not published, and the answer has the request', async () => {
      const rule = (await ok('POST', '/rules/drop/?wait=published', OFFICE_RULE)).body;
      await manual();
      await ok('PUT', '/invariants', { invariants: [OFFICE] });
      expect((await ok('GET', '/invariants')).body).toEqual({ invariants: [OFFICE] });
      const before = await revision();
      await ok('PUT', `/rules/drop/${rule.id}`, { path_includes: ['/admin/*'] });
      const broken = await refused('POST', '/draft/publish');
      expect(broken).toMatch(
        /^409 .*the invariant `only the office reaches \/admin` \(never forward\) is broken: /,
      );
      const [, command = ''] = /broken: `(https:\S+ --ip \S+)` gets forward/.exec(broken) ?? [];
      expect(command).toMatch(/^https:\/\/shop\.test\/admin --ip /);
      expect(await revision()).toBe(before);
      expect((await ok('GET', '/invariants/proof')).body).toMatchObject({
        holds: false,
        invariants: [{ name: OFFICE.name, claim: 'never forward', result: 'broken', command }],
      });
      await ok('PUT', `/rules/drop/${rule.id}`, { path_includes: ['/admin*'] });
      expect((await ok('GET', '/invariants/proof')).body).toMatchObject({
        holds: true,
        invariants: [{ result: 'proved', request: null }],
      });
      expect((await ok('POST', '/draft/publish?wait=published')).body.changed).toBe(1);
      expect(await revision()).toBe(before! + 1);
    });

    test('a domain that publishes every change at once requires none', async () => {
      expect(await refused('PUT', '/invariants', { invariants: [OFFICE] })).toMatch(/^409 .*\/publishing/);
      await ok('PUT', '/invariants', { invariants: [] });
      await manual();
      await ok('PUT', '/invariants', { invariants: [OFFICE] });
      expect(await refused('PUT', '/publishing', { publish_mode: 'automatic' })).toMatch(
        /^409 .*\/invariants/,
      );
      await ok('PUT', '/invariants', { invariants: [] });
      await ok('PUT', '/publishing', { publish_mode: 'automatic' });
    });

    test('mistakes are named, and leave the list as it is', async () => {
      await manual();
      await ok('PUT', '/invariants', { invariants: [OFFICE] });
      const wrong = { ...OFFICE, when: { path: 'admin' }, never: 'forwrd' };
      expect(await refused('PUT', '/invariants', { invariants: [wrong] })).toMatch(
        /^400 .*invariants\[0\]\.never: must be one of .*invariants\[0\]\.when\.path: matches no path/,
      );
      expect(await refused('PUT', '/invariants', { invariants: [OFFICE], more: 1 })).toMatch(/^400 /);
      expect(await refused('PUT', '/invariants', [])).toMatch(/^400 /);
      expect((await ok('GET', '/invariants')).body.invariants).toHaveLength(1);
    });
  });
}
