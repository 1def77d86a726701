/** Special addresses as origins: refused wherever a write names one, unless the server was started to accept them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const databases = testDatabases();

/** One address of each kind, as customers may spell it, and as the option names it. */
const SPECIAL = [
  ['127.0.0.1', 'loopback', '127.0.0.1'],
  ['::1', 'loopback', '::1'],
  ['0:0:0:0:0:0:0:1', 'loopback', '::1'],
  ['::ffff:127.0.0.1', 'loopback', '127.0.0.1'],
  ['::ffff:7f00:1', 'loopback', '127.0.0.1'],
  ['64:ff9b::7f00:1', 'loopback', '64:ff9b::7f00:1'],
  ['2002:a00:1::', 'private', '2002:a00:1::'],
  ['::127.0.0.1', 'reserved', '::7f00:1'],
  ['10.0.0.7', 'private', '10.0.0.7'],
  ['172.16.0.1', 'private', '172.16.0.1'],
  ['192.168.1.1', 'private', '192.168.1.1'],
  ['100.64.0.1', 'shared', '100.64.0.1'],
  ['fd12::1', 'unique-local', 'fd12::1'],
  ['169.254.1.1', 'link-local', '169.254.1.1'],
  ['FE80::1', 'link-local', 'fe80::1'],
  ['169.254.169.254', 'metadata', '169.254.169.254'],
  ['fd00:ec2::254', 'metadata', 'fd00:ec2::254'],
  ['0.0.0.0', 'unspecified', '0.0.0.0'],
  ['::', 'unspecified', '::'],
  ['224.0.0.1', 'multicast', '224.0.0.1'],
  ['ff02::1', 'multicast', 'ff02::1'],
  ['203.0.113.9', 'documentation', '203.0.113.9'],
  ['2001:db8::1', 'documentation', '2001:db8::1'],
  ['198.18.0.1', 'benchmarking', '198.18.0.1'],
  ['240.0.0.1', 'reserved', '240.0.0.1'],
  ['255.255.255.255', 'broadcast', '255.255.255.255'],
] as const;

/** What no field of an origin accepts, whatever the server allows. */
const MALFORMED = [
  '[::1]',
  '[127.0.0.1]',
  'fe80::1%eth0',
  '127.1',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '017700000001',
  '127.0.0.01',
  '127.0.0.1:80',
  '１２７.0.0.1',
];

const PUBLIC = '192.31.196.1';
const DOMAIN = 'shop.example';

interface Field {
  readonly name: string;
  readonly path: string;
  readonly body: (address: string) => object;
  /** The field as the 400 names it. */
  readonly at: string;
}

const record = (destination: string, more: object = {}): object => ({
  name: 'www',
  type: destination.includes(':') ? 'AAAA' : 'A',
  destination,
  proxied: true,
  ...more,
});

const RULES: readonly Field[] = [
  {
    name: 'the address of origin_route',
    path: 'rules/origin_route/',
    body: (address) => ({ address }),
    at: 'address',
  },
  {
    name: 'an origin of origin_pool',
    path: 'rules/origin_pool/',
    body: (address) => ({ origins: [{ address: PUBLIC }, { address, weight: 0 }] }),
    at: 'origins[1].address',
  },
  {
    name: 'alt_dest of bot_route',
    path: 'rules/bot-route/',
    body: (address) => ({ bot_kinds: ['*'], action: 'alt_origin', alt_dest: address }),
    at: 'alt_dest',
  },
];
const FIELDS: readonly Field[] = [
  { name: 'the destination of a proxied record', path: 'records/', body: record, at: 'destination' },
  ...RULES,
];

