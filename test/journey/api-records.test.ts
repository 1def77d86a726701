/** DNS records over real sockets, on both stores. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordShape } from '../../src/control/api/records/write.ts';
import { type Answer, send, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

const A = { name: 'a', type: 'A', destination: '192.0.2.1', proxied: true };

describe.each(testDatabases())('records on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let ask: Subject['ask'];
  beforeAll(async () => {
    api = await startApi(database);
  });
  beforeEach(async () => {
    subject = await addSubject(api);
    ask = subject.ask;
  });
  afterAll(() => api.close());

  // biome-ignore lint/suspicious/noExplicitAny: a record as answers show it
  async function add(body: object): Promise<any> {
    const answer = await ask('POST', '/records/', body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }

  async function upload(text: string, type = 'text/dns', query = ''): Promise<Answer> {
    const body = Buffer.from(text, 'utf8');
    const path = subject.at(`/records/import${query}`);
    const headers = { authorization: `Bearer ${subject.owner.key}`, 'content-type': type };
    return send(api.port, { method: 'POST', path, body, headers });
  }

  test('a record can be created, listed, read, changed, restored and deleted', async () => {
    expect((await ask('GET', '/records/')).body).toEqual([]);
    const made = await add(A);
    expect(made).toEqual({
      id: made.id,
      domain_id: subject.domain.id,
      ...A,
      mx_priority: null,
      captcha: false,
      scheme: 'Default',
      port: null,
      host_header: '',
      monitor: false,
      timeout: null,
      comment: '',
      created_at: made.created_at,
      updated_at: made.created_at,
    });
    expect(recordShape.parse(made)).toEqual(made);
    const one = `/records/${made.id}`;
    const got = await ask('GET', one);
    expect(got.body).toEqual(made);
    expect((await ask('GET', one, undefined, { 'if-none-match': got.headers['etag']! })).status).toBe(304);
    const change = { port: 8080, scheme: 'Https', timeout: 1_800, comment: 'ours', captcha: true };
    expect((await ask('PUT', one, change, { 'if-match': '"another"' })).status).toBe(412);
    expect((await ask('PUT', `${one}?validate_only=true`, change)).body).toMatchObject(change);
    expect((await ask('GET', one)).body).toEqual(made);
    const changed = await ask('PUT', one, change, { 'if-match': got.headers['etag']! });
    expect(changed.body).toEqual({ ...made, ...change, updated_at: changed.body.updated_at });
    const before = await subject.outbox();
    expect((await ask('PUT', one, changed.body)).body).toEqual(changed.body);
    expect(await subject.outbox()).toEqual(before);
    expect((await ask('PUT', one, { port: null })).body.port).toBe(null);
    expect((await ask('GET', '/records/')).body).toHaveLength(1);
    expect(await ask('DELETE', one)).toMatchObject({
      status: 200,
      body: { message: `record/${made.id} deleted` },
    });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await ask(method, one, method === 'PUT' ? {} : undefined);
      expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } });
    }
    expect((await subject.audited()).filter((entry) => entry.startsWith('record.'))).toEqual(
      ['delete', 'update', 'update', 'create'].map((verb) => `record.${verb} record/${made.id}`),
    );
    expect(await subject.outbox()).toContain(`record/${made.id} created`);
  });

  test('every type is accepted with canonical data, and data that cannot be served is 400', async () => {
    const good = [
      [{ name: '@', type: 'AAAA', destination: '2001:DB8:0::1' }, '2001:db8::1'],
      [{ name: 'c', type: 'CNAME', destination: 'Shop.Example.NET.' }, 'shop.example.net'],
      [{ name: 'l', type: 'ALIAS', destination: 'shop.example.net', proxied: true }, 'shop.example.net'],
      [{ name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 5 }, 'mx.example.net'],
      [{ name: '@', type: 'TXT', destination: 'v=spf1 -all' }, 'v=spf1 -all'],
      [{ name: 'sub', type: 'NS', destination: 'ns1.example.net' }, 'ns1.example.net'],
      [{ name: '_s._tcp', type: 'SRV', destination: '1 2 443 s.example.net' }, '1 2 443 s.example.net'],
      [{ name: '@', type: 'CAA', destination: '0 issue "ca.example"' }, '0 issue "ca.example"'],
      [{ name: 'p', type: 'PTR', destination: 'host.example.net' }, 'host.example.net'],
      [{ name: 'h', type: 'HTTPS', destination: '1 . alpn=h2' }, '1 . alpn=h2'],
      [{ name: 's', type: 'SVCB', destination: '1 s.example.net' }, '1 s.example.net'],
      [{ name: '_443._tcp', type: 'TLSA', destination: '3 1 1 ABCD' }, '3 1 1 abcd'],
    ] as const;
    for (const [body, destination] of good) expect(await add(body)).toMatchObject({ ...body, destination });
    const at = (name: string): string => `${name}.${subject.domain.name}`;
    const bad = [
      [{ ...A, destination: '192.0.2.256' }, 'destination: must be an IPv4 address for type `A`'],
      [{ ...A, type: 'TXT' }, 'proxied: must be `false` for type `TXT`; only A, AAAA, CNAME, ALIAS can be'],
      [{ ...A, name: 'x.other.example.' }, 'name: must be a name inside'],
      [{ ...A, timeout: 1_801 }, 'timeout: must be a whole number from 1 to 1800, found 1801'],
      [{ ...A, scheme: 'ftp' }, 'scheme: must be one of'],
      [{ ...A, destnation: 'x' }, 'destnation: is not a known field; did you mean `destination`?'],
      [{ name: 'x', type: 'SRV', destination: '1 2 s.example.net' }, 'destination: type `SRV` takes'],
      [{ name: '@', type: 'MX', destination: '192.0.2.1' }, 'destination: must name a host for type `MX`'],
      [{ name: '@', type: 'MX', destination: '\\0492.0.2.1' }, 'destination: must name a host for type `MX`'],
      [{ name: 'x', type: 'NS', destination: '2001:db8::1' }, 'destination: must name a host for type `NS`'],
      [{ name: 'x', type: 'SRV', destination: '1 2 3 192.0.2.1' }, 'must name a host for type `SRV`'],
      [{ name: 'x', type: 'SRV', destination: '1 2 3 (192.0.2.1)' }, 'must name a host for type `SRV`'],
      [{ name: 'x', type: 'CNAME', destination: at('x') }, 'destination: must be another name'],
      [{ name: 'x', type: 'CNAME', destination: at('X'), proxied: true }, 'must be another name'],
      [{ name: '@', type: 'ALIAS', destination: subject.domain.name }, 'must be another name'],
      [{ name: 'x', destination: '192.0.2.1' }, 'type: is missing; it must be one of'],
      [{ ...A, comment: null }, 'comment: must be text, found null'],
      [[], 'must be an object'],
    ] as const;
    for (const [body, sentence] of bad) {
      const answer = await ask('POST', '/records/', body);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.body.error).toContain(sentence);
    }
    expect((await ask('GET', '/records/')).body).toHaveLength(good.length);
  });

  test('a duplicate record, or one beside an unproxied CNAME, is 409', async () => {
    await add(A);
    const same = await ask('POST', '/records/', { ...A, name: `A.${subject.domain.name}.` });
    expect(same).toMatchObject({ status: 409, body: { error: 'the same record exists already' } });
    const alias = { name: 'a', type: 'CNAME', destination: 'x.example.net' };
    expect((await ask('POST', '/records/', alias)).status).toBe(409);
    const proxied = await add({ ...alias, proxied: true });
    expect((await ask('PUT', `/records/${proxied.id}`, { proxied: false })).status).toBe(409);
    expect((await ask('PUT', `/records/${proxied.id}`, { proxied: false, name: 'b' })).status).toBe(200);
    expect((await ask('POST', '/records/', { ...A, name: 'b' })).status).toBe(409);
    for (const name of ['@', subject.domain.name]) {
      const apex = await ask('POST', '/records/', { ...alias, name });
      expect([apex.status, apex.body.error]).toEqual([
        409,
        'a CNAME that is not proxied must not stand at the apex, where SOA and NS are (RFC 1034 §3.6.2); use ALIAS',
      ]);
    }
    const held = await add({ ...alias, name: '@', proxied: true });
    expect((await ask('PUT', `/records/${held.id}`, { proxied: false })).status).toBe(409);
    expect((await ask('PUT', `/records/${held.id}`, { type: 'ALIAS', proxied: false })).status).toBe(200);
  });

  test('records that differ only in an unused preference are duplicates', async () => {
    await add(A);
    expect((await ask('POST', '/records/', { ...A, mx_priority: 5 })).status).toBe(409);
    await add({ name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 5 });
    await add({ name: '@', type: 'MX', destination: 'mx.example.net', mx_priority: 10 });
  });

  test('a deleted record is removed from its rules, and the last one disables the rule', async () => {
    const [one, two, three] = [await add(A), await add({ ...A, name: 'b' }), await add({ ...A, name: 'c' })];
    const rule = async (slug: string, record_ids: number[]): Promise<string> => {
      const answer = await ask('POST', `/rules/${slug}/`, { record_ids });
      expect(answer.status, answer.text).toBe(200);
      return `/rules/${slug}/${answer.body.id}`;
    };
    const wide = await rule('waf', [one.id, two.id]);
    const narrow = await rule('captcha', [one.id]);
    const both = await rule('cache', [two.id, three.id]);
    await ask('PUT', `/records/${two.id}`, { proxied: false });
    expect((await ask('GET', wide)).body.record_ids).toEqual([one.id, two.id]);
    await ask('DELETE', `/records/${one.id}`);
    expect((await ask('GET', wide)).body).toMatchObject({ record_ids: [two.id], enabled: true });
    expect((await ask('GET', narrow)).body).toMatchObject({ record_ids: [one.id], enabled: false });
    expect((await subject.audited()).slice(0, 3)).toEqual([
      `record.delete record/${one.id}`,
      `rule.update ${narrow.slice('/rules/'.length)}`,
      `rule.update ${wide.slice('/rules/'.length)}`,
    ]);
    // What was kept can be put back, and still names nobody's record but this domain's.
    const kept = (await ask('GET', narrow)).body;
    expect((await ask('PUT', narrow, kept)).body).toEqual(kept);
    await ask('POST', '/records/batch-delete', { ids: [two.id, three.id] });
    expect((await ask('GET', both)).body).toMatchObject({ record_ids: [two.id, three.id], enabled: false });
    expect((await ask('GET', wide)).body).toMatchObject({ record_ids: [two.id], enabled: false });
  });

  test('batch-update answers 200 with the result of each record, and a refused one changes no other', async () => {
    const [one, two] = [await add(A), await add({ ...A, name: 'b' })];
    const answer = await ask('POST', '/records/batch-update', {
      updates: [
        { id: one.id, port: 81 },
        { id: two.id, port: 0 },
        { id: 4_000_000_000, port: 82 },
        { id: two.id, name: 'a' },
        { id: two.id, comment: 'kept', proxied: false },
        { id: one.id, colour: 'red' },
      ],
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      succeeded: 2,
      failed: 4,
      results: [
        { id: one.id, ok: true },
        { id: two.id, ok: false, error: 'port: must be a whole number from 1 to 65535, found 0' },
        { id: 4_000_000_000, ok: false, error: 'not found' },
        { id: two.id, ok: false, error: 'the same record exists already' },
        { id: two.id, ok: true },
        {
          id: one.id,
          ok: false,
          error: expect.stringMatching(/^colour: is not a known field; the fields are `id`, /),
        },
      ],
    });
    expect((await ask('GET', '/records/')).body).toMatchObject([
      { id: one.id, port: 81 },
      { id: two.id, port: null, name: 'b', comment: 'kept', proxied: false },
    ]);
    expect((await subject.outbox()).at(-1)).toBe('2 records changed');
    const most = Array.from({ length: 501 }, () => ({ id: one.id }));
    expect((await ask('POST', '/records/batch-update', { updates: most })).body.error).toBe(
      'updates: must have at most 500 entries, found 501',
    );
    expect((await ask('POST', '/records/batch-update', { updates: [{ port: 1 }] })).body.error).toBe(
      'updates[0].id: is missing; it must be a whole number',
    );
    expect((await ask('POST', '/records/batch-update', {})).status).toBe(400);
    expect((await ask('POST', '/records/batch-update', { updates: [] })).body).toEqual({
      succeeded: 0,
      failed: 0,
      results: [],
    });
  });

  test('batch-update changes a record named twice twice, with an audit entry for each change', async () => {
    const [one, two] = [await add(A), await add({ ...A, name: 'b' })];
    const updates = [
      { id: one.id, port: 81 },
      { id: two.id, port: 82 },
      { id: one.id, comment: 'again' },
      { id: two.id, port: null },
    ];
    expect((await ask('POST', '/records/batch-update', { updates })).body.succeeded).toBe(4);
    expect((await ask('GET', '/records/')).body).toMatchObject([
      { id: one.id, port: 81, comment: 'again' },
      { id: two.id, port: null },
    ]);
    const log = (await ask('GET', '/audit/?limit=4')).body;
    expect(log).toMatchObject([
      { subject: `record/${two.id}`, before: { port: 82 }, after: { port: null } },
      {
        subject: `record/${one.id}`,
        before: { port: 81, comment: '' },
        after: { port: 81, comment: 'again' },
      },
      { subject: `record/${two.id}`, before: { port: null }, after: { port: 82 } },
      { subject: `record/${one.id}`, before: { port: null }, after: { port: 81 } },
    ]);
    expect((await subject.outbox()).at(-1)).toBe('4 records changed');
  });

  test('batch-delete deletes the known ids and reports the others', async () => {
    const [one, two] = [await add(A), await add({ ...A, name: 'b' })];
    const ids = [one.id, 9_999_999, one.id, two.id];
    const tried = await ask('POST', '/records/batch-delete?validate_only=true', { ids });
    const done = await ask('POST', '/records/batch-delete', { ids });
    expect(done.body).toEqual(tried.body);
    expect(done.body).toEqual({
      succeeded: 2,
      failed: 2,
      results: [
        { id: one.id, ok: true },
        { id: 9_999_999, ok: false, error: 'not found' },
        { id: one.id, ok: false, error: 'not found' },
        { id: two.id, ok: true },
      ],
    });
    expect((await ask('GET', '/records/')).body).toEqual([]);
    expect((await ask('POST', '/records/batch-delete', { ids: ['x'] })).status).toBe(400);
  });

  test('an export imports as the same records, and refused lines are reported', async () => {
    await add({ name: 'old', type: 'A', destination: '192.0.2.9' });
    const zone = [
      '$TTL 300',
      '@ IN SOA ns1.edge.test. host.edge.test. 1 2 3 4 5',
      '@ IN NS ns1.edge.test.',
      '@ IN A 192.0.2.1 ; edgeplan: proxied',
      'old IN A 192.0.2.9',
      'old IN CNAME new',
      '@ IN MX 10 mx',
      'txt IN TXT "one" "two"',
      'x IN A 192.0.2.300',
      'x.other.example. IN A 192.0.2.1',
    ].join('\n');
    expect((await upload(zone, 'text/dns', '?validate_only=true')).body.imported).toBe(3);
    expect((await ask('GET', '/records/')).body).toHaveLength(1);
    const answer = await upload(zone);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ imported: 3, skipped: 5, lost: 3 });
    expect(answer.body.problems.map(({ kind }: { kind: string }) => kind)).toEqual([
      'not_needed',
      'not_needed',
      'lost',
      'lost',
      'lost',
    ]);
    expect(answer.body.records).toMatchObject([
      { name: '@', type: 'A', destination: '192.0.2.1', proxied: true },
      { type: 'MX', mx_priority: 10, destination: `mx.${subject.domain.name}` },
      { name: 'txt', destination: '"one" "two"' },
    ]);
    expect(answer.body.problems.map(({ line }: { line: number }) => line)).toEqual([3, 5, 6, 9, 10]);
    expect(answer.body.problems[1].error).toBe('the same record exists already');
    expect((await subject.audited())[0]).toBe('record.import');
    const exported = await ask('GET', '/records/export');
    expect(exported.headers['content-type']).toBe('text/dns; charset=utf-8');
    expect(exported.text).toContain('@ IN A 192.0.2.1 ; edgeplan: proxied\n');
    expect(exported.text).toContain('@ IN NS ns1.edge.test.\n');
    const ids = (await ask('GET', '/records/')).body.map(({ id }: { id: number }) => id);
    await ask('POST', '/records/batch-delete', { ids });
    expect((await upload(exported.text)).body).toMatchObject({ imported: 4 });
    expect((await ask('GET', '/records/export')).text.split('\n').slice(5)).toEqual(
      exported.text.split('\n').slice(5),
    );
    const empty = await upload('x IN A nowhere');
    expect(empty).toMatchObject({ status: 400 });
    expect(empty.body.error).toMatch(/^the zone file holds no record that can be taken over; line 1: /);
    expect((await upload('{}', 'application/json')).status).toBe(415);
  });

  test('every change raises the SOA serial of the export, a deletion too', async () => {
    const serial = async (): Promise<number> => {
      const { text } = await ask('GET', '/records/export');
      return Number(/^@ IN SOA \S+ \S+ ([0-9]+) /m.exec(text)?.[1]);
    };
    const serials = [await serial()];
    const step = async (work: () => Promise<{ readonly status: number }>): Promise<void> => {
      expect((await work()).status).toBe(200);
      serials.push(await serial());
    };
    await step(() => ask('POST', '/records/', A));
    await step(() => ask('POST', '/records/', { ...A, name: 'b' }));
    const [one, two] = (await ask('GET', '/records/')).body;
    await step(() => ask('PUT', `/records/${one.id}`, { destination: '192.0.2.2' }));
    await step(() => ask('DELETE', `/records/${two.id}`));
    await step(() => ask('POST', '/records/batch-delete', { ids: [one.id] }));
    for (const [index, value] of serials.entries()) {
      if (index > 0) expect(value).toBeGreaterThan(serials[index - 1]!);
    }
    expect(await serial()).toBe(serials.at(-1));
  });

  test('an import counts every skipped record, with or without a diagnostic', async () => {
    const bad = Array.from({ length: 700 }, (_, index) => `x${index} IN A 192.0.2.300`);
    const { body } = await upload([...bad, '@ IN A 192.0.2.1'].join('\n'));
    expect([body.imported, body.skipped]).toEqual([1, 700]);
    expect(body.problems.length).toBeLessThan(700);
  });

  test('a refusal by max_records or host_header_edit_enabled names the allowance', async () => {
    await subject.allow({ max_records: 2, host_header_edit_enabled: true });
    const one = await add({ ...A, host_header: 'in.example.net' });
    const large = await upload('b IN A 192.0.2.2\nc IN A 192.0.2.3');
    expect(large.status).toBe(403);
    expect(large.body.error).toContain('`max_records`');
    await add({ ...A, name: 'b' });
    // The plan is judged before the body.
    const full = await ask('POST', '/records/', { nonsense: true });
    expect(full.status).toBe(403);
    expect(full.body.error).toContain('`max_records`');
    await subject.allow({ host_header_edit_enabled: false });
    const closed = await ask('POST', '/records/', { ...A, name: 'c', host_header: 'in.example.net' });
    expect(closed.status).toBe(403);
    expect(closed.body.error).toContain('`host_header_edit_enabled`');
    const path = `/records/${one.id}`;
    expect((await ask('PUT', path, { ...one, port: 1 })).status).toBe(200);
    expect((await ask('PUT', path, { host_header: 'x.example.net' })).status).toBe(403);
    expect((await ask('PUT', path, { host_header: 'x y' })).status).toBe(400);
    const batch = await ask('POST', '/records/batch-update', {
      updates: [{ id: one.id, host_header: 'x.example.net' }],
    });
    expect(batch.body.results[0].error).toContain('`host_header_edit_enabled`');
    expect((await ask('PUT', path, { host_header: '' })).status).toBe(200);
  });

  test('a viewer reads, an editor writes, and other requests are 403', async () => {
    const one = await add(A);
    const viewer = await subject.member('vera', 'viewer');
    const editor = await subject.member('edda', 'editor');
    const stranger = await api.person(`sam${subject.domain.id}`);
    const all = subject.at('/records/');
    expect((await viewer.call('GET', all)).body).toHaveLength(1);
    expect((await viewer.call('GET', `${all}export`)).status).toBe(200);
    const writes = [
      ['POST', all, A],
      ['PUT', `${all}${one.id}`, {}],
      ['DELETE', `${all}${one.id}`, undefined],
      ['POST', `${all}batch-update`, { updates: [] }],
      ['POST', `${all}batch-delete`, { ids: [] }],
      ['POST', `${all}import`, ''],
    ] as const;
    for (const [method, path, body] of writes) {
      expect(await viewer.call(method, path, body), path).toMatchObject({
        status: 403,
        body: { error: 'role `viewer` lacks the permission `records.edit`' },
      });
      expect((await stranger.call(method, path, body)).status).toBe(404);
      const { key } = await subject.owner.anotherKey({ readOnly: true });
      const readOnly = await subject.owner.call(method, path, body, { authorization: `Bearer ${key}` });
      expect(readOnly).toMatchObject({ status: 403, body: { error: 'read-only API key' } });
    }
    expect((await editor.call('DELETE', `${all}${one.id}`)).status).toBe(200);
    expect((await editor.call('GET', all.slice(0, -1))).status).toBe(404);
    expect((await editor.call('PUT', `${all}import`, {})).status).toBe(404);
  });
});
