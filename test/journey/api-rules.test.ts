/** The seven operations of every rule type over real sockets, on both stores. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { hasErrors } from '../../src/base/diagnostics/diagnostic.ts';
import { RULE_TYPES, type RuleType } from '../../src/base/vocabulary/vocabulary.ts';
import { RULE_SHAPES } from '../../src/control/api/rules/shapes.ts';
import { readDomainRows, toRuleSet } from '../../src/control/publishing/make-plan.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import { send, startApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

const PATHS: Readonly<Record<RuleType, string>> = {
  drop: 'rules/drop',
  fingerprint: 'rules/fingerprint',
  bot_route: 'rules/bot-route',
  rate_limit: 'rules/rate-limit',
  gateway: 'gateways',
  waf: 'rules/waf',
  redirect: 'rules/redirect',
  captcha: 'rules/captcha',
  rewrite: 'rules/rewrite',
  cache: 'rules/cache',
  origin_route: 'rules/origin_route',
  origin_pool: 'rules/origin_pool',
  error_page: 'rules/error-page',
  headers: 'rules/headers',
};

interface Sample {
  readonly create: object;
  readonly change: object;
  /** A body that is wrong, and what the 400 says. */
  readonly wrong: readonly [object, string];
}

const SAMPLES: Readonly<Record<RuleType, Sample>> = {
  drop: {
    create: { ips: ['10.1.2.3/8', '2001:db8::9-2001:db8::1'], countries: ['de'] },
    change: { countries: [] },
    wrong: [
      { ip_match_type: 'exclude', ips: [] },
      'ips: must list at least one address while `ip_match_type` is',
    ],
  },
  fingerprint: {
    create: { match_ja4: ['t13d*'], action: 'tag' },
    change: { action: 'challenge' },
    wrong: [{ match_ja4: [], match_ja4h: [], action: 'drop' }, 'must list a fingerprint in'],
  },
  bot_route: {
    create: { bot_kinds: ['gptbot'], action: 'alt_origin', alt_dest: 'bots.example.net', alt_port: 8443 },
    change: { alt_port: null },
    wrong: [{ bot_kinds: [], action: 'block' }, 'bot_kinds: must not be empty'],
  },
  rate_limit: {
    create: { limit: 10 },
    change: { burst: 5, key_by: 'ip_path' },
    wrong: [{ limit: 0 }, 'limit: must be a whole number from 1 to'],
  },
  gateway: {
    create: { base_path: '/v1', auth: { require: 'none' } },
    change: { name: 'orders', operations: [{ methods: ['GET'], path: '/orders/{id}' }] },
    wrong: [{ auth: {} }, 'auth: requires credentials and takes none'],
  },
  waf: {
    create: {},
    change: { paranoia: 2, rule_excludes: ['942100'] },
    wrong: [{ paranoia: 5 }, 'paranoia: must be a whole number from 1 to 4, found 5'],
  },
  redirect: {
    create: { target: '/new', path_includes: ['/old'] },
    change: { status_code: 308 },
    wrong: [{ target: '//evil.test' }, 'target: '],
  },
  captcha: {
    create: { path_includes: ['/login'] },
    change: { ttl_sec: 60 },
    wrong: [{ ttl_sec: 59 }, 'ttl_sec: must be a whole number from 60 to'],
  },
  rewrite: {
    create: { path_match_type: 'regex', path_includes: ['^/a/(.*)$'], path_target: '/b/$1' },
    change: { query_mode: 'strip' },
    wrong: [{ path_target: 'b' }, 'path_target: '],
  },
  cache: {
    create: { mode: 'force', edge_ttl_sec: 60 },
    change: { edge_ttl_sec: null, browser_ttl_sec: 5 },
    wrong: [{ mode: 'forever' }, 'mode: must be one of `standard`, `force`, `bypass`, found `forever`'],
  },
  origin_route: {
    create: { address: '192.0.2.7', scheme: 'http', host_header: 'in.example.com' },
    change: { port: 8080 },
    wrong: [{ address: '' }, 'address: must not be empty'],
  },
  origin_pool: {
    create: { origins: [{ address: '192.0.2.1' }, { address: '192.0.2.2', weight: 0 }], name: 'main' },
    change: { health_check: { enabled: true, path: '/up' } },
    wrong: [{ origins: [] }, 'origins: must have at least 1 entry'],
  },
  error_page: {
    create: { mode: 'custom', codes: [404, 503], content: { '503': 'späť', '0': '<p>sorry' } },
    change: { codes: [404] },
    wrong: [{ codes: [200] }, 'codes[0]: must be a whole number from 400 to 599, found 200'],
  },
  headers: {
    create: {
      request: { set: { 'X-Country': '${client_country}' }, remove: ['Cookie'] },
      response: { add: { Link: '</a.css>; rel=preload' } },
    },
    change: { response: { set: { 'Strict-Transport-Security': 'max-age=31536000' } } },
    wrong: [{ request: { set: { Host: 'a' } } }, 'request.set.Host: routes requests'],
  },
};

