/** Named lists over the API, on a real server and both databases: lists, entries, rules that name them, and what is refused. */
import { type ClientRequest, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  MAX_LISTS,
  MAX_NAMED_ENTRIES,
  MAX_RULE_LISTS,
  MAX_SCANNED_ENTRIES,
} from '../../src/base/vocabulary/limits.ts';
import { MAX_LARGE_BODY_OCTETS, READ_AT_ONCE_OCTETS } from '../../src/control/api/operation/limits.ts';
import { type Answer, addMember, type Person, send, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

/** Rows of the outbox whose publication was waited for. */
let awaited: number[] = [];

/** How often uploads begin, and for how long. */
const UPLOADS = { interval: 250, timeout: 30_000 };

describe.each(testDatabases())('lists on $kind', (database) => {
  let api: TestApi;
  let owner: Person;
  let count = 0;
  let domain: string;

  beforeAll(async () => {
    const publication = {
      waitForOutbox: async ({ id, name }: { id: number; name: string }, row: number) => {
        awaited.push(row);
        const rest = { account_id: null, key_id: null, reason: '', at: 0, through: row, digest: null };
        return { domain: name, domain_id: id, revision: 7, ...rest };
      },
    };
    api = await startApi(database, { publication });
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    count += 1;
    awaited = [];
    owner = await api.person(`owner${count}`);
    domain = await add(owner);
  });

  async function add(person: Person): Promise<string> {
    const name = `d${Math.random().toString(36).slice(2)}.example`;
    const made = await person.call('POST', '/domains/', { name, dns_mode: 'external' });
    expect(made.status, made.text).toBe(200);
    return name;
  }
  const at = (path: string, of = domain) => `/domains/${of}${path}`;
  const good = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await owner.call(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const drop = (list: string, of = domain) =>
    owner.call('POST', at('/rules/drop/', of), { action_mode: 'enforce', ips: [list] });
  const dropId = async (list: string, of = domain): Promise<number> => {
    const made = await drop(list, of);
    expect(made.status, made.text).toBe(200);
    return made.body.id;
  };
  /** Reasons in the outbox of a domain, and whether only lists have changed. */
  const waiting = async (of = domain) => {
    const row = await api.store.latest.domains.seenBy(owner.account.id, of);
    const rows = await api.store.latest.outbox.list(row!.domain.id);
    return rows.map(({ reason, lists_only }) => [reason, lists_only]);
  };
  const entries = async (path: string): Promise<readonly unknown[]> =>
    (await good('GET', `${path}/entries`)).body;

  test.each(['domain', 'account'] as const)(
    'a list of a %s is made, filled, read and deleted',
    async (of) => {
      const all = of === 'domain' ? at('/lists/') : '/lists/';
      const made = await good('POST', all, {
        name: 'bad',
        kind: 'ip',
        entries: ['192.0.2.1', { value: '2001:DB8::/32', comment: 'c' }],
      });
      expect(made.body).toMatchObject({ name: 'bad', kind: 'ip', entry_count: 2, version: 2 });
      expect(made.body.domain_id === null).toBe(of === 'account');
      const one = `${all}bad`;
      expect(await entries(one)).toEqual([{ value: '192.0.2.1' }, { value: '2001:db8::/32', comment: 'c' }]);
      await good('POST', `${one}/entries`, {
        entries: ['192.0.2.0/24', { value: '192.0.2.1', comment: 'd' }],
      });
      expect(await entries(one)).toEqual([
        { value: '192.0.2.1', comment: 'd' },
        { value: '2001:db8::/32', comment: 'c' },
        { value: '192.0.2.0/24' },
      ]);
      const left = await good('DELETE', `${one}/entries`, {
        entries: [{ value: '2001:0db8::/32' }, '203.0.113.9'],
      });
      expect(left.body).toMatchObject({ entry_count: 2, version: 4 });
      await good('PUT', `${one}/entries`, { entries: ['198.51.100.1-198.51.100.9'] });
      expect(await entries(one)).toEqual([{ value: '198.51.100.1-198.51.100.9' }]);
      expect((await good('GET', all)).body).toHaveLength(1);
      expect((await good('GET', one)).body).toMatchObject({ entry_count: 1, version: 5, used_by: [] });
      await good('DELETE', one);
      expect((await good('GET', all)).body).toEqual([]);
      for (const path of [one, `${one}/entries`]) expect((await owner.call('GET', path)).status).toBe(404);
      expect((await owner.call('PUT', `${one}/entries`, { entries: [] })).status).toBe(404);
    },
  );

  test('entries of every kind are read back as they may be written again', async () => {
    const kinds = {
      asn: [
        ['AS64496', 64_497],
        [{ value: '64496' }, { value: '64497' }],
      ],
      country: [['de'], [{ value: 'DE' }]],
      host: [['*.Example.com'], [{ value: '*.Example.com' }]],
      path: [['/old/*'], [{ value: '/old/*' }]],
      user_agent: [['*Ünïcode*'], [{ value: '*Ünïcode*' }]],
      redirect: [
        [
          { from: '/a', to: 'https://a.example/', status: 308 },
          { from: '/b', to: '/c' },
        ],
        [
          { from: '/a', to: 'https://a.example/', status: 308 },
          { from: '/b', to: '/c' },
        ],
      ],
    };
    for (const [kind, [written, read]] of Object.entries(kinds)) {
      await good('POST', at('/lists/'), { name: kind, kind, entries: written });
      expect(await entries(at(`/lists/${kind}`))).toEqual(read);
      await good('PUT', at(`/lists/${kind}/entries`), { entries: read });
      const [first] = read!;
      const key = kind === 'redirect' ? { from: '/%61' } : first;
      const left = await good('DELETE', at(`/lists/${kind}/entries`), { entries: [key] });
      expect(left.body.entry_count, kind).toBe(read!.length - 1);
    }
  });

  test('entries come page by page, with their number and a link', async () => {
    const written = Array.from({ length: 25 }, (_, number) => `192.0.2.${number}`);
    await good('POST', '/lists/', { name: 'l', kind: 'ip', entries: written });
    await good('DELETE', '/lists/l/entries', { entries: ['192.0.2.3'] });
    const seen: string[] = [];
    let next: string | null = '/lists/l/entries?limit=10';
    while (next !== null) {
      const page: Answer = await good('GET', next);
      expect(page.headers['x-total-count']).toBe('24');
      seen.push(...page.body.map(({ value }: { value: string }) => value));
      next = /<(.+)>; rel="next"/.exec(page.headers['link'] ?? '')?.[1] ?? null;
    }
    expect(seen).toEqual(written.filter((value) => value !== '192.0.2.3'));
  });

  test('a replacement with a wrong entry changes nothing, and every mistake has its place', async () => {
    await good('POST', at('/lists/'), { name: 'l', kind: 'ip', entries: ['192.0.2.1'] });
    const before = (await good('GET', at('/lists/l'))).body;
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const refused = await owner.call(method, at('/lists/l/entries'), {
        entries: ['192.0.2.7', '1.2.3', { value: '::x' }],
      });
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatch(/entries\[1\].*; .*entries\[2\]\.value/);
    }
    expect((await good('GET', at('/lists/l'))).body).toEqual(before);
    expect(await entries(at('/lists/l'))).toEqual([{ value: '192.0.2.1' }]);
  });

  test('bodies that are wrong are refused with what is wrong', async () => {
    await good('POST', at('/lists/'), { name: 'l', kind: 'redirect' });
    const wrong: readonly (readonly [string, string, unknown, RegExp])[] = [
      ['POST', '/lists/', { name: 'Bad', kind: 'ip' }, /name: must be the name of a list/],
      ['POST', '/lists/', { name: 'x', kind: 'ips' }, /kind: must be one of .*did you mean `ip`/],
      ['POST', '/lists/', { name: 'x' }, /kind: is missing/],
      ['POST', '/lists/', { name: 'x', kind: 'ip', entry: [] }, /entry: is not a known field/],
      ['POST', '/lists/', [1], /must be an object/],
      ['PUT', '/lists/l/entries', {}, /entries: is missing/],
      ['PUT', '/lists/l/entries', { entries: 'x' }, /entries: must be a list/],
      ['PUT', '/lists/l/entries', { entries: [], more: 1 }, /more: is not a known field/],
      [
        'PUT',
        '/lists/l/entries',
        { entries: [{ from: '/a*', to: '/b' }] },
        /entries\[0\]\.from: must be one path/,
      ],
      ['PUT', '/lists/l/entries', Buffer.from('{"entries":[1'), /valid JSON/],
      ['DELETE', '/lists/l/entries', { entries: [{ from: '/a', to: 1 }] }, /entries\[0\]\.to/],
      ['DELETE', '/lists/l/entries', undefined, /the body is missing/],
    ];
    for (const [method, path, body, message] of wrong) {
      const refused = await owner.call(method, at(path), body);
      expect(refused.status, `${method} ${path} ${JSON.stringify(body)}`).toBe(400);
      expect(refused.body.error).toMatch(message);
    }
    expect((await owner.call('POST', at('/lists/'), { name: 'l', kind: 'ip' })).status).toBe(409);
    expect((await owner.call('GET', at('/lists/A%20b'))).status).toBe(404);
    const text = await send(api.port, {
      ...{ method: 'PUT', path: at('/lists/l/entries'), body: Buffer.from('x') },
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'text/plain' },
    });
    expect(text.status).toBe(415);
    const large = await owner.call(
      'PUT',
      at('/lists/l/entries'),
      Buffer.alloc(MAX_LARGE_BODY_OCTETS + 1, 32),
    );
    expect([large.status, large.body.error]).toEqual([
      413,
      `the body must be at most ${MAX_LARGE_BODY_OCTETS} octets`,
    ]);
  });

  test('a rule names lists that exist, of the kind of their place, else 400 with the place', async () => {
    const refused = await drop('@bad');
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(
      /ips\[0\]: names a list that the domain does not have, found `@bad`; make a list `bad` of kind `ip`/,
    );
    await good('POST', '/lists/', { name: 'scanners', kind: 'ip' });
    await good('POST', at('/lists/'), { name: 'paths', kind: 'path' });
    expect((await drop('@scaners')).body.error).toMatch(/did you mean `@scanners`/);
    expect((await drop('@paths')).body.error).toMatch(/of kind `path`, and entries here are of kind `ip`/);
    expect((await drop('@Bad')).status).toBe(400);
    const id = await dropId('@scanners');
    const put = await owner.call('PUT', at(`/rules/drop/${id}`), {
      conditions: { asns: { includes: ['@scanners'] } },
    });
    expect(put.body.error).toMatch(/conditions\.asns\.includes\[0\]/);
    const batch = await good('POST', at('/rules/drop/batch-create'), {
      creates: [{ ips: ['@scanners'] }, { ips: ['@gone'] }],
    });
    expect(batch.body.results.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, false]);
    expect((await good('GET', '/lists/scanners')).body.used_by).toHaveLength(2);
  });

  test('a list in use is not deleted, and the answer names the rules; after them it is', async () => {
    await good('POST', at('/lists/'), { name: 'l', kind: 'ip' });
    const ids: number[] = [];
    for (let number = 0; number < 7; number++) ids.push(await dropId('@l'));
    const refused = await owner.call('DELETE', at('/lists/l'));
    expect(refused.status).toBe(409);
    const named = ids.slice(0, 5).map((id) => `\`drop/${id}\``);
    expect(refused.body.error).toBe(
      `the list is in use: ${named.join(', ')} and 2 more; change these rules first`,
    );
    await good('PUT', at(`/rules/drop/${ids[0]}`), { ips: ['192.0.2.1'] });
    for (const id of ids.slice(1)) await good('DELETE', at(`/rules/drop/${id}`));
    await good('DELETE', at('/lists/l'));
  });

  test('a list of the account reaches its domains that mean it, and only them', async () => {
    const other = await add(owner);
    const third = await add(owner);
    await good('POST', '/lists/', { name: 'l', kind: 'ip' });
    const ids = [await dropId('@l'), await dropId('@l', other)];
    const uses = [domain, other].map((name, index) => ({ domain: name, rule: `drop/${ids[index]}` }));
    expect((await good('GET', '/lists/l')).body.used_by).toEqual(uses);
    const refused = await owner.call('DELETE', '/lists/l');
    expect(refused.status, api.log.join('')).toBe(409);
    expect(refused.body.error).toContain(`\`drop/${ids[0]}\` of ${domain}, \`drop/${ids[1]}\` of ${other}`);
    await good('PUT', '/lists/l/entries', { entries: ['192.0.2.1'] });
    for (const name of [domain, other])
      expect((await waiting(name)).at(-1)).toEqual(['list `@l` changed', true]);
    expect((await waiting(third)).flat()).not.toContain(true);
    expect((await good('GET', at('/audit/', other))).body[0]).toMatchObject({
      action: 'list.replace',
      subject: 'list/l',
    });

    const own = await good('POST', at('/lists/', other), { name: 'l', kind: 'ip', entries: ['192.0.2.9'] });
    expect(own.body.domain_id).not.toBe(null);
    expect((await waiting(other)).at(-1)).toEqual(['list `@l` changed', true]);
    expect((await good('GET', '/lists/l')).body.used_by).toEqual(uses.slice(0, 1));
    // The name means the account's list again.
    await good('DELETE', at('/lists/l', other));
    expect((await good('GET', '/lists/l')).body.used_by).toEqual(uses);
  });

  test("a list of a domain does not take the place of the account's list of another kind", async () => {
    await good('POST', '/lists/', { name: 'l', kind: 'ip' });
    const id = await dropId('@l');
    const refused = await owner.call('POST', at('/lists/'), { name: 'l', kind: 'path' });
    expect(refused.status).toBe(409);
    expect(refused.body.error).toContain(`\`l\` of kind \`ip\` by this name: \`drop/${id}\``);
    await good('POST', at('/lists/', await add(owner)), { name: 'l', kind: 'path' });
  });

  test('a change of entries that rules name is published, and `wait` waits for it', async () => {
    await good('POST', at('/lists/'), { name: 'l', kind: 'ip' });
    const before = await waiting();
    await good('POST', at('/lists/l/entries'), { entries: ['192.0.2.1'] });
    expect(await waiting()).toEqual(before);
    await dropId('@l');
    awaited = [];
    const used = await good('POST', at('/lists/l/entries?wait=published'), { entries: ['192.0.2.2'] });
    expect(used.headers['x-revision']).toBe('7');
    const rows = await waiting();
    expect(rows.at(-1)).toEqual(['list `@l` changed', true]);
    expect(awaited).toHaveLength(1);
    await owner.call('PUT', at('/lists/l/entries?validate_only=true'), { entries: [] });
    expect(await entries(at('/lists/l'))).toHaveLength(2);
    expect(await waiting()).toEqual(rows);
  });

  test('lists of a domain that publishes by hand change at once, with rules of both sides', async () => {
    await good('POST', at('/lists/'), { name: 'l', kind: 'ip' });
    const id = await dropId('@l');
    await good('PUT', at('/publishing'), { publish_mode: 'manual' });
    await good('PUT', at(`/rules/drop/${id}`), { ips: ['192.0.2.1'] });
    // Nodes still run the published rule.
    expect((await owner.call('DELETE', at('/lists/l'))).status).toBe(409);
    const changed = await good('PUT', at('/lists/l/entries'), { entries: ['192.0.2.5'] });
    expect(changed.headers['x-draft']).toBe(undefined);
    expect((await waiting()).at(-1)).toEqual(['list `@l` changed', true]);
  });

  test('`If-Match` is the tag of the list, and a change makes another', async () => {
    await good('POST', '/lists/', { name: 'l', kind: 'ip' });
    const tag = (await good('GET', '/lists/l')).headers['etag']!;
    const first = await owner.call(
      'PUT',
      '/lists/l/entries',
      { entries: ['192.0.2.1'] },
      { 'if-match': tag },
    );
    expect(first.status, first.text).toBe(200);
    const second = await owner.call(
      'PUT',
      '/lists/l/entries',
      { entries: ['192.0.2.2'] },
      { 'if-match': tag },
    );
    expect(second.status).toBe(412);
    expect((await owner.call('DELETE', '/lists/l', undefined, { 'if-match': tag })).status).toBe(412);
    expect(await entries('/lists/l')).toEqual([{ value: '192.0.2.1' }]);
    const now = (await good('GET', '/lists/l')).headers['etag']!;
    const same = await owner.call('GET', '/lists/l', undefined, { 'if-none-match': now });
    expect(same.status).toBe(304);
  });

  test('roles and keys: viewers read, editors write, strangers see nothing', async () => {
    await good('POST', at('/lists/'), { name: 'l', kind: 'ip', entries: ['192.0.2.1'] });
    await good('POST', '/lists/', { name: 'mine', kind: 'ip' });
    const [viewer, editor, stranger] = await Promise.all(
      ['viewer', 'editor', 'stranger'].map((role) => api.person(`${role}${count}`)),
    );
    await addMember(owner, { member: viewer!, domain, role: 'viewer' });
    await addMember(owner, { member: editor!, domain, role: 'editor' });
    const reads = [
      ['GET', '/lists/'],
      ['GET', '/lists/l'],
      ['GET', '/lists/l/entries'],
    ] as const;
    const writes = [
      ['POST', '/lists/', { name: 'm', kind: 'ip' }],
      ['PUT', '/lists/l/entries', { entries: [] }],
      ['POST', '/lists/l/entries', { entries: [] }],
      ['DELETE', '/lists/l/entries', { entries: [] }],
      ['DELETE', '/lists/m'],
    ] as const;
    for (const [method, path] of reads) {
      expect((await viewer!.call(method, at(path))).status).toBe(200);
      expect((await stranger!.call(method, at(path))).status).toBe(404);
    }
    const { key } = await owner.anotherKey({ readOnly: true });
    for (const [method, path, body] of writes) {
      expect((await viewer!.call(method, at(path), body)).status).toBe(404);
      expect((await stranger!.call(method, at(path), body)).status).toBe(404);
      const headers = { authorization: `Bearer ${key}` };
      expect((await owner.call(method, at(path), body, headers)).status).toBe(403);
      expect((await editor!.call(method, at(path), body)).status, path).toBe(200);
    }
    expect((await editor!.call('GET', '/lists/')).body).toEqual([]);
    expect((await editor!.call('GET', '/lists/mine')).status).toBe(404);
    // A rule means the lists of the account that owns the domain.
    const rule = await editor!.call('POST', at('/rules/drop/'), { ips: ['@mine'] });
    expect(rule.status, rule.text).toBe(200);
  });

  test('100,000 entries are stored, one more is refused and changes nothing', {
    timeout: 120_000,
  }, async () => {
    const all = Array.from(
      { length: MAX_NAMED_ENTRIES },
      (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    );
    await good('POST', '/lists/', { name: 'l', kind: 'ip' });
    const put = await good('PUT', '/lists/l/entries', { entries: all });
    expect(put.body.entry_count).toBe(MAX_NAMED_ENTRIES);
    const more = await owner.call('POST', '/lists/l/entries', { entries: ['192.0.2.1'] });
    expect(more.status).toBe(400);
    expect(more.body.error).toContain(`at most ${MAX_NAMED_ENTRIES} in a list`);
    const over = await owner.call('PUT', '/lists/l/entries', { entries: [...all, '192.0.2.1'] });
    expect(over.status).toBe(400);
    expect((await good('GET', '/lists/l')).body).toMatchObject({
      entry_count: MAX_NAMED_ENTRIES,
      version: 2,
    });
    await good('DELETE', '/lists/l');
  });

  test('entries that would be too large when compiled are refused', { timeout: 60_000 }, async () => {
    const scanned = (from: number, of: number) => Array.from({ length: of }, (_, n) => `*a${from + n}*`);
    await good('POST', '/lists/', { name: 'l', kind: 'path', entries: scanned(0, MAX_SCANNED_ENTRIES) });
    const one = await owner.call('POST', '/lists/l/entries', { entries: scanned(MAX_SCANNED_ENTRIES, 1) });
    expect(one.status).toBe(400);
    expect(one.body.error).toContain('star elsewhere');
    const long = Array.from({ length: 6_000 }, (_, n) => `/${String(n).padEnd(2_000, 'x')}`);
    await good('POST', '/lists/', { name: 'long', kind: 'path', entries: long });
    const again = long.map((path) => path.replace('x', 'y'));
    const two = await owner.call('POST', '/lists/long/entries', { entries: again });
    expect(two.status).toBe(400);
    expect(two.body.error).toMatch(/a list must have at most \d+ octets/);
  });

  test('an account has two large bodies in work, and others have theirs', async () => {
    await good('POST', '/lists/', { name: 'l', kind: 'ip' });
    const other = await api.person(`other${count}`);
    await other.call('POST', '/lists/', { name: 'l', kind: 'ip' });
    const large = { entries: Array.from({ length: 8_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}`) };
    expect(JSON.stringify(large).length).toBeGreaterThan(READ_AT_ONCE_OCTETS);
    // Two are in work once a further one is refused, whichever of them was admitted first.
    const uploads: ClientRequest[] = [];
    let refused = false;
    await vi.waitFor(() => {
      if (!refused) {
        const upload = beginUpload(owner);
        upload.on('response', ({ statusCode }) => {
          refused ||= statusCode === 429;
        });
        uploads.push(upload);
      }
      expect(refused).toBe(true);
    }, UPLOADS);
    const third = await owner.call('PUT', '/lists/l/entries', large);
    expect([third.status, third.headers['retry-after']]).toEqual([429, '5']);
    expect((await owner.call('PUT', '/lists/l/entries', { entries: ['192.0.2.1'] })).status).toBe(200);
    expect((await other.call('PUT', '/lists/l/entries', large)).status).toBe(200);
    for (const upload of uploads) upload.destroy();
    await vi.waitFor(async () => {
      expect((await owner.call('PUT', '/lists/l/entries', large)).status).toBe(200);
    }, 10_000);
  });

  /** A request with a body of unknown length that does not end. */
  function beginUpload({ key }: Person): ClientRequest {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port: api.port, method: 'PUT', path: '/lists/l/entries', headers };
    const upload = httpRequest({ ...options, agent: false });
    upload.on('error', () => undefined);
    upload.write('{"entries":[');
    return upload;
  }

  test('an owner has so many lists, and the rules of a domain name so many', {
    timeout: 60_000,
  }, async () => {
    for (let n = 0; n < MAX_LISTS; n++) await good('POST', '/lists/', { name: `l${n}`, kind: 'ip' });
    expect((await owner.call('POST', '/lists/', { name: 'more', kind: 'ip' })).status).toBe(403);
    await good('POST', at('/lists/'), { name: 'more', kind: 'ip' });
    const ips = Array.from({ length: MAX_RULE_LISTS }, (_, n) => `@l${n}`);
    const made = await good('POST', at('/rules/drop/'), { ips });
    const refused = await drop('@more');
    expect(refused.status).toBe(400);
    expect(refused.body.error).toContain(`at most ${MAX_RULE_LISTS} lists together`);
    await dropId('@l3');
    await good('PUT', at(`/rules/drop/${made.body.id}`), { ips: [...ips.slice(1), '@l3', '@more'] });
  });
});
