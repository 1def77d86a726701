/** Drafts over real HTTP, with a publisher and a node that follows it, on both databases. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { Answer } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { startFollower, type TestFollower } from '../support/edge-follower.ts';
import { addDomain, changeDomain, type House, openHouse, until } from '../support/publish-setup.ts';

const RULES = '/domains/shop.test/rules/drop/';
const DRAFT = '/domains/shop.test/draft';
const PUBLISHING = '/domains/shop.test/publishing';

for (const database of testDatabases()) {
  describe(`drafts on ${database.kind}`, () => {
    let made: Awaited<ReturnType<typeof database.make>>;
    let house: House;
    let domain: DomainRow;
    let node: TestFollower;

    beforeEach(async () => {
      made = await database.make();
      house = await openHouse({ database: made.database });
      domain = await addDomain(house, 'shop.test');
      const url = `http://127.0.0.1:${house.port}`;
      node = await startFollower({ url, token: await house.token('node-1') });
    });
    afterEach(async () => {
      await node.stop();
      await house.close();
      await made.drop();
    });

    const ok = async (method: string, path: string, body?: unknown): Promise<Answer> => {
      const answer = await house.call(method, path, body);
      expect([answer.status, answer.text], `${method} ${path}`).toEqual([200, answer.text]);
      return answer;
    };
    const drop = (path: string, query = ''): Promise<Answer> =>
      ok('POST', `${RULES}${query}`, { path_includes: [path], countries: ['RU', 'DE'] });
    const manual = () => ok('PUT', PUBLISHING, { publish_mode: 'manual' });
    const revision = async () => (await house.store.latest.plans.current('shop.test'))?.revision ?? null;
    /** What the node decides about a visitor from Germany. */
    const decides = (path: string) =>
      house.call('POST', '/domains/shop.test/simulate', {
        request: { host: 'shop.test', target: path, country: 'DE' },
      });
    const action = async (path: string) => (await decides(path)).body.decision.action;
    const changes = async () =>
      (await ok('GET', DRAFT)).body.changes.map((one: { rule: string; change: string }) => [
        one.rule,
        one.change,
      ]);

    test('a change of rules waits: nodes run the published rules until the draft is published', async () => {
      const first = (await drop('/a', '?wait=published')).body;
      await manual();
      const before = await revision();
      const changed = await ok('PUT', `${RULES}${first.id}?wait=published`, { path_includes: ['/b'] });
      expect([changed.headers['x-draft'], changed.headers['x-revision']]).toEqual(['1', undefined]);
      const created = await drop('/c');
      expect(created.headers['x-draft']).toBe('2');
      expect(await changes()).toEqual([
        [`drop/${first.id}`, 'changed'],
        [`drop/${created.body.id}`, 'created'],
      ]);
      expect([await action('/a'), await action('/b'), await action('/c')]).toEqual([
        'block',
        'forward',
        'forward',
      ]);
      // A record takes effect at once, with the published rules.
      await ok('POST', '/domains/shop.test/records/?wait=published', {
        name: 'www',
        type: 'A',
        destination: '198.51.100.7',
        proxied: true,
      });
      expect(await revision()).toBe(before! + 1);
      await until(() => node.revision('www.shop.test') === before! + 1, 'the record at the node');
      expect([await action('/a'), await action('/c')]).toEqual(['block', 'forward']);
      const out = await ok('POST', `${DRAFT}/publish?wait=published`);
      expect([out.body.changed, out.headers['x-revision']]).toEqual([2, String(before! + 2)]);
      expect([await action('/a'), await action('/b'), await action('/c')]).toEqual([
        'forward',
        'block',
        'block',
      ]);
      await until(() => node.revision('shop.test') === before! + 2, 'the draft at the node');
      expect(await changes()).toEqual([]);
      expect((await ok('GET', DRAFT)).body).toMatchObject({ since: null, changed: 0, edit: 3 });
    });

    test('a discarded draft leaves the rules as they are published: ids, priorities, times and tags', async () => {
      const ids: number[] = [];
      for (const path of ['/a', '/b', '/c']) ids.push((await drop(path)).body.id);
      const regex = { path_match_type: 'regex', path_includes: ['^/x/(a|b)'], target: '/y' };
      const redirect = (await ok('POST', '/domains/shop.test/rules/redirect/', regex)).body.id;
      const page = { codes: [404], content: { '0': '<p>ü</p>' } };
      const errors = (await ok('POST', '/domains/shop.test/rules/error-page/', page)).body.id;
      await manual();
      const all = async () => {
        const lists = await Promise.all([
          house.call('GET', RULES),
          house.call('GET', '/domains/shop.test/rules/redirect/'),
          house.call('GET', `/domains/shop.test/rules/error-page/${errors}`),
        ]);
        return lists.map(({ text, headers }) => [text, headers['etag']]);
      };
      const totals = async () => [
        await house.store.latest.rules.totals(domain.id),
        await house.store.latest.rules.patternCosts(domain.id, { without: 0 }),
      ];
      const [rules, costs] = [await all(), await totals()];
      await ok('DELETE', `${RULES}${ids[0]}`);
      await ok('PUT', `${RULES}reorder`, { ids: [ids[2], ids[1]] });
      await ok('PUT', `/domains/shop.test/rules/redirect/${redirect}`, { path_includes: ['^/other'] });
      await ok('PUT', `/domains/shop.test/rules/error-page/${errors}`, { content: { '404': 'no' } });
      await drop('/d');
      expect((await changes()).map(([, change]: string[]) => change).sort()).toEqual([
        'changed',
        'changed',
        'created',
        'deleted',
        'reordered',
        'reordered',
      ]);
      expect(await all()).not.toEqual(rules);
      const checked = await ok('DELETE', `${DRAFT}?validate_only=true`);
      expect(checked.body.changed).toBe(6);
      expect(await all()).not.toEqual(rules);
      await ok('DELETE', DRAFT);
      expect(await all()).toEqual(rules);
      expect(await totals()).toEqual(costs);
      expect(await changes()).toEqual([]);
      expect((await ok('DELETE', DRAFT)).body).toEqual({ message: 'the draft has no changes', changed: 0 });
      const [entry] = (await ok('GET', '/domains/shop.test/audit/?limit=1')).body;
      expect(entry).toMatchObject({ action: 'draft.discard', user: 'owner', after: null });
      expect(entry.before.rules).toHaveLength(6);
    });

    test('what was reviewed is what is published: another draft answers 412', async () => {
      await manual();
      await drop('/a');
      const reviewed = (await ok('GET', DRAFT)).headers['etag']!;
      const compared = await ok('GET', `${DRAFT}/diff`);
      expect(compared.headers['etag']).toBe(reviewed);
      await drop('/b');
      const stale = await house.call('POST', `${DRAFT}/publish`, undefined, { 'if-match': reviewed });
      expect(stale.status).toBe(412);
      expect((await house.call('DELETE', DRAFT, undefined, { 'if-match': reviewed })).status).toBe(412);
      const now = (await ok('GET', DRAFT)).headers['etag']!;
      // A publication of something else leaves the tag as it is.
      await ok('POST', '/domains/shop.test/plans/?wait=published');
      expect((await ok('GET', DRAFT)).headers['etag']).toBe(now);
      const checked = await house.call('POST', `${DRAFT}/publish?validate_only=true`, undefined, {
        'if-match': now,
      });
      expect([checked.status, checked.body.changed]).toEqual([200, 2]);
      const out = await house.call('POST', `${DRAFT}/publish`, undefined, { 'if-match': now });
      expect([out.status, out.body.changed]).toEqual([200, 2]);
      const again = await house.call('POST', `${DRAFT}/publish`, undefined, { 'if-match': now });
      expect(again.status).toBe(412);
      expect((await ok('POST', `${DRAFT}/publish`)).body.changed).toBe(0);
    });

    test('the comparison shows fields, and outcomes with a request that gets the one and the other', async () => {
      const rule = (await drop('/a')).body;
      await manual();
      await ok('PUT', `${RULES}${rule.id}`, { path_includes: ['/b'] });
      const { body } = await ok('GET', `${DRAFT}/diff`);
      expect(body).toMatchObject({ edit: 1, same: false, domain: [], hosts: [], counts: { changed: 1 } });
      expect(body.rules[0]).toMatchObject({ rule: `drop/${rule.id}`, change: 'changed' });
      expect(body.proof).toMatchObject({ complete: true, equivalent: false, outcomes: body.outcomes.length });
      expect(body.outcomes.length).toBeGreaterThan(0);
      for (const { before, after, request, command } of body.outcomes) {
        expect(before.action).not.toBe(after.action);
        expect(request.url).toMatch(/^https?:\/\/shop\.test\//);
        expect(command).toContain(request.url);
      }
      const fields = (await ok('GET', `${DRAFT}/diff?proof=false&limit=1`)).body;
      expect(['proof' in fields, fields.rules.length]).toEqual([false, 1]);
      await ok('PUT', `${RULES}${rule.id}`, { path_includes: ['/a'] });
      expect((await ok('GET', `${DRAFT}/diff`)).body).toMatchObject({
        same: true,
        proof: { equivalent: true, complete: true },
      });
      expect(await changes()).toEqual([]);
      const late = await house.call('GET', `${DRAFT}/diff?cursor=1-1`);
      expect([late.status, late.body.error]).toEqual([
        409,
        'the draft has changed since the page before; start again without `cursor`',
      ]);
      // Revisions are compared by the same code.
      await ok('PUT', `${RULES}${rule.id}`, { path_includes: ['/c'] });
      await ok('POST', `${DRAFT}/publish?wait=published`);
      const revisions = (await ok('GET', '/domains/shop.test/diff?proof=true')).body;
      expect(revisions.outcomes.length).toBeGreaterThan(0);
      expect('proof' in (await ok('GET', '/domains/shop.test/diff')).body).toBe(false);
    });

    test('the mode is changed by its own path, and back only without changes that wait', async () => {
      expect((await ok('GET', PUBLISHING)).body).toEqual({ publish_mode: 'automatic' });
      const refused = await house.call('PUT', PUBLISHING, { publish_mode: 'later' });
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('publish_mode')]);
      for (const [method, path] of [
        ['POST', `${DRAFT}/publish`],
        ['DELETE', DRAFT],
        ['GET', `${DRAFT}/diff`],
      ] as const) {
        const answer = await house.call(method, path);
        expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('has no draft')]);
      }
      expect((await ok('GET', DRAFT)).body).toMatchObject({ publish_mode: 'automatic', changes: [] });
      await manual();
      await drop('/a');
      const back = () => house.call('PUT', PUBLISHING, { publish_mode: 'automatic' });
      const waiting = await back();
      expect([waiting.status, waiting.body.error]).toEqual([
        409,
        'the draft changes 1 rule, which nobody has published; POST /domains/shop.test/draft/publish publishes ' +
          'them, DELETE /domains/shop.test/draft throws them away',
      ]);
      await ok('POST', `${DRAFT}/publish`);
      expect((await back()).status).toBe(200);
      const next = await drop('/b', '?wait=published');
      expect([next.headers['x-draft'], next.headers['x-revision'] !== undefined]).toEqual([undefined, true]);
      expect(await action('/b')).toBe('block');
      // The document of the domain has no field that the API document does not have.
      expect((await ok('GET', '/domains/shop.test')).body).not.toHaveProperty('publish_mode');
    });

    test('a deleted record leaves both sides, and a discard does not bring it back', async () => {
      const record = (
        await ok('POST', '/domains/shop.test/records/', {
          name: 'www',
          type: 'A',
          destination: '198.51.100.7',
          proxied: true,
        })
      ).body.id;
      const scoped = { path_includes: ['/a'], countries: ['DE'], record_ids: [record] };
      const one = (await ok('POST', RULES, scoped)).body.id;
      const other = (await ok('POST', RULES, { ...scoped, path_includes: ['/b'] })).body.id;
      await manual();
      await ok('PUT', `${RULES}${one}`, { path_includes: ['/c'] });
      await ok('DELETE', `/domains/shop.test/records/${record}?wait=published`);
      expect(await changes()).toEqual([[`drop/${one}`, 'changed']]);
      await ok('DELETE', DRAFT);
      for (const id of [one, other]) {
        expect((await ok('GET', `${RULES}${id}`)).body).toMatchObject({
          enabled: false,
          record_ids: [record],
        });
      }
    });

    test('writes of a disabled domain are refused, also those of its draft', async () => {
      await manual();
      await drop('/a');
      await changeDomain(house, domain, { status: 'disabled' });
      for (const [method, path, body] of [
        ['PUT', PUBLISHING, { publish_mode: 'manual' }],
        ['POST', `${DRAFT}/publish`, undefined],
        ['DELETE', DRAFT, undefined],
      ] as const) {
        const answer = await house.call(method, path, body);
        expect([answer.status, answer.body.error]).toEqual([409, 'domain is disabled']);
      }
      expect((await ok('GET', DRAFT)).body.changed).toBe(1);
    });

    test('a rollback serves old content until the draft is published', async () => {
      await drop('/a', '?wait=published');
      const old = await revision();
      await drop('/b', '?wait=published');
      await manual();
      await drop('/c');
      await ok('POST', `/domains/shop.test/plans/${old}/rollback`);
      expect((await ok('GET', DRAFT)).body).toMatchObject({ rolled_back: true, changed: 1 });
      expect([await action('/a'), await action('/b'), await action('/c')]).toEqual([
        'block',
        'forward',
        'forward',
      ]);
      await ok('POST', `${DRAFT}/publish?wait=published`);
      expect((await ok('GET', DRAFT)).body).toMatchObject({ rolled_back: false, changed: 0 });
      expect([await action('/b'), await action('/c')]).toEqual(['block', 'block']);
    });

    test('two publishers at once publish a draft once, and a discard races with writes without loss', async () => {
      await manual();
      for (const path of ['/a', '/b']) await drop(path);
      const answers = await Promise.all(
        [1, 2].map(() => house.call('POST', `${DRAFT}/publish?wait=published`)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(answers.map(({ body }) => body.changed).sort()).toEqual([0, 2]);
      const race = await Promise.all([
        ...['/c', '/d', '/e'].map((path) => drop(path)),
        house.call('DELETE', DRAFT),
        ...['/f', '/g'].map((path) => drop(path)),
      ]);
      expect(race.every(({ status }) => status === 200)).toBe(true);
      const rules = (await ok('GET', RULES)).body as { readonly id: number }[];
      const created = (await changes()) as [string, string][];
      // What the discard came after is gone, what came after it waits.
      expect(rules.length).toBe(2 + created.length);
      expect(created.every(([, change]) => change === 'created')).toBe(true);
    });

    test('a draft is published by the next process when the one before ended before its publication', async () => {
      await manual();
      await drop('/a');
      await house.publisher.stop();
      await ok('POST', `${DRAFT}/publish`);
      await house.close();
      house = await openHouse({ database: made.database });
      await until(
        async () => (await house.store.latest.outbox.list(domain.id)).length === 0,
        'the publication',
      );
      expect(await action('/a')).toBe('block');
    });
  });
}
