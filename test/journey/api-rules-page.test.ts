/** Rule lists page by page, of one type and of all, with their filters, on both databases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const DROPS = '/domains/shop.test/rules/drop/';

interface Shown {
  readonly id: number;
  readonly type: string;
  readonly enabled: boolean;
}

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let ann: Person;

    beforeAll(async () => {
      api = await startApi(database);
      ann = await api.person('ann');
      await ann.call('POST', '/domains/', { name: 'shop.test' });
      for (let index = 0; index < 23; index++) {
        const body = { path_includes: [`/p${index}`], priority: 100 - (index % 3), enabled: index % 4 !== 0 };
        await ann.call('POST', DROPS, body);
      }
      await ann.call('POST', DROPS, { path_includes: ['/under_score'] });
      await ann.call('POST', '/domains/shop.test/rules/redirect/', {
        path_includes: ['/old'],
        target: '/new',
      });
    });
    afterAll(() => api.close());

    /** Every page, by the links. */
    async function allPages(first: string): Promise<readonly (readonly Shown[])[]> {
      const pages: (readonly Shown[])[] = [];
      for (let path: string | undefined = first; path !== undefined; ) {
        const { status, body, headers } = await ann.call('GET', path);
        expect(status).toBe(200);
        pages.push(body);
        path = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
      }
      return pages;
    }

    test('the pages together have every rule once, in the order of the list', async () => {
      const whole = (await ann.call('GET', DROPS)).body;
      const pages = await allPages(`${DROPS}?limit=10`);
      expect(pages.map(({ length }) => length)).toEqual([10, 10, 4]);
      expect(pages.flat()).toEqual(whole);
      const exact = await allPages(`${DROPS}?limit=24`);
      expect(exact.map(({ length }) => length)).toEqual([24]);
    });

    test('a rule that comes or goes between two pages moves no other', async () => {
      const first = await ann.call('GET', `${DROPS}?limit=5`);
      const made = await ann.call('POST', DROPS, { path_includes: ['/first'], priority: 1 });
      const next = /^<([^>]+)>/.exec(String(first.headers['link']))![1]!;
      const rest = (await allPages(next)).flat();
      await ann.call('DELETE', `${DROPS}${made.body.id}`);
      const whole: readonly Shown[] = (await ann.call('GET', DROPS)).body;
      expect([...first.body, ...rest]).toEqual(whole);
    });

    test('enabled and q leave out the others, across pages', async () => {
      const whole: readonly Shown[] = (await ann.call('GET', DROPS)).body;
      const off = (await allPages(`${DROPS}?enabled=false&limit=4`)).flat();
      expect(off).toEqual(whole.filter(({ enabled }) => !enabled));
      const found = async (q: string): Promise<number> =>
        (await allPages(`${DROPS}?q=${encodeURIComponent(q)}`)).flat().length;
      expect([await found('/P1'), await found('_'), await found('%'), await found('nowhere')]).toEqual([
        11, 1, 0, 0,
      ]);
    });

    test('all types come in one list', async () => {
      const rules = (await allPages('/domains/shop.test/rules/?limit=9')).flat();
      expect(rules.map(({ type }) => type)).toEqual([...Array<string>(24).fill('drop'), 'redirect']);
      const viewer = await api.person('eve');
      expect((await viewer.call('GET', '/domains/shop.test/rules/')).status).toBe(404);
    });

    test.each([
      'limit=0',
      'limit=1001',
      'cursor=x',
      'cursor=redirect-1-1',
      'enabled=yes',
      'q=',
      `q=${'x'.repeat(101)}`,
    ])('the query %.20s is 400', async (query) => {
      const { status, body } = await ann.call('GET', `${DROPS}?${query}`);
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^(limit|cursor|enabled|q): /)]);
    });
  },
);
