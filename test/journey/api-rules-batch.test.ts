/** Many rules in one request, each by itself, on both databases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { addSubject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

const DROPS = '/domains/shop.test/rules/drop/';
const drop = (path: string, more: object = {}) => ({ path_includes: [path], ...more });

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let ann: Person;

    beforeAll(async () => {
      api = await startApi(database);
      ann = await api.person('ann');
      await ann.call('POST', '/domains/', { name: 'shop.test' });
    });
    afterAll(() => api.close());

    const paths = async (): Promise<readonly string[]> =>
      (await ann.call('GET', DROPS)).body.map((rule: { path_includes: string[] }) => rule.path_includes[0]);

    test('a batch adds its valid rules also when one is invalid', async () => {
      const creates = [drop('/a'), drop('/b', { priority: 'x' }), 'no rule', drop('/c')];
      const { status, body } = await ann.call('POST', `${DROPS}batch-create`, { creates });
      expect(status).toBe(200);
      expect(body).toMatchObject({ succeeded: 2, failed: 2 });
      expect(body.results.map((one: { ok: boolean }) => one.ok)).toEqual([true, false, false, true]);
      expect(body.results[1]).toMatchObject({ index: 1, id: null, error: expect.stringMatching(/priority/) });
      expect(await paths()).toEqual(['/a', '/c']);
      const read = await ann.call('GET', `${DROPS}${body.results[3].id}`);
      expect(read.body).toMatchObject({ path_includes: ['/c'], type: 'drop' });
    });

    test('a batch changes and deletes rules by id; ids of other types and domains are not found', async () => {
      await ann.call('POST', '/domains/', { name: 'other.test' });
      const other = await ann.call('POST', '/domains/other.test/rules/drop/', drop('/o'));
      const cache = await ann.call('POST', '/domains/shop.test/rules/cache/', drop('/cached'));
      const listed: readonly { readonly id: number }[] = (await ann.call('GET', DROPS)).body;
      const ids = listed.map(({ id }) => id);
      const updates = [
        { id: ids[0], path_includes: ['/a2'] },
        { id: ids[1], path_includes: 7 },
        { id: other.body.id, enabled: false },
        { id: cache.body.id, enabled: false },
      ];
      const changed = await ann.call('POST', `${DROPS}batch-update`, { updates });
      expect(changed.body).toMatchObject({ succeeded: 1, failed: 3 });
      expect(changed.body.results.map((one: { error?: string }) => one.error ?? 'ok')).toEqual([
        'ok',
        expect.stringMatching(/path_includes/),
        'not found',
        'not found',
      ]);
      expect(await paths()).toEqual(['/a2', '/c']);
      const deleted = await ann.call('POST', `${DROPS}batch-delete`, {
        ids: [ids[1], ids[1], other.body.id],
      });
      expect(deleted.body.results.map((one: { ok: boolean }) => one.ok)).toEqual([true, false, false]);
      expect(await paths()).toEqual(['/a2']);
      expect((await ann.call('GET', `/domains/other.test/rules/drop/${other.body.id}`)).status).toBe(200);
    });

    test('each rule of a batch has an audit entry, and the batch is published', async () => {
      const creates = [drop('/x1'), drop('/x2')];
      const made = await ann.call('POST', `${DROPS}batch-create`, { creates });
      const audited = (await ann.call('GET', '/domains/shop.test/audit/')).text;
      for (const { id } of made.body.results) expect(audited).toContain(`"drop/${id}"`);
      const { id } = (await api.store.latest.domains.byName('shop.test'))!;
      const reasons = (await api.store.latest.outbox.list(id)).map((row) => row.reason);
      for (const one of made.body.results) expect(reasons).toContain(`rule drop/${one.id} created`);
    });

    test('the bounds of a plan apply to each rule of a batch', async () => {
      const { owner, domain, allow } = await addSubject(api);
      await allow({ max_rules_per_set: 3 });
      const all = `/domains/${domain.name}/rules/drop/`;
      const creates = Array.from({ length: 5 }, (_one, index) => drop(`/p${index}`));
      const { status, body } = await owner.call('POST', `${all}batch-create`, { creates });
      expect([status, body.succeeded, body.failed]).toEqual([200, 3, 2]);
      expect(body.results[4].error).toMatch(/max_rules_per_set/);
      expect((await owner.call('GET', all)).body).toHaveLength(3);
      const more = await owner.call('POST', `${all}batch-create`, { creates });
      expect(more.status).toBe(403);
    });

    test('more than a hundred, a body of another shape and If-Match are 400', async () => {
      const creates = Array.from({ length: 101 }, (_one, index) => drop(`/p${index}`));
      const many = await ann.call('POST', `${DROPS}batch-create`, { creates });
      expect([many.status, JSON.stringify(many.body)]).toEqual([400, expect.stringMatching(/100/)]);
      expect((await ann.call('POST', `${DROPS}batch-create`, { rules: [] })).status).toBe(400);
      const before = await paths();
      const conditional = await ann.call(
        'POST',
        `${DROPS}batch-create`,
        { creates: [drop('/y')] },
        { 'if-match': '"x"' },
      );
      expect([conditional.status, await paths()]).toEqual([400, before]);
    });

    test('a batch with validate_only changes nothing', async () => {
      const before = await paths();
      const asked = { creates: [drop('/z'), { path_includes: 1 }] };
      const { body } = await ann.call('POST', `${DROPS}batch-create?validate_only=true`, asked);
      expect(body).toMatchObject({ succeeded: 1, failed: 1 });
      expect(await paths()).toEqual(before);
    });
  },
);
