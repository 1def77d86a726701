/** Consumers, their keys, usage plans and token issuers over the API, on a real server and both databases. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_CONSUMER_OCTETS } from '../../src/control/api/operation/limits.ts';
import { type Answer, addMember, type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const OKP = { kty: 'OKP', crv: 'Ed25519', kid: 'a', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const ISSUER = { name: 'idp', issuer: 'https://idp.example/', audiences: ['api'], keys: [OKP] };
const DAY_MS = 86_400_000;

describe.each(testDatabases())('the registry on $kind', (database) => {
  let api: TestApi;
  let free: TestApi;
  let owner: Person;
  let domain: string;
  let count = 0;

  beforeAll(async () => {
    api = await startApi(database);
    free = await startApi(database, { tier: 'free' });
  });
  afterAll(() => Promise.all([api.close(), free.close()]));
  beforeEach(async () => {
    count += 1;
    api.ahead = 0;
    owner = await api.person(`owner${count}`);
    domain = await add(owner);
  });

  async function add(person: Person): Promise<string> {
    const name = `d${Math.random().toString(36).slice(2)}.example`;
    const made = await person.call('POST', '/domains/', { name, dns_mode: 'external' });
    expect(made.status, made.text).toBe(200);
    return name;
  }
  const at = (path: string): string => `/domains/${domain}${path}`;
  const good = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await owner.call(method, at(path), body);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const refused = async (status: number, method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await owner.call(method, at(path), body);
    expect(answer.status, answer.text).toBe(status);
    return answer.body.error;
  };
  const consumer = async (body: object): Promise<{ id: number }> =>
    (await good('POST', '/consumers/', body)).body;
  const domainRow = async () => (await api.store.latest.domains.seenBy(owner.account.id, domain))!.domain;
  const waiting = async () => {
    const rows = await api.store.latest.outbox.list((await domainRow()).id);
    return rows.map(({ reason, lists_only }) => [reason, lists_only]);
  };
  const audit = async (): Promise<Answer> => good('GET', '/audit/');

  test.each([
    {
      all: '/consumers/',
      body: { username: 'acme', labels: ['eu'], metadata: { a: 'b' } },
      change: { enabled: false },
      noun: 'consumer',
      defaults: { custom_id: null, usage_plan: null, acl: [], scopes: [], expires_at: null, group: null },
    },
    {
      all: '/usage-plans/',
      body: { name: 'gold', throttle: { rate: 5 } },
      change: { throttle: null },
      noun: 'usage_plan',
      defaults: { throttle: { rate: 5, per_sec: 1, burst: 0 }, quota: null, concurrency: null },
    },
    {
      all: '/token-issuers/',
      body: ISSUER,
      change: { clock_skew_sec: 5 },
      noun: 'token_issuer',
      defaults: { jwks_url: null, algorithms: ['ES256', 'RS256', 'EdDSA'], consumer_claim: 'sub' },
    },
  ])(
    'a $noun is created, read, changed, published and deleted',
    async ({ all, body, change, noun, defaults }) => {
      const made = (await good('POST', all, body)).body;
      expect(made).toMatchObject({ ...body, ...defaults });
      const one = `${all}${made.id}`;
      expect((await good('GET', one)).body).toEqual(made);
      expect((await good('GET', all)).body).toEqual([made]);
      const changed = (await good('PUT', one, change)).body;
      expect(changed).toEqual({ ...made, ...change, updated_at: changed.updated_at });
      // What was read can be sent back, and changes nothing.
      expect((await good('PUT', one, changed)).body).toEqual(changed);
      expect(await waiting()).toHaveLength(2 + (await waiting()).filter(([, lists]) => !lists).length);
      await good('DELETE', one);
      expect((await owner.call('GET', at(one))).status).toBe(404);
      expect((await owner.call('PUT', at(one), change)).status).toBe(404);
      expect((await owner.call('DELETE', at(one))).status).toBe(404);
      const entries = (await audit()).body.filter(({ action }: { action: string }) =>
        action.startsWith(noun),
      );
      expect(entries.map(({ action }: { action: string }) => action)).toEqual([
        `${noun}.delete`,
        `${noun}.update`,
        `${noun}.create`,
      ]);
      expect((await waiting()).filter(([, lists]) => lists)).toHaveLength(3);
    },
  );

  test('If-Match, validate_only and unknown fields are as everywhere', async () => {
    const made = await good('POST', '/consumers/', { username: 'acme' });
    const one = at(`/consumers/${made.body.id}`);
    const tag = (await owner.call('GET', one)).headers['etag']!;
    const stale = await owner.call('PUT', one, { enabled: false }, { 'if-match': '"other"' });
    expect(stale.status).toBe(412);
    const dry = await owner.call('PUT', `${one}?validate_only=true`, { enabled: false });
    expect(dry.body.enabled).toBe(false);
    expect((await owner.call('GET', one)).body.enabled).toBe(true);
    const fresh = await owner.call('PUT', one, { enabled: false }, { 'if-match': tag });
    expect(fresh.status).toBe(200);
    expect((await owner.call('DELETE', one, undefined, { 'if-match': tag })).status).toBe(412);
    expect(await refused(400, 'POST', '/consumers/', { username: 'b', usrname: 'c' })).toContain('usrname');
    expect(await refused(400, 'PUT', `/consumers/${made.body.id}`, { usage_plan: 'none' })).toContain(
      'names no usage plan',
    );
  });

  test('consumers come in pages by id, and by username', async () => {
    for (const username of ['c', 'b', 'a']) await consumer({ username });
    const first = await owner.call('GET', at('/consumers/?limit=2'));
    expect(first.body.map(({ username }: { username: string }) => username)).toEqual(['c', 'b']);
    expect(first.headers['x-total-count']).toBe('3');
    const next = /<([^>]+)>/.exec(first.headers['link']!)![1]!;
    const second = await owner.call('GET', next);
    expect(second.body.map(({ username }: { username: string }) => username)).toEqual(['a']);
    expect(second.headers['link']).toBeUndefined();
    expect((await good('GET', '/consumers/?username=b')).body).toHaveLength(1);
    expect((await good('GET', '/consumers/?username=nobody')).body).toEqual([]);
  });

  test('the consumers of a domain are bounded together, and the refusal names the bound', async () => {
    const { id } = await consumer({ username: 'acme' });
    const row = (await api.store.latest.consumers.list((await domainRow()).id))[0]!;
    const large = JSON.stringify({ ...JSON.parse(row.body), group: 'x'.repeat(MAX_CONSUMER_OCTETS) });
    await api.store.write((tx) => tx.consumers.update({ ...row, body: large }));
    expect(await refused(400, 'POST', '/consumers/', { username: 'b' })).toContain(
      `at most ${MAX_CONSUMER_OCTETS} octets together`,
    );
    await good('PUT', `/consumers/${id}`, { group: null });
    await consumer({ username: 'b' });
  });

  test('no two consumers have a name that a token could mean either by', async () => {
    const first = await consumer({ username: 'acme', custom_id: '7' });
    const second = await consumer({ username: 'other' });
    for (const body of [
      { username: 'acme' },
      { username: 'x', custom_id: '7' },
      { username: 'x', custom_id: 'acme' },
      { username: '7' },
    ])
      expect(await refused(409, 'POST', '/consumers/', body)).toContain(`consumer ${first.id} already`);
    expect(await refused(409, 'PUT', `/consumers/${second.id}`, { username: 'acme' })).toContain('username');
    await good('PUT', `/consumers/${first.id}`, { custom_id: 'acme' });
  });

  test('a usage plan in use is neither renamed nor deleted, and the message names who has it', async () => {
    const { id } = (await good('POST', '/usage-plans/', { name: 'gold' })).body;
    for (let n = 0; n < 7; n++) await consumer({ username: `c${n}`, usage_plan: 'gold' });
    const why = await refused(409, 'DELETE', `/usage-plans/${id}`);
    expect(why).toContain('`c0`, `c1`, `c2`, `c3`, `c4` and others');
    expect(await refused(409, 'PUT', `/usage-plans/${id}`, { name: 'silver' })).toContain('in use');
    await good('PUT', `/usage-plans/${id}`, { throttle: { rate: 1 } });
    expect(await refused(409, 'POST', '/usage-plans/', { name: 'gold' })).toContain('`gold` already');
  });

  test('a gateway names usage plans and token issuers of its domain alone, also in batches and drafts', async () => {
    const gateway = { auth: { jwt: { issuers: ['idp'] } }, default_plan: 'gold' };
    const why = await refused(400, 'POST', '/gateways/', gateway);
    expect(why).toContain('auth.jwt.issuers[0]: names no token issuer of the domain, found `idp`');
    await good('POST', '/token-issuers/', ISSUER);
    await good('POST', '/usage-plans/', { name: 'gold2' });
    for (const query of ['', '?validate_only=true'])
      expect(await refused(400, 'POST', `/gateways/${query}`, gateway)).toContain(
        'default_plan: names no usage plan of the domain, found `gold`',
      );
    await good('PUT', '/publishing', { publish_mode: 'manual' });
    const creates = [gateway, { ...gateway, default_plan: 'gold2' }];
    const made = (await good('POST', '/gateways/batch-create', { creates })).body;
    expect(made).toMatchObject({ succeeded: 1, failed: 1 });
    const { id } = made.results[1];
    expect(await refused(400, 'PUT', `/gateways/${id}`, { default_plan: 'none' })).toContain('default_plan');
    await good('PUT', `/gateways/${id}`, { name: 'orders' });
  });

  test('what a gateway names is neither renamed nor deleted, and the message names the gateways', async () => {
    const plan = (await good('POST', '/usage-plans/', { name: 'gold' })).body;
    const issuer = (await good('POST', '/token-issuers/', ISSUER)).body;
    const gateway = { auth: { jwt: { issuers: ['idp'] } }, default_plan: 'gold' };
    const { id } = (await good('POST', '/gateways/', gateway)).body;
    const inUse = async (): Promise<void> => {
      for (const path of [`/usage-plans/${plan.id}`, `/token-issuers/${issuer.id}`]) {
        expect(await refused(409, 'DELETE', path)).toContain(`in use by the gateways \`gateway/${id}\``);
        expect(await refused(409, 'PUT', path, { name: 'other' })).toContain(`\`gateway/${id}\``);
      }
    };
    await inUse();
    await good('PUT', `/usage-plans/${plan.id}`, { throttle: { rate: 1 } });
    await good('PUT', `/token-issuers/${issuer.id}`, { clock_skew_sec: 1 });
    // Nodes run the gateway that a draft deletes.
    await good('PUT', '/publishing', { publish_mode: 'manual' });
    await good('DELETE', `/gateways/${id}`);
    await inUse();
    await good('DELETE', '/draft');
    await good('PUT', '/publishing', { publish_mode: 'automatic' });
    await good('DELETE', `/gateways/${id}`);
    await good('DELETE', `/usage-plans/${plan.id}`);
    await good('DELETE', `/token-issuers/${issuer.id}`);
  });

  test('the default consumer of a token issuer is there as long as the issuer names it', async () => {
    expect(
      await refused(400, 'POST', '/token-issuers/', { ...ISSUER, default_consumer: 'anybody' }),
    ).toContain('default_consumer');
    const { id } = await consumer({ username: 'anybody' });
    const issuer = (await good('POST', '/token-issuers/', { ...ISSUER, default_consumer: 'anybody' })).body;
    expect(await refused(409, 'DELETE', `/consumers/${id}`)).toContain('`idp`');
    expect(await refused(409, 'PUT', `/consumers/${id}`, { username: 'x' })).toContain('`idp`');
    await good('PUT', `/token-issuers/${issuer.id}`, { default_consumer: null });
    await good('DELETE', `/consumers/${id}`);
  });

  test('an issuer has listed keys or a URL, and a change of the one replaces the other', async () => {
    const { id } = (await good('POST', '/token-issuers/', ISSUER)).body;
    const url = 'https://keys.example/jwks.json';
    const moved = (await good('PUT', `/token-issuers/${id}`, { jwks_url: url })).body;
    expect(moved.keys).toBeUndefined();
    expect(moved.keys_status).toMatchObject({ fetched_at: null, failures: 0, kids: [], left_out: [] });
    const back = (await good('PUT', `/token-issuers/${id}`, { keys: [OKP] })).body;
    expect(back).toMatchObject({ jwks_url: null, keys: [OKP] });
    expect(back.keys_status).toBeUndefined();
    for (const wrong of ['http://keys.example/', 'https://169.254.169.254/'])
      expect(await refused(400, 'PUT', `/token-issuers/${id}`, { jwks_url: wrong })).toContain('jwks_url');
    const secret = { ...OKP, d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A' };
    const why = await refused(400, 'PUT', `/token-issuers/${id}`, { keys: [secret] });
    expect(why).toContain('private');
    expect(why).not.toContain(secret.d);
  });

  test('a key is answered once, and no log, audit entry or row has it', async () => {
    const { id } = await consumer({ username: 'acme' });
    const keys = `/consumers/${id}/keys/`;
    const made = (await good('POST', keys, { name: 'ci' })).body;
    const { value, ...stored } = made;
    expect(value).toMatch(/^epk_[A-Za-z0-9_-]{43}$/);
    expect(stored).toMatchObject({
      name: 'ci',
      prefix: value.slice(0, 8),
      last4: value.slice(-4),
      sha256: createHash('sha256').update(value).digest('hex'),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
    expect((await good('GET', keys)).body).toEqual([stored]);
    const middle = value.slice(8, -4);
    const rows = await api.store.latest.consumerKeys.list(id);
    for (const text of [JSON.stringify(rows), (await audit()).text, api.log.join('\n')])
      expect(text).not.toContain(middle);
    expect((await audit()).text).toContain('consumer_key.create');
  });

  test('at most two keys of a consumer are in force, and the refusal names the remedy', async () => {
    const { id } = await consumer({ username: 'acme' });
    const keys = `/consumers/${id}/keys/`;
    const soon = new Date(api.now() + DAY_MS).toISOString();
    const first = (await good('POST', keys, { expires_at: soon })).body;
    const second = (await good('POST', keys, {})).body;
    const why = await refused(409, 'POST', keys, {});
    expect(why).toContain(`keys ${first.id} and ${second.id} are; revoke one of them first`);
    await good('DELETE', `${keys}${second.id}`);
    expect(await refused(409, 'DELETE', `${keys}${second.id}`)).toContain('revoked already');
    await good('POST', keys, {});
    await refused(409, 'POST', keys, {});
    // An expired key makes room, too.
    api.ahead = 2 * DAY_MS;
    await good('POST', keys, {});
    expect(await refused(400, 'POST', keys, { expires_at: soon })).toContain('must be in the future');
    expect((await good('GET', keys)).body).toHaveLength(4);
  });

  test('a list of consumers has their keys under include=keys alone', async () => {
    const ids: number[] = [];
    for (const username of ['b', 'a', 'none']) ids.push((await consumer({ username })).id);
    const first = (await good('POST', `/consumers/${ids[0]}/keys/`, {})).body;
    const second = (await good('POST', `/consumers/${ids[1]}/keys/`, { name: 'ci' })).body;
    await good('DELETE', `/consumers/${ids[1]}/keys/${second.id}`);
    const plain = (await good('GET', '/consumers/')).body as readonly object[];
    expect(plain.some((one) => 'keys' in one)).toBe(false);
    const listed = await good('GET', '/consumers/?include=keys&limit=2');
    const of = async (id: number) => (await good('GET', `/consumers/${id}/keys/`)).body;
    expect(listed.body).toEqual([
      { ...plain[0], keys: await of(ids[0]!) },
      { ...plain[1], keys: await of(ids[1]!) },
    ]);
    expect(listed.text).not.toContain(first.value);
    const next = /<([^>]+)>/.exec(listed.headers['link']!)![1]!;
    expect((await owner.call('GET', next)).body).toEqual([{ ...plain[2], keys: [] }]);
    expect((await good('GET', '/consumers/?username=a&include=keys')).body[0].keys).toHaveLength(1);
    expect(await refused(400, 'GET', '/consumers/?include=secrets')).toContain('include');
  });

  test('the rows of keys that are not in force are bounded', async () => {
    const { id } = await consumer({ username: 'acme' });
    const keys = `/consumers/${id}/keys/`;
    for (let n = 0; n < 15; n++) {
      const made = (await good('POST', keys, {})).body;
      await good('DELETE', `${keys}${made.id}`);
    }
    expect((await good('GET', keys)).body).toHaveLength(11);
  });

  test('a key that was made elsewhere comes as its hash, once', async () => {
    const { id } = await consumer({ username: 'acme' });
    const other = await consumer({ username: 'other' });
    const sha256 = createHash('sha256').update('epk_elsewhere').digest('hex');
    const made = (await good('POST', `/consumers/${id}/keys/`, { sha256 })).body;
    expect(made).toMatchObject({ sha256, prefix: '', last4: '' });
    expect(made.value).toBeUndefined();
    expect(await refused(409, 'POST', `/consumers/${other.id}/keys/`, { sha256 })).toContain('there already');
    const why = await refused(400, 'POST', `/consumers/${other.id}/keys/`, { sha256: 'epk_elsewhere' });
    expect(why).toContain('64 lower-case hex digits');
    expect(why).not.toContain('elsewhere');
  });

  test('under validate_only no key is stored, and none is answered', async () => {
    const { id } = await consumer({ username: 'acme' });
    const dry = await owner.call('POST', at(`/consumers/${id}/keys/?validate_only=true`), {});
    expect(dry.status).toBe(200);
    expect(dry.body.value).toBeUndefined();
    expect((await good('GET', `/consumers/${id}/keys/`)).body).toEqual([]);
  });

  test('viewers read, editors write, and strangers and those who may not are answered 404', async () => {
    const people = await Promise.all(
      ['viewer', 'editor', 'stranger'].map((role) => api.person(`${role}r${count}`)),
    );
    const [viewer, editor, stranger] = people as [Person, Person, Person];
    await addMember(owner, { member: viewer, domain, role: 'viewer' });
    await addMember(owner, { member: editor, domain, role: 'editor' });
    const { id } = await consumer({ username: 'acme' });
    const key = (await good('POST', `/consumers/${id}/keys/`, {})).body;
    const plan = (await good('POST', '/usage-plans/', { name: 'gold' })).body;
    const issuer = (await good('POST', '/token-issuers/', ISSUER)).body;
    const read = [
      '/consumers/',
      `/consumers/${id}`,
      `/consumers/${id}/keys/`,
      '/usage-plans/',
      `/usage-plans/${plan.id}`,
      '/token-issuers/',
      `/token-issuers/${issuer.id}`,
    ];
    for (const path of read) {
      expect((await viewer.call('GET', at(path))).status, path).toBe(200);
      expect((await stranger.call('GET', at(path))).status, path).toBe(404);
    }
    const written: readonly (readonly [string, string, object?])[] = [
      ['POST', '/consumers/', { username: 'b' }],
      ['PUT', `/consumers/${id}`, { enabled: false }],
      ['POST', `/consumers/${id}/keys/`, {}],
      ['DELETE', `/consumers/${id}/keys/${key.id}`],
      ['DELETE', `/consumers/${id}`],
      ['POST', '/usage-plans/', { name: 'b' }],
      ['PUT', `/usage-plans/${plan.id}`, { throttle: null }],
      ['DELETE', `/usage-plans/${plan.id}`],
      ['POST', '/token-issuers/', { ...ISSUER, name: 'b' }],
      ['PUT', `/token-issuers/${issuer.id}`, { clock_skew_sec: 1 }],
      ['DELETE', `/token-issuers/${issuer.id}`],
    ];
    for (const [method, path, body] of written) {
      for (const person of [viewer, stranger])
        expect((await person.call(method, at(path), body)).status, `${method} ${path}`).toBe(404);
      expect((await editor.call(method, at(path), body)).status, `${method} ${path}`).toBe(200);
    }
  });

  test('objects of another domain are not found', async () => {
    const { id } = await consumer({ username: 'acme' });
    const key = (await good('POST', `/consumers/${id}/keys/`, {})).body;
    const plan = (await good('POST', '/usage-plans/', { name: 'gold' })).body;
    const other = await add(owner);
    for (const path of [`/consumers/${id}`, `/consumers/${id}/keys/${key.id}`, `/usage-plans/${plan.id}`])
      expect((await owner.call('DELETE', `/domains/${other}${path}`)).status, path).toBe(404);
  });

  test('a plan without gateways refuses additions and changes, and names the feature', async () => {
    const person = await free.person(`free${count}`);
    const name = await add(person);
    for (const [path, body] of [
      ['/consumers/', { username: 'a' }],
      ['/usage-plans/', { name: 'gold' }],
      ['/token-issuers/', ISSUER],
      ['/consumers/1/keys/', {}],
    ] as const) {
      const answer = await person.call('POST', `/domains/${name}${path}`, body);
      expect(answer.status).toBe(403);
      expect(answer.body.error).toContain('gateways (`gateways_enabled`)');
      if (path !== '/consumers/1/keys/')
        expect((await person.call('GET', `/domains/${name}${path}`)).status).toBe(200);
    }
  });
});
