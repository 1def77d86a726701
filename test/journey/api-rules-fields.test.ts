/** What rules keep, refuse and answer beyond the seven operations, over real sockets, on both stores. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_DOMAIN_IPS, MAX_DOMAIN_TEXT, MAX_IPS } from '../../src/base/vocabulary/limits.ts';
import type { RuleCosts } from '../../src/control/store/tables/rules.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

const FOREIGN = 'record_ids do not belong to this domain';

describe.each(testDatabases())('rule fields on $kind', (database) => {
  let subject: Subject;
  let ask: Subject['ask'];
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(database);
  });
  beforeEach(async () => {
    subject = await addSubject(api);
    ask = subject.ask;
  });
  afterAll(() => api.close());

  async function addRecord(name: string): Promise<number> {
    const answer = await ask('POST', '/records/', {
      name,
      type: 'A',
      destination: '192.0.2.1',
      proxied: true,
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.id;
  }

  async function addRule(
    slug: string,
    body: object,
  ): Promise<{ path: string; body: Record<string, unknown> }> {
    const answer = await ask('POST', `/rules/${slug}/`, body);
    expect(answer.status, answer.text).toBe(200);
    return { path: `/rules/${slug}/${answer.body.id}`, body: answer.body };
  }

  test.each([
    [
      'captcha',
      { path_includes: ['api/*'] },
      /^path_includes\[0\]: .*`api\/\*`; write `\/api\/\*` or `\*api\/\*`$/,
    ],
    ['error-page', { codes: [] }, /^codes: must not be empty; list a status code from 400 to 599$/],
    ['rewrite', {}, /^this rule changes nothing: .*; set `path_target`, or `query_mode`/],
    ['rewrite', { query_mode: 'preserve', path_target: '' }, /^this rule changes nothing: /],
  ])('a rule of type %s with %j, which has no effect, is 400', async (slug, body, sentence) => {
    for (const query of ['', '?validate_only=true']) {
      const answer = await ask('POST', `/rules/${slug}/${query}`, body);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(sentence)]);
    }
    const { results } = (await ask('POST', `/rules/${slug}/batch-create`, { creates: [body] })).body;
    expect(results).toEqual([{ index: 0, id: null, ok: false, error: expect.stringMatching(sentence) }]);
  });

  test('the status of a drop rule is in its answer if it is another one than 403, and 403 removes it', async () => {
    const { path, body } = await addRule('drop', { path_includes: ['/gone'] });
    expect(Object.keys(body)).not.toContain('status');
    expect((await ask('PUT', path, { status: 410 })).body).toMatchObject({ status: 410 });
    expect((await ask('GET', path)).body.status).toBe(410);
    expect((await ask('PUT', path, { priority: 7 })).body).toMatchObject({ status: 410, priority: 7 });
    const removed = (await ask('PUT', path, { status: 403 })).body;
    expect({ ...removed, updated_at: '' }).toEqual({ ...body, priority: 7, updated_at: '' });
    const refused = await ask('PUT', path, { status: 418 });
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringMatching(/^status: must be one of/),
    ]);
  });

  test('a redirect takes captures beside regexes alone, and `literal` removes the mode', async () => {
    const regex = { path_match_type: 'regex', path_includes: ['^/old/(.*)$'], target: '/new/$1' };
    const { path, body } = await addRule('redirect', { ...regex, target_mode: 'captures' });
    expect(body['target_mode']).toBe('captures');
    for (const [change, sentence] of [
      [
        { path_match_type: 'wildcard', path_includes: ['/old/*'] },
        /^target_mode: .*set `path_match_type` to `regex`/,
      ],
      [{ path_includes: ['^/old/.*$'] }, /^target: refers to a group that no entry of `path_includes` has/],
      [{ target: 'https://$1.example/' }, /^target: must name an ASCII host/],
      [{ preserve_path: true }, /^preserve_path: must not be true while `target_mode` is `captures`/],
    ] as const) {
      const refused = await ask('PUT', path, change);
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(sentence)]);
    }
    const literal = (await ask('PUT', path, { target_mode: 'literal' })).body;
    expect(Object.keys(literal)).not.toContain('target_mode');
  });

  test('a rule that only an earlier version accepts can be read and toggled; other changes are 400', async () => {
    const { path, body } = await addRule('captcha', { path_includes: ['/api/*'] });
    const key = { domain_id: subject.domain.id, type: 'captcha', id: Number(body['id']) } as const;
    await api.store.write(async (tx) => {
      const row = await tx.rules.get(key);
      const old = row!.body.replace('/api/*', 'api/*');
      await tx.rules.update(key, {
        body: old,
        priority: row!.priority,
        record_ids: [],
        updated_at: api.now(),
      });
    });
    expect((await ask('GET', path)).body.path_includes).toEqual(['api/*']);
    expect((await ask('PATCH', `${path}/toggle`)).body).toMatchObject({
      enabled: false,
      path_includes: ['api/*'],
    });
    const changed = await ask('PUT', path, { priority: 3 });
    expect([changed.status, changed.body.error]).toEqual([
      400,
      expect.stringMatching(/^path_includes\[0\]: matches no/),
    ]);
    expect((await ask('PUT', path, { priority: 3, path_includes: ['/api/*'] })).status).toBe(200);
    const cleared = await ask('PUT', path, { path_includes: ['*api'] });
    expect(cleared.body).toMatchObject({ priority: 3, enabled: false, path_includes: ['*api'] });
  });

  test('record_id and record_ids are both accepted, the first id is shown, and ids of other domains are refused', async () => {
    const [one, two] = [await addRecord('a'), await addRecord('b')];
    await subject.owner.call('POST', '/domains/', { name: 'other.example' });
    const other = await subject.owner.call('POST', '/domains/other.example/records/', {
      name: 'x',
      type: 'A',
      destination: '192.0.2.9',
      proxied: true,
    });
    const { path, body } = await addRule('captcha', { record_id: one });
    expect(body).toMatchObject({ record_id: one, record_ids: [one] });
    expect((await ask('PUT', path, { record_ids: [two, one, two] })).body).toMatchObject({
      record_id: two,
      record_ids: [two, one],
    });
    expect((await ask('PUT', path, { record_id: one })).body.record_ids).toEqual([one]);
    expect((await ask('PUT', path, { record_id: one, record_ids: [two] })).body.record_ids).toEqual([two]);
    const kept = await ask('PUT', path, { ttl_sec: 90 });
    expect(kept.body).toMatchObject({ record_ids: [two], ttl_sec: 90 });
    for (const list of [[], null]) {
      const both = await ask('PUT', path, { record_id: one, record_ids: list });
      expect(both.body.error).toMatch(/^record_ids: must not be empty beside a `record_id`/);
    }
    for (const scope of [
      { record_ids: [one, other.body.id] },
      { record_id: other.body.id },
      { record_ids: [4_000_000_000] },
      { record_ids: Array.from({ length: 20 }, (_, index) => 1_000_000 + index) },
    ]) {
      expect(await ask('PUT', path, scope)).toMatchObject({ status: 400, body: { error: FOREIGN } });
      expect(await ask('POST', '/rules/captcha/', scope)).toMatchObject({
        status: 400,
        body: { error: FOREIGN },
      });
    }
    const wide = await ask('PUT', path, { record_id: null });
    expect(wide.body).toMatchObject({ record_ids: [] });
    expect(wide.body).not.toHaveProperty('record_id');
  });

  test('an absent host match type is derived from the lists', async () => {
    const { path } = await addRule('waf', { host_includes: ['a.example.com'] });
    const put = async (body: object): Promise<unknown> => (await ask('PUT', path, body)).body;
    expect(await put({ priority: 1 })).toMatchObject({ host_match_type: 'wildcard' });
    expect(await put({ host_match_type: 'exact' })).toMatchObject({ host_includes: ['a.example.com'] });
    expect(await put({ host_includes: [], host_excludes: [] })).toMatchObject({ host_match_type: '' });
    expect(await put({ host_excludes: ['*.example.com'] })).toMatchObject({ host_match_type: 'wildcard' });
    const sent = await ask('PUT', path, { host_excludes: [], host_match_type: 'exact' });
    expect(sent).toMatchObject({ status: 400 });
    expect(sent.body.error).toMatch(/^host_match_type: must be empty while no host is listed/);
    expect(await put({ host_includes: null })).toEqual({
      error: 'host_includes: must be a list, found null',
    });
  });

  test('a 400 lists all mistakes with their fields, unknown fields included', async () => {
    const both = await ask('POST', '/rules/waf/', { paranoia: 9, treshold: 5 });
    expect(both.status).toBe(400);
    expect(both.body.error).toBe(
      'treshold: is not a known field; did you mean `threshold`?; ' +
        'paranoia: must be a whole number from 1 to 4, found 9',
    );
    const { path } = await addRule('waf', {});
    for (const body of [[], 'x', 7, null]) {
      expect((await ask('PUT', path, body)).status).toBe(400);
      expect((await ask('POST', '/rules/waf/', body)).status).toBe(400);
    }
    expect((await ask('PUT', path)).status).toBe(400);
    const bare = await ask('POST', '/rules/drop/', {});
    expect(bare.body.error).toBe(
      'this rule would drop every request; list 0.0.0.0/0 and ::/0 in ips to mean that',
    );
    const off = await addRule('drop', { enabled: false });
    expect(await ask('PATCH', `${off.path}/toggle`)).toMatchObject({
      status: 400,
      body: { error: bare.body.error },
    });
    expect((await ask('GET', off.path)).body.enabled).toBe(false);
  });

  test('a health check is merged field by field', async () => {
    const { path, body } = await addRule('origin_pool', {
      origins: [{ address: '192.0.2.1' }],
      health_check: { enabled: true, path: '/up' },
    });
    const changed = await ask('PUT', path, { health_check: { interval_sec: 30 } });
    expect(changed.body.health_check).toEqual({ ...(body['health_check'] as object), interval_sec: 30 });
  });

  test('the content of error pages is replaced as a whole, unchanged when absent, and not in lists', async () => {
    const { path, body } = await addRule('error-page', {
      mode: 'custom',
      codes: [503],
      content: { '503': 'späť', '0': 'sorry' },
    });
    expect(body).toMatchObject({
      content: { '0': 'sorry', '503': 'späť' },
      content_codes: [0, 503],
      content_bytes: { '0': 5, '503': 6 },
    });
    const [listed] = (await ask('GET', '/rules/error-page/')).body;
    expect(listed).not.toHaveProperty('content');
    expect(listed).toMatchObject({ content_codes: [0, 503], content_bytes: {} });
    const kept = await ask('PUT', path, { codes: [502, 503] });
    expect(kept.body).toMatchObject({ content: { '0': 'sorry', '503': 'späť' }, content_codes: [0, 503] });
    expect((await ask('PATCH', `${path}/toggle`)).body.content).toEqual(kept.body.content);
    const same = await ask('PUT', path, { content: { '503': 'new', '0': 'sorry' } });
    expect(same.body.content).toEqual({ '0': 'sorry', '503': 'new' });
    const replaced = await ask('PUT', path, { content: { '502': 'x' } });
    expect(replaced.body).toMatchObject({
      content: { '502': 'x' },
      content_codes: [502],
      content_bytes: { '502': 1 },
    });
    const cleared = await ask('PUT', path, { content: {} });
    expect(cleared.body).toMatchObject({ content: {}, content_codes: [], content_bytes: {} });
    const big = await ask('PUT', path, { content: { '503': 'x'.repeat(65_537) } });
    expect(big.body.error).toMatch(/^content\["503"\]: must be at most 65536 octets/);
  });

  test('an update without a difference writes nothing', async () => {
    const { path, body } = await addRule('waf', { paranoia: 2 });
    const before = await subject.outbox();
    subject.api.ahead = 60_000;
    expect((await ask('PUT', path, { paranoia: 2 })).body).toEqual(body);
    expect((await ask('PUT', '/rules/waf/reorder', { ids: [body['id']] })).status).toBe(200);
    expect((await ask('PUT', '/rules/waf/reorder', { ids: [body['id']] })).status).toBe(200);
    expect((await subject.outbox()).slice(before.length)).toEqual(['rules of type waf reordered']);
    for (const ids of [[body['id'], body['id']], [7_777], []]) {
      const answer = await ask('PUT', '/rules/waf/reorder', { ids });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatch(/^ids: must list every rule of the type exactly once; /);
    }
  });

  test('a write beyond the regex budget of the domain is refused', async () => {
    const regexes = (prefix: string, count: number): object => ({
      path_match_type: 'regex',
      path_includes: Array.from({ length: count }, (_, index) => `[a-z]${prefix}${index}x`),
      enabled: false,
      target: '/new',
    });
    let made = 0;
    let refusal = '';
    for (let round = 0; round < 6 && refusal === ''; round++) {
      const answer = await ask('POST', '/rules/redirect/', regexes(`r${round}v`, 40));
      if (answer.status === 200) made++;
      else refusal = answer.body.error;
    }
    expect(made).toBeGreaterThan(0);
    expect(refusal).toMatch(/^path_includes\[\d+\]: with this pattern the regexes of the domain would /);
    // A rule that brings no new regex is not held to account for the others.
    const [first] = (await ask('GET', '/rules/redirect/')).body;
    expect((await ask('PUT', `/rules/redirect/${first.id}`, { target: '/x' })).status).toBe(200);
    expect((await ask('PATCH', `/rules/redirect/${first.id}/toggle`)).status).toBe(200);
  });

  test('a write beyond the address budget of the domain is refused, conditions included', async () => {
    const { body: first } = await addRule('drop', { ips: ['192.0.2.1'] });
    const ips = Array.from({ length: MAX_IPS }, (_, index) => `198.51.${index}.0/24`);
    const row = (await api.store.latest.rules.get({
      domain_id: subject.domain.id,
      type: 'drop',
      id: Number(first['id']),
    }))!;
    const body = JSON.stringify({ ...JSON.parse(row.body), ips });
    const full = Math.floor(MAX_DOMAIN_IPS / MAX_IPS);
    await api.store.write(async (tx) => {
      const rule = { ...row, body, record_ids: [], costs: { addresses: MAX_IPS, patterns: [] } };
      for (let made = 0; made < full; made++) await tx.rules.insert(rule);
    });
    const left = MAX_DOMAIN_IPS - full * MAX_IPS - 1;
    const refused = await ask('POST', '/rules/drop/', { ips: ips.slice(0, left + 1) });
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.error).toBe(
      `ips: the rules of a domain must list at most ${MAX_DOMAIN_IPS} addresses together, ` +
        `found ${MAX_DOMAIN_IPS + 1}; use prefixes or ranges`,
    );
    const made = await addRule('drop', { ips: ips.slice(0, left) });
    expect((await ask('PUT', made.path, { ips: ips.slice(0, left + 1) })).status).toBe(400);
    const condition = { conditions: { ips: { excludes: ['203.0.113.1'] } } };
    expect((await ask('POST', '/rules/captcha/', condition)).body.error).toMatch(
      /^conditions\.ips: the rules of a domain/,
    );
    expect((await ask('PUT', made.path, { ips: ips.slice(1, left + 1), priority: 7 })).status).toBe(200);
    expect((await ask('PUT', made.path, { ips: ips.slice(0, 1) })).status).toBe(200);
  });

  const octetsOf = (totals: readonly RuleCosts[]) => totals.reduce((sum, { octets }) => sum + octets, 0);

  test('a write beyond the text budget of the domain’s rules is refused, pages included', async () => {
    const page = (octets: number) => ({ codes: [502], content: { 502: 'é'.repeat(octets / 2) } });
    const { body: first, path } = await addRule('error-page', page(4_000));
    const whole = { domain_id: subject.domain.id, type: 'error_page', id: Number(first['id']) } as const;
    const row = (await api.store.latest.rules.get(whole))!;
    await api.store.write(async (tx) => {
      const there = octetsOf(await tx.rules.totals(subject.domain.id));
      const content = JSON.stringify({ 502: 'x'.repeat(MAX_DOMAIN_TEXT - there - 3_000) });
      await tx.rules.insert({ ...row, content, record_ids: [] });
    });
    const there = octetsOf(await api.store.latest.rules.totals(subject.domain.id));
    const refused = await ask('POST', '/rules/error-page/', page(4_000));
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.error).toMatch(
      new RegExp(`^the rules of a domain hold at most ${MAX_DOMAIN_TEXT} octets together, pages included, `),
    );
    expect((await ask('PUT', path, page(4_000 + 2 * (MAX_DOMAIN_TEXT - there)))).status).toBe(400);
    expect((await ask('PUT', path, page(4_100))).status).toBe(200);
    expect((await ask('PUT', path, page(3_000))).status).toBe(200);
    await addRule('drop', { ips: ['192.0.2.1'] });
  });

  test('a viewer reads, an editor writes, and other requests are 404', async () => {
    const { path } = await addRule('waf', {});
    const viewer = await subject.member('vera', 'viewer');
    const editor = await subject.member('edda', 'editor');
    const stranger = await subject.api.person('sam');
    const whole = subject.at(path);
    const all = subject.at('/rules/waf/');
    expect((await viewer.call('GET', whole)).status).toBe(200);
    expect((await viewer.call('GET', all)).body).toHaveLength(1);
    const writes = [
      ['POST', all, {}],
      ['PUT', whole, {}],
      ['PUT', `${all}reorder`, { ids: [] }],
      ['PATCH', `${whole}/toggle`, undefined],
      ['DELETE', whole, undefined],
    ] as const;
    for (const [method, where, body] of writes) {
      for (const person of [viewer, stranger]) {
        const answer = await person.call(method, where, body);
        expect(answer, `${method} ${where}`).toMatchObject({ status: 404, body: { error: 'not found' } });
      }
      const { key } = await subject.owner.anotherKey({ readOnly: true });
      const readOnly = await subject.owner.call(method, where, body, { authorization: `Bearer ${key}` });
      expect(readOnly).toMatchObject({ status: 403, body: { error: 'read-only API key' } });
    }
    expect((await stranger.call('GET', all)).status).toBe(404);
    expect((await editor.call('PATCH', `${whole}/toggle`)).body.enabled).toBe(false);
    expect((await editor.call('POST', all, {})).status).toBe(200);
    expect(await editor.call('PATCH', all)).toMatchObject({ status: 405 });
  });

  test('a create beyond the entitlements is 403 and names the feature; an existing rule can be changed', async () => {
    const { path } = await addRule('waf', {});
    const refused = async (slug: string, body: object): Promise<string> => {
      const answer = await ask('POST', `/rules/${slug}/`, body);
      expect(answer.status, answer.text).toBe(403);
      return answer.body.error;
    };
    await subject.allow({ max_rules_per_set: 1 });
    // The plan is judged before the body.
    expect(await refused('waf', { paranoia: 9 })).toContain('`max_rules_per_set`');
    expect((await ask('POST', '/rules/captcha/', {})).status).toBe(200);
    await subject.allow({ disabled_rule_types: ['waf'] });
    expect(await refused('waf', {})).toContain('`disabled_rule_types`');
    await subject.allow({ rules_enabled: false });
    expect(await refused('drop', {})).toContain('`rules_enabled`');
    expect((await ask('PUT', path, { paranoia: 3 })).status).toBe(200);
    expect((await ask('PATCH', `${path}/toggle`)).status).toBe(200);
    await subject.allow({ host_header_edit_enabled: false, disabled_rule_types: [] });
    const route = { address: '192.0.2.7', host_header: 'in.example.net' };
    expect(await refused('origin_route', route)).toContain('`host_header_edit_enabled`');
    await subject.allow({ disabled_rule_types: [] });
    const kept = await addRule('origin_route', route);
    await subject.allow({ host_header_edit_enabled: false });
    expect((await ask('PUT', kept.path, { port: 81, host_header: 'in.example.net' })).status).toBe(200);
    expect((await ask('PUT', kept.path, { host_header: 'out.example.net' })).status).toBe(403);
    expect((await ask('DELETE', path)).status).toBe(200);
  });

  test('a write on a disabled domain is 409, and an invalid body is 400 before that', async () => {
    const { path } = await addRule('waf', {});
    await subject.api.store.write((tx) => tx.domains.update(subject.domain.id, { status: 'disabled' }));
    expect((await ask('PUT', path, { paranoia: 9 })).status).toBe(400);
    expect(await ask('PUT', path, { paranoia: 2 })).toMatchObject({
      status: 409,
      body: { error: 'domain is disabled' },
    });
    expect((await ask('GET', path)).body.paranoia).toBe(1);
  });
});