describe.each(databases)('on $kind', (database) => {
  let api: TestApi;
  let ann: Person;
  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    ann.call(method, `/domains/${DOMAIN}/${path}`, body);
  const zone = (text: string): Promise<Answer> =>
    ann.call('POST', `/domains/${DOMAIN}/records/import`, Buffer.from(text), { 'content-type': 'text/dns' });

  beforeAll(async () => {
    api = await startApi(database, { allowedOrigins: ['10.9.0.0/16', 'fd99::/16'] });
    ann = await api.person('ann');
    await ann.call('POST', '/domains/', { name: DOMAIN });
  });
  afterAll(() => api.close());

  async function add(path: string, body: object): Promise<number> {
    const { status, body: made } = await call('POST', path, body);
    expect([status, made]).toEqual([200, expect.anything()]);
    return made.id;
  }

  describe.each(FIELDS)('$name', ({ path, body, at }) => {
    test.each(SPECIAL)('is not %s (%s)', async (address, kind, option) => {
      const answer = await call('POST', path, body(address));
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain(`${at}: must be a public address, and this one is ${kind}`);
      expect(answer.body.error).toContain(`--allow-origins ${option}`);
      expect((await call('POST', `${path}?validate_only=true`, body(address))).body).toEqual(answer.body);
      expect((await call('GET', path)).body).toEqual([]);
    });

    test.each(MALFORMED)('is not %s', async (address) => {
      expect((await call('POST', path, body(address))).status).toBe(400);
      expect((await call('GET', path)).body).toEqual([]);
    });

    test.each([PUBLIC, '10.9.1.2', '::ffff:10.9.1.2', 'fd99::7', '2606:4700::1111'])(
      'may be %s, which is public or allowed',
      async (address) => {
        const id = await add(path, body(address));
        expect((await call('DELETE', `${path}${id}`)).status).toBe(200);
      },
    );

    test('cannot be changed to a special address', async () => {
      const id = await add(path, body(PUBLIC));
      const changed = await call('PUT', `${path}${id}`, body('127.0.0.1'));
      expect([changed.status, changed.body.error]).toEqual([400, expect.stringContaining(`${at}: must be`)]);
      expect((await call('PUT', `${path}${id}?validate_only=true`, body('127.0.0.1'))).status).toBe(400);
      const checked = await call('PUT', `${path}${id}`, body('10.9.0.1'));
      expect(checked.status).toBe(200);
      await call('DELETE', `${path}${id}`);
    });
  });

  test('a 400 names every special address of a pool', async () => {
    const origins = ['127.0.0.1', PUBLIC, '::1'].map((address) => ({ address }));
    const { body } = await call('POST', 'rules/origin_pool/', { origins });
    expect(body.error).toMatch(/^origins\[0\]\.address: .*; origins\[2\]\.address: /);
  });

  test('a record that is not proxied may have any address, until it is proxied', async () => {
    const id = await add('records/', record('10.0.0.7', { proxied: false }));
    const { status, body } = await call('PUT', `records/${id}`, { proxied: true });
    const remedy = 'set `proxied` to `false`, or start the server with --allow-origins 10.0.0.7';
    const wrong = 'destination: must be a public address, and this one is private, found `10.0.0.7`';
    expect([status, body.error]).toEqual([400, `${wrong}; ${remedy}`]);
    expect((await call('PUT', `records/${id}`, { comment: 'the office' })).status).toBe(200);
    await call('DELETE', `records/${id}`);
  });

  test('a batch of records refuses its special addresses alone', async () => {
    const open = await add('records/', record(PUBLIC, { name: 'a' }));
    const local = await add('records/', record('10.0.0.7', { name: 'b', proxied: false }));
    const updates = [
      { id: open, destination: '169.254.169.254' },
      { id: local, proxied: true },
      { id: open, comment: 'taken' },
    ];
    for (const query of ['?validate_only=true', '']) {
      const { status, body } = await call('POST', `records/batch-update${query}`, { updates });
      expect([status, body.succeeded, body.failed]).toEqual([200, 1, 2]);
      expect(body.results[0].error).toMatch(/^destination: .* is metadata/);
      expect(body.results[1].error).toMatch(/^destination: .* is private/);
    }
    const stored = (await call('GET', `records/${open}`)).body;
    expect([stored.destination, stored.comment]).toEqual([PUBLIC, 'taken']);
    await call('POST', 'records/batch-delete', { ids: [open, local] });
  });

  test.each(RULES)(
    'a batch of rules refuses its special addresses alone: $name',
    async ({ path, body, at }) => {
      const creates = [body('127.0.0.1'), body(PUBLIC)];
      const made = (await call('POST', `${path}batch-create`, { creates })).body;
      expect([made.succeeded, made.failed]).toEqual([1, 1]);
      expect(made.results[0].error).toContain(`${at}: must be a public address, and this one is loopback`);
      const { id } = made.results[1];
      const updates = [
        { id, ...body('::1') },
        { id, priority: 7 },
      ];
      const changed = (await call('POST', `${path}batch-update`, { updates })).body;
      expect(changed.results.map(({ ok }: { ok: boolean }) => ok)).toEqual([false, true]);
      await call('DELETE', `${path}${id}`);
    },
  );

  test('the import of a zone names the lines whose proxied records have special addresses', async () => {
    const text = [
      `$ORIGIN ${DOMAIN}.`,
      'a 300 IN A 127.0.0.1 ; edgeplan: proxied',
      'b 300 IN A 127.0.0.1',
      'c 300 IN AAAA ::ffff:10.0.0.1 ; edgeplan: proxied',
      `d 300 IN A ${PUBLIC} ; edgeplan: proxied`,
      '',
    ].join('\n');
    for (const query of ['?validate_only=true', '']) {
      const { status, body } = await ann.call(
        'POST',
        `/domains/${DOMAIN}/records/import${query}`,
        Buffer.from(text),
        { 'content-type': 'text/dns' },
      );
      expect([status, body.imported, body.skipped]).toEqual([200, 2, 2]);
      expect(body.problems).toEqual([
        { line: 2, kind: 'lost', error: expect.stringMatching(/^destination: .* is loopback/) },
        { line: 4, kind: 'lost', error: expect.stringMatching(/^destination: .* is private/) },
      ]);
    }
    const rows = (await call('GET', 'records/')).body as readonly { readonly id: number }[];
    await call('POST', 'records/batch-delete', { ids: rows.map(({ id }) => id) });
  });

  test('the www record of a redirect never becomes an origin with a special address', async () => {
    const id = await add('records/', record('10.0.0.7', { name: '@', proxied: false }));
    const target = `https://${DOMAIN}`;
    const rule = { host_includes: [`www.${DOMAIN}`], host_match_type: 'exact', target };
    expect((await call('POST', 'rules/redirect/', rule)).body.www_record).toBe('no_apex');
    await call('DELETE', `records/${id}`);
  });

  test('a stored special address is refused at its next change, and its rule can be disabled', async () => {
    const id = await add('rules/origin_route/', { address: PUBLIC });
    const [{ id: domainId }] = (await ann.call('GET', '/domains/')).body;
    const key = { domain_id: domainId, type: 'origin_route', id } as const;
    await api.store.write(async (tx) => {
      const row = await tx.rules.get(key);
      const body = row!.body.replace(PUBLIC, '127.0.0.1');
      await tx.rules.update(key, { body, priority: row!.priority, record_ids: [], updated_at: api.now() });
    });
    const changed = await call('PUT', `rules/origin_route/${id}`, { priority: 3 });
    expect([changed.status, changed.body.error]).toEqual([
      400,
      expect.stringMatching(/^address: .* loopback/),
    ]);
    const toggled = await call('PATCH', `rules/origin_route/${id}/toggle`);
    expect([toggled.status, toggled.body.enabled]).toEqual([200, false]);
    await call('DELETE', `rules/origin_route/${id}`);
  });

  test('an import whose only record is refused adds nothing', async () => {
    const { body } = await zone(`a.${DOMAIN}. 300 IN A 127.0.0.1 ; edgeplan: proxied\n`);
    expect([body.imported, body.skipped]).toEqual([0, 1]);
  });
});