/** Fields of rate limits without a default: as written, as stored, and as an update takes them away. */
const RATE_FIELDS = {
  written: { key_parts: ['ip', 'header:X-Key'], count_statuses: [401, 403], headers: true },
  stored: { key_parts: ['ip', 'header:x-key'], count_statuses: [401, 403], headers: true },
  emptied: { key_parts: [], count_statuses: [], headers: false },
};

describe.each(testDatabases())('rules on $kind', (database) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await addSubject(await startApi(database));
  });
  afterAll(() => subject.api.close());

  test('a rate limit with fields that have no default answers with them until an update takes them away', async () => {
    const { ask } = subject;
    const all = '/rules/rate-limit/';
    const made = await ask('POST', all, { limit: 3, ...RATE_FIELDS.written });
    expect(made.status, made.text).toBe(200);
    expect(made.body).toMatchObject(RATE_FIELDS.stored);
    expect(RULE_SHAPES.rate_limit.answer.parse(made.body)).toEqual(made.body);
    const one = `${all}${made.body.id}`;
    expect((await ask('PUT', one, { burst: 1 })).body).toMatchObject({ burst: 1, ...RATE_FIELDS.stored });
    const { body } = await ask('PUT', one, RATE_FIELDS.emptied);
    for (const name of Object.keys(RATE_FIELDS.stored)) expect(body).not.toHaveProperty(name);
    expect((await ask('GET', one)).body).toEqual(body);
    const wrong = await ask('POST', all, { limit: 3, key_parts: ['consumer'] });
    expect([wrong.status, wrong.text]).toEqual([
      400,
      expect.stringContaining('key_parts[0]: must be one of `ip`'),
    ]);
    expect((await ask('DELETE', one)).status).toBeLessThan(300);
  });

  test.each(RULE_TYPES)(
    'a %s rule: made, read, changed, put back, toggled, reordered, deleted',
    async (type) => {
      const { ask, domain } = subject;
      const all = `/${PATHS[type]}/`;
      const { create, change, wrong } = SAMPLES[type];
      expect((await ask('GET', all)).body).toEqual([]);

      const made = await ask('POST', all, create);
      expect(made.status, made.text).toBe(200);
      expect(made.body).toMatchObject({
        type,
        domain_id: domain.id,
        record_ids: [],
        enabled: true,
        priority: 100,
        host_pattern: '',
        host_match_type: '',
        host_includes: [],
        host_excludes: [],
        action_mode: 'enforce',
      });
      expect(made.body).not.toHaveProperty('record_id');
      expect(RULE_SHAPES[type].answer.parse(made.body)).toEqual(made.body);
      const one = `${all}${made.body.id}`;
      const got = await ask('GET', one);
      expect(got.body).toEqual(made.body);
      expect((await ask('GET', one, undefined, { 'if-none-match': got.headers['etag']! })).status).toBe(304);

      const back = await ask('PUT', one, got.body);
      expect(back.status, back.text).toBe(200);
      expect(back.body).toEqual(got.body);

      const refused = await ask('PUT', one, wrong[0]);
      expect(refused.status).toBe(400);
      expect(refused.body.error).toContain(wrong[1]);
      const stale = await ask('PUT', one, change, { 'if-match': '"another"' });
      expect(stale.status).toBe(412);
      const tried = await ask('PUT', `${one}?validate_only=true`, change);
      expect(tried.body).toMatchObject(change);
      expect((await ask('GET', one)).body).toEqual(got.body);
      const changed = await ask('PUT', one, change, { 'if-match': got.headers['etag']! });
      expect(changed.status, changed.text).toBe(200);
      expect(changed.body).toMatchObject(change);
      expect((await ask('GET', one)).body).toEqual(changed.body);

      const off = await ask('PATCH', `${one}/toggle`);
      expect(off.body).toEqual({ ...changed.body, enabled: false, updated_at: off.body.updated_at });
      expect((await ask('PATCH', `${one}/toggle`, {})).body.enabled).toBe(true);

      const second = await ask('POST', all, { ...create, priority: 5 });
      const ids = (answer: { body: { id: number }[] }): number[] => answer.body.map((rule) => rule.id);
      expect(ids(await ask('GET', all))).toEqual([second.body.id, made.body.id]);
      const ordered = await ask('PUT', `${all}reorder`, { ids: [made.body.id, second.body.id] });
      expect(ordered.status, ordered.text).toBe(200);
      expect(ids(ordered)).toEqual([made.body.id, second.body.id]);
      expect(ordered.body.map((rule: { priority: number }) => rule.priority)).toEqual([10, 20]);
      expect((await ask('GET', all)).body).toEqual(ordered.body);
      const partly = await ask('PUT', `${all}reorder`, { ids: [made.body.id] });
      expect(partly).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^ids: /) } });

      const gone = await ask('DELETE', one);
      expect(gone).toMatchObject({ status: 200, body: { message: `rule ${type}/${made.body.id} deleted` } });
      for (const [method, path] of [
        ['GET', one],
        ['PUT', one],
        ['DELETE', one],
        ['PATCH', `${one}/toggle`],
      ]) {
        const answer = await ask(method!, path!, method === 'PUT' ? change : undefined);
        expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } });
      }
      const subjects = (await subject.audited()).filter((entry) => entry.endsWith(`${type}/${made.body.id}`));
      expect(subjects.map((entry) => entry.split(' ')[0])).toEqual([
        'rule.delete',
        'rule.toggle',
        'rule.toggle',
        'rule.update',
        'rule.create',
      ]);
      expect((await subject.outbox()).at(-1)).toBe(`rule ${type}/${made.body.id} deleted`);
    },
  );

  test('paths of other types, other domains, wrong slashes or words for ids are 404', async () => {
    const { api, ask, domain, owner } = subject;
    const made = await ask('POST', '/rules/drop/', { countries: ['DE'] });
    await owner.call('POST', '/domains/', { name: 'other.example' });
    for (const path of [
      `/domains/${domain.name}/rules/waf/${made.body.id}`,
      `/domains/other.example/rules/drop/${made.body.id}`,
      `/domains/${domain.name}/rules/drop/0`,
      `/domains/${domain.name}/rules/drop/x`,
      `/domains/${domain.name}/rules/drop/99999999999`,
      '/domains/nobody.test/rules/drop/',
    ]) {
      expect(await owner.call('GET', path), path).toMatchObject({
        status: 404,
        body: { error: 'not found' },
      });
    }
    const rules = `/domains/${domain.name}/rules`;
    for (const [path, meant] of [
      [`${rules}/drop/${made.body.id}/`, `${rules}/drop/${made.body.id}`],
      [`${rules}/drop`, `${rules}/drop/`],
      [`${rules}/rate_limit/`, `${rules}/rate-limit/`],
      [`${rules}/rate_limit/7`, `${rules}/rate-limit/7`],
      [`${rules}/origin-pool`, `${rules}/origin_pool/`],
      ['/domains/a%2Fb/rules/Drop', '/domains/a%2Fb/rules/drop/'],
    ]) {
      const error = `not found; the path is \`${meant}\``;
      expect(await owner.call('GET', path!), path).toMatchObject({ status: 404, body: { error } });
    }
    expect((await api.store.latest.audit.list(subject.domain.id, { limit: 1 }))[0]?.after_json).toBe(
      JSON.stringify(made.body),
    );
  });

  test('every accepted rule compiles', async () => {
    const { api, ask, domain } = await addSubject(subject.api);
    const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
    const { body } = await ask('POST', '/records/', record);
    for (const type of RULE_TYPES) {
      const path = `/${PATHS[type]}/`;
      const made = await ask('POST', path, { ...SAMPLES[type].create, record_ids: [body.id] });
      expect((await ask('PUT', `${path}${made.body.id}`, SAMPLES[type].change)).status).toBe(200);
      await ask('POST', path, SAMPLES[type].create);
    }
    await ask('DELETE', `/records/${body.id}`);
    const ruleSet = await api.store.read(async (tx) =>
      toRuleSet(await readDomainRows(tx, (await tx.domains.get(domain.id))!)),
    );
    expect(ruleSet.rules).toHaveLength(2 * RULE_TYPES.length);
    expect(ruleSet.rules.filter((rule) => !rule.enabled)).toHaveLength(RULE_TYPES.length);
    expect(hasErrors(compile(ruleSet).diagnostics)).toBe(false);
  });

  test('the OpenAPI document has every operation and the required fields of a create', async () => {
    const { text } = await send(subject.api.port, { method: 'GET', path: '/docs/openapi.yaml' });
    const { components, paths } = parse(text);
    for (const type of RULE_TYPES) {
      const all = `/domains/{domain}/${PATHS[type]}/`;
      expect(Object.keys(paths[all])).toEqual(['get', 'post']);
      expect(Object.keys(paths[`${all}{ruleId}`])).toEqual(['get', 'put', 'delete']);
      expect(paths).toHaveProperty([`${all}{ruleId}/toggle`, 'patch', 'responses', '200']);
      expect(paths).toHaveProperty([`${all}reorder`, 'put', 'requestBody']);
    }
    const required = (name: string): unknown => components.schemas[name].required;
    expect(required('BotRouteRuleCreate')).toEqual(['bot_kinds', 'action']);
    expect(required('OriginPoolRuleCreate')).toEqual(['origins']);
    expect(required('WafRuleUpdate')).toBeUndefined();
    expect(required('DnsRecordCreate')).toEqual(['name', 'type', 'destination']);
  });
});
