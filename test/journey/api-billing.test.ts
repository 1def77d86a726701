/** The reads of billing over real sockets: what an account sees, what others do not, and that no key moves money. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GIGABYTE } from '../../src/control/billing/quota-use.ts';
import { addMember, send, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { billedAt, importLines, invoiceLine, walletLine } from '../support/billing.ts';
import { everyDatabase, testDatabases } from '../support/databases.ts';
import { storeTraffic } from '../support/traffic-requests.ts';

describe.each(testDatabases())('billing on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;

  beforeAll(async () => {
    api = await startApi(database, { tier: 'free', overQuota: 'refuse' });
  });
  afterAll(() => api.close());
  const begin = async (): Promise<void> => {
    subject = await addSubject(api);
  };
  const name = (): string => subject.owner.account.name;
  const bill = (...lines: readonly object[]) => importLines(api.store, lines);
  const wallet = (balance: number, after: number) =>
    bill(walletLine(name(), balance, { at: billedAt(after) }));

  test('GET /wallet has the balance and the domains that it suspends', async () => {
    await begin();
    const none = await subject.owner.call('GET', '/wallet');
    expect([none.status, none.body]).toEqual([
      200,
      { balance: 0, currency: null, updated_at: null, suspended_domains: [] },
    ]);
    await wallet(-1_250, 1);
    const below = await subject.owner.call('GET', '/wallet');
    expect(below.body).toEqual({
      balance: -1_250,
      currency: 'EUR',
      updated_at: billedAt(1),
      suspended_domains: [subject.domain.name],
    });
    expect((await subject.ask('GET', '')).body).toMatchObject({ suspended: true });
    const same = { 'if-none-match': below.headers['etag']! };
    expect((await subject.owner.call('GET', '/wallet', undefined, same)).status).toBe(304);
    await wallet(0, 2);
    expect((await subject.owner.call('GET', '/wallet', undefined, same)).status).toBe(200);
    expect((await subject.ask('GET', '')).body).toMatchObject({ suspended: false });
  });

  test('a new domain of an account below zero is suspended at once, and is audited after its creation', async () => {
    await begin();
    await wallet(-1, 1);
    const made = await subject.owner.call('POST', '/domains/', { name: `late.${subject.domain.name}` });
    expect([made.status, made.body.suspended]).toEqual([200, true]);
    const { suspended_domains } = (await subject.owner.call('GET', '/wallet')).body;
    expect(suspended_domains).toEqual([`late.${subject.domain.name}`, subject.domain.name]);
    const rows = await api.store.latest.audit.list(made.body.id, { limit: 10 });
    expect(rows.map(({ action }) => action)).toEqual(['domain.suspend', 'domain.create']);
    const tried = await subject.owner.call('POST', '/domains/?validate_only=true', {
      name: `tried.${subject.domain.name}`,
    });
    expect(tried.status).toBe(200);
    expect((await subject.owner.call('GET', '/wallet')).body.suspended_domains).toHaveLength(2);
  });

  test('GET /invoices/ is newest first in pages, by status; GET /invoices/{id} is one of them', async () => {
    await begin();
    const lines = Array.from({ length: 7 }, (_, at) =>
      invoiceLine(name(), `${name()} ${at}`, {
        number: `R-${at}`,
        issued_at: billedAt(at * 1_000),
        ...(at % 2 === 0 ? {} : { status: 'paid', paid_at: billedAt(9_000) }),
      }),
    );
    lines.push(
      invoiceLine(name(), `${name()} full`, {
        ...{ number: 'R-F', domain: subject.domain.name, status: 'void', total: -5, issued_at: billedAt(-1) },
        ...{ period_start: billedAt(0), period_end: billedAt(1), due_at: billedAt(2) },
        lines: [{ description: 'Plan "Pro" ü', amount: -5 }],
      }),
    );
    expect(await bill(...lines)).toMatchObject({ written: 8 });
    const get = (path: string) => subject.owner.call('GET', path);
    const all = await get('/invoices/');
    expect(all.body.map(({ number }: { number: string }) => number)).toEqual([
      ...['R-6', 'R-5', 'R-4', 'R-3', 'R-2', 'R-1', 'R-0', 'R-F'],
    ]);
    expect(all.headers['link']).toBeUndefined();
    const { id, ...full } = all.body.at(-1);
    expect(full).toEqual({
      ...{ reference: `${name()} full`, number: 'R-F', domain: subject.domain.name, status: 'void' },
      ...{ currency: 'EUR', total: -5, period_start: billedAt(0), period_end: billedAt(1) },
      ...{ issued_at: billedAt(-1), due_at: billedAt(2), paid_at: null },
      lines: [{ description: 'Plan "Pro" ü', amount: -5 }],
    });
    expect((await get(`/invoices/${id}`)).body).toEqual({ id, ...full });
    const pages: string[] = [];
    for (let path: string | undefined = '/invoices/?status=paid&limit=2'; path !== undefined; ) {
      const page = await get(path);
      pages.push(page.body.map(({ number }: { number: string }) => number).join());
      path = /^<([^>]*)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1];
    }
    expect(pages).toEqual(['R-5,R-3', 'R-1']);
  });

  test.each([
    ['/invoices/?status=late', 400, /status/],
    ['/invoices/?limit=0', 400, /limit/],
    ['/invoices/?limit=1000000', 400, /limit/],
    ['/invoices/?cursor=x', 400, /cursor: must be taken from the `Link`/],
    ['/invoices/?cursor=1-', 400, /cursor/],
    ['/invoices/?state=paid', 400, /`status`/],
    ['/invoices', 404, /./],
    ['/invoices/0', 404, /./],
    ['/invoices/99999999999999999999', 404, /./],
    ['/invoices/x', 404, /./],
    ['/wallet/', 404, /./],
    ['/subscriptions', 404, /./],
    ['/subscriptions/?after=-1', 400, /after/],
    ['/subscriptions/?limit=1001', 400, /limit/],
    ['/domains/no.such.example/subscriptions/', 404, /./],
  ])('%s is answered %i', async (path, status, message) => {
    const answer = await subject.owner.call('GET', path);
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)]);
  });

  test('GET /subscriptions/ has what each owned domain has bought, with its traffic', async () => {
    await begin();
    await subject.allow({ max_traffic_gb: 200 });
    const started = api.now();
    await storeTraffic(api.store, subject.domain.id, [{ at: started, octetsOut: 170 * GIGABYTE }]);
    const other = (await subject.owner.call('POST', '/domains/', { name: `two.${subject.domain.name}` }))
      .body;
    const { body } = await subject.owner.call('GET', '/subscriptions/');
    expect(body).toHaveLength(2);
    expect(body[0]).toMatchObject({
      ...{ domain: subject.domain.name, domain_id: subject.domain.id, plan_slug: 'business' },
      ...{ in_force: true, ends_at: null, max_traffic_gb: 200, traffic_octets: 170 * GIGABYTE },
      ...{ traffic_percent: 85, over_quota: 'refuse', suspended: false, suspended_for: [] },
    });
    expect(body[1]).toMatchObject({
      ...{ id: null, domain: other.name, plan_slug: 'free', in_force: false, started_at: null },
      ...{ max_traffic_gb: 100, traffic_octets: 0, traffic_percent: 0 },
    });
    expect((await subject.ask('GET', '/subscriptions/')).body).toEqual([body[0]]);
    const first = await subject.owner.call('GET', '/subscriptions/?limit=1');
    expect([first.body, first.headers['link']]).toEqual([
      [body[0]],
      `</subscriptions/?limit=1&after=${subject.domain.id}>; rel="next"`,
    ]);
    expect((await subject.owner.call('GET', `/subscriptions/?after=${subject.domain.id}`)).body).toEqual([
      body[1],
    ]);
    const usage = (await subject.ask('GET', '/features')).body.domain_usage;
    expect(usage).toContainEqual({ name: 'max_traffic_gb', used: 170, limit: 200 });
    await wallet(-1, 1);
    expect((await subject.ask('GET', '/subscriptions/')).body[0]).toMatchObject({
      ...{ suspended: true, suspended_for: ['wallet'] },
    });
  });

  test('a key reads its own account alone; a member reads what the domain has, and no money', async () => {
    await begin();
    await bill(
      walletLine(name(), -77),
      invoiceLine(name(), `${name()} secret`, { domain: subject.domain.name }),
    );
    const [{ id }] = (await subject.owner.call('GET', '/invoices/')).body;
    const viewer = await subject.member('viewer', 'viewer');
    const stranger = await api.person(`stranger of ${name()}`);
    for (const person of [viewer, stranger]) {
      const read = async (path: string) => (await person.call('GET', path)).body;
      expect(await read('/wallet')).toMatchObject({ balance: 0, currency: null, suspended_domains: [] });
      expect(await read('/invoices/')).toEqual([]);
      expect(await read('/subscriptions/')).toEqual([]);
      expect((await person.call('GET', `/invoices/${id}`)).status).toBe(404);
    }
    const path = `/domains/${subject.domain.name}/subscriptions/`;
    expect((await stranger.call('GET', path)).status).toBe(404);
    const shared = await viewer.call('GET', path);
    expect([shared.status, shared.body]).toEqual([200, (await subject.owner.call('GET', path)).body]);
    expect(shared.text).not.toMatch(/balance|total|invoice|-77|EUR/);
  });

  test('a read-only key reads all of it', async () => {
    const { key } = await subject.owner.anotherKey({ readOnly: true });
    const headers = { authorization: `Bearer ${key}` };
    const [{ id }] = (await subject.owner.call('GET', '/invoices/')).body;
    const own = `/domains/${subject.domain.name}/subscriptions/`;
    for (const path of ['/wallet', '/invoices/', `/invoices/${id}`, '/subscriptions/', own])
      expect([path, (await send(api.port, { method: 'GET', path, headers })).status]).toEqual([path, 200]);
    expect((await send(api.port, { method: 'GET', path: '/wallet' })).status).toBe(401);
  });

  test.each([
    ['POST', '/wallet/topup'],
    ['GET', '/billing/'],
    ['GET', '/billing/plans'],
    ['PUT', '/billing/settings/card'],
    ['POST', '/subscriptions/purchase'],
    ['POST', '/subscriptions/switch'],
    ['POST', '/subscriptions/auto-renew'],
    ['POST', '/domains/DOMAIN/subscriptions/purchase'],
    ['POST', '/domains/DOMAIN/subscriptions/switch'],
    ['POST', '/domains/DOMAIN/subscriptions/auto-renew'],
  ])('%s %s is 403 for every key', async (method, path) => {
    const at = path.replace('DOMAIN', subject.domain.name);
    const headers = { authorization: `Bearer ${subject.owner.key}` };
    const { status, body } = await send(api.port, { method, path: at, headers });
    expect([status, body.error]).toEqual([403, expect.stringMatching(/^no key may /)]);
  });

  test.each([
    ['POST', '/wallet'],
    ['PUT', '/wallet'],
    ['POST', '/invoices/'],
    ['DELETE', '/invoices/1'],
    ['POST', '/subscriptions/'],
    ['POST', '/domains/DOMAIN/subscriptions/'],
  ])('%s %s changes nothing: there is no such operation', async (method, path) => {
    const at = path.replace('DOMAIN', subject.domain.name);
    const headers = { authorization: `Bearer ${subject.owner.key}` };
    const { status } = await send(api.port, { method, path: at, headers, body: { balance: 100 } });
    expect([404, 405]).toContain(status);
  });
});

test('imports and writes of the same accounts at the same time all succeed', async () => {
  for (const database of everyDatabase()) {
    const api = await startApi(database);
    try {
      const people = await Promise.all(['ann', 'bob', 'cat'].map((one) => api.person(one)));
      const [ann, bob] = people as [(typeof people)[0], (typeof people)[0]];
      const domains = ['one.example', 'two.example', 'three.example', 'four.example'];
      for (const [at, domain] of domains.entries())
        expect((await people[at % 3]!.call('POST', '/domains/', { name: domain })).status).toBe(200);
      await addMember(ann, { member: bob, domain: 'one.example', role: 'admin' });
      const names = people.map(({ account }) => account.name);
      const importing = Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          importLines(
            api.store,
            (at % 2 === 0 ? names : names.toReversed()).map((name) =>
              walletLine(name, at % 3 === 2 ? 1 : -1, { at: billedAt(at) }),
            ),
          ),
        ),
      );
      const writes: Promise<{ readonly status: number; readonly text: string }>[] = [];
      for (let at = 0; at < 15; at++) {
        const record = { name: `r${at}`, type: 'A', destination: '192.0.2.7', proxied: true };
        writes.push(bob.call('POST', '/domains/one.example/records/', record));
        writes.push(ann.call('POST', '/domains/', { name: `new${at}.example` }));
        writes.push(
          ann.call('POST', '/domains/one.example/members/', { name: `guest${at}`, role: 'viewer' }),
        );
        writes.push(ann.call('DELETE', '/domains/four.example'));
        writes.push(ann.call('POST', '/domains/', { name: 'four.example' }));
      }
      const failed = (await Promise.all(writes)).filter(({ status }) => status >= 500);
      expect(failed.map(({ text }) => text)).toEqual([]);
      for (const { refused } of await importing) expect(refused).toBe(0);
      // The last line has balance -1 or 1 for all; every domain follows it.
      const owing = 29 % 3 !== 2;
      const all = await api.store.latest.domains.page(0, 100);
      expect(all.length).toBeGreaterThan(15);
      expect(all.filter(({ suspended }) => suspended !== owing)).toEqual([]);
    } finally {
      await api.close();
    }
  }
}, 120_000);
