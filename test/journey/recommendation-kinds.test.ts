/**
 * Every kind of recommendation over a simulated month: visitors come day by day, and what a node counts and logs of them goes
 * through its routes. The kind appears, the customer does what it says, and it is gone, also after further days of the same
 * visitors. The table has an entry for each kind of the product.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKey } from '../../src/control/accounts/keys.ts';
import { RECOMMENDATION, type Recommendation } from '../../src/control/recommendations/shapes.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { makeAuthority, type TestAuthority } from '../support/make-chain.ts';
import { requires } from '../support/requires.ts';
import { openSite, type Visit } from '../support/simulated-site.ts';

const DAY = 86_400_000;
/** Days until the recommendation is expected, and after its change. */
const MONTH = 31;
const AFTER = 3;

/** What scenarios work with. */
interface Scene {
  readonly api: TestApi;
  readonly subject: Subject;
  readonly ca: TestAuthority;
  /** Creates an object below the domain and returns its id. */
  make(path: string, body: object): Promise<number>;
  /** Uploads a certificate for names of the domain that is valid for so many days from the first one. */
  upload(names: readonly string[], days: number): Promise<number>;
}

/** A month in which a kind appears. */
interface Scenario {
  /** Makes what the domain has besides a proxied record `shop`, on the first day, and returns the id after the kind. */
  make(scene: Scene): Promise<string>;
  /** What else is made on a day; an id that it returns replaces that of `make`. */
  during?(scene: Scene, day: number): Promise<string | undefined>;
  /** The visits of a day. Default: 200 of the front page. */
  visits?(day: number): readonly Visit[];
  /** The share of forwarded requests that is logged. */
  readonly logged?: number;
  /** The kind needs time: on the first day it is not there. */
  readonly late: boolean;
  /** What the evidence says, besides other facts. */
  readonly evidence?: object;
  /** What the customer does where the recommendation has no change. */
  remedy?(scene: Scene, found: Recommendation): Promise<void>;
}

const times = <Value>(count: number, make: (index: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, index) => make(index));
const plain = (count: number): readonly Visit[] => times(count, (): Visit => ({ target: '/' }));
/** Visits of which the first of every so many is another one. */
const every = (nth: number, other: Visit, count = 300): readonly Visit[] =>
  times(count, (index) => (index % nth === 0 ? other : { target: '/' }));

const A = { type: 'A', destination: '198.51.100.20' };

const ORDERS = {
  base_path: '/v1',
  auth: { require: 'none' },
  operations: [
    { methods: ['GET'], path: '/orders' },
    { methods: ['GET'], path: '/orders/{id}' },
  ],
};

const SCENARIOS: Readonly<Record<Recommendation['kind'], Scenario>> = {
  unused_rule: {
    late: true,
    make: async ({ make }) =>
      `drop/${await make('/rules/drop/', { path_includes: ['/x/*'], countries: ['KP'] })}`,
    evidence: { hits: 0 },
  },
  dry_run_ready: {
    late: true,
    make: async ({ make }) =>
      `drop/${await make('/rules/drop/', { countries: ['NO'], action_mode: 'dry_run' })}`,
    visits: () => every(25, { country: 'NO' }, 400),
    evidence: { share: expect.closeTo(0.04, 2) },
  },
  dry_run_too_broad: {
    late: true,
    make: async ({ make }) =>
      `drop/${await make('/rules/drop/', { countries: ['SE'], action_mode: 'dry_run' })}`,
    visits: () => every(4, { country: 'SE' }),
    evidence: { share: expect.closeTo(0.25, 2) },
  },
  dry_run_without_effect: {
    late: true,
    // Between a dry_run rule that would change decisions of other visitors, and one that comes later.
    async make({ make }) {
      const other = { countries: ['NO'], action_mode: 'dry_run' };
      await make('/rules/drop/', { ...other, priority: 10 });
      const path_includes = ['/x/*'];
      const idle = { path_includes, countries: ['KP'], action_mode: 'dry_run', priority: 20 };
      const id = await make('/rules/drop/', idle);
      await make('/rules/drop/', { path_includes, countries: ['KP'], priority: 30 });
      await make('/rules/captcha/', { path_includes: ['/login/*'], action_mode: 'dry_run' });
      return `drop/${id}`;
    },
    visits: () =>
      times(300, (index): Visit => {
        if (index % 10 === 0) return { country: 'KP', target: '/x/1' };
        if (index % 25 === 1) return { country: 'NO' };
        return { target: index % 25 === 2 ? '/login/' : '/' };
      }),
    evidence: { would_change: 0, hidden_at_most: 0 },
  },
  waf_false_positive: {
    late: true,
    make: async ({ make }) => `waf/${await make('/rules/waf/', { action_mode: 'dry_run' })}:11300`,
    visits: (day) =>
      times(240, (index): Visit => {
        if (index % 20 !== 0) return { target: '/' };
        const comment = encodeURIComponent('my union select password from users does not work');
        return {
          target: `/posts/new?comment=${comment}`,
          ip: `198.51.${day}.${index % 250}`,
          headers: { 'user-agent': 'Mozilla/5.0 Firefox/145.0', 'sec-fetch-site': 'same-origin' },
        };
      }),
    evidence: { signature: 11300, places: [expect.objectContaining({ path: '/posts/new' })] },
  },
  split_cache_key: {
    late: true,
    logged: 1,
    make: async () => 'none yet',
    // A busy rule of three days: a hundred entries are of less than an hour.
    during: async ({ make }, day) =>
      day === MONTH - 3 ? `cache/${await make('/rules/cache/', { path_includes: ['/list/*'] })}` : undefined,
    visits: (day) =>
      day <= MONTH - 3
        ? plain(100)
        : times(24 * 110, (index): Visit => {
            const query = index % 2 === 0 ? `page=1&utm_source=mail${day}-${index}` : 'page=2';
            return { target: `/list/shoes?${query}` };
          }),
    evidence: { parameters: [expect.objectContaining({ name: 'utm_source' })], other_parameters: ['page'] },
  },
  uncovered_names: {
    late: false,
    make: async () => 'domain',
    visits: () => times(200, (): Visit => ({ scheme: 'http' })),
    logged: 1,
    evidence: { of: 1, certificates: 0 },
    remedy: async ({ upload, subject }) => void (await upload([`shop.${subject.domain.name}`], 90)),
  },
  expiring_certificate: {
    late: true,
    make: async ({ upload, subject }) =>
      `certificate/${await upload([`shop.${subject.domain.name}`], MONTH + 10)}`,
    remedy: async ({ upload, subject }) => void (await upload([`shop.${subject.domain.name}`], 90)),
  },
  exposed_origin: {
    late: false,
    make: async ({ make }) => `record/${await make('/records/', { name: 'direct', ...A })}`,
  },
  expiring_key: {
    late: true,
    make: async () => 'none yet',
    async during({ api, subject }, day) {
      if (day !== 10) return undefined;
      const { id } = await subject.owner.anotherKey({ name: 'ci', expiry: 30, now: api.now() });
      return `key/${id}`;
    },
    async remedy({ api }, { evidence }) {
      const { key } = evidence as { readonly key: number };
      expect(await revokeKey(api.store, { id: key, now: api.now() })).toBe(true);
    },
  },
  mistaken_rule: {
    late: false,
    make: async ({ make }) =>
      `captcha/${await make('/rules/captcha/', { path_includes: ['/login'] })}:exact_path_guard`,
    visits: () => every(10, { target: '/login' }),
  },
  redirect_circle: {
    late: false,
    async make({ make }) {
      const first = await make('/rules/redirect/', { path_includes: ['/old'], target: '/new' });
      await make('/rules/redirect/', { path_includes: ['/new'], target: '/old' });
      return `redirect/${first}`;
    },
    visits: () => every(10, { target: '/old' }),
    evidence: { urls: [expect.stringMatching(/\/old$/), expect.stringMatching(/\/new$/)] },
    async remedy({ subject }, { evidence }) {
      const { rules } = evidence as { readonly rules: readonly string[] };
      const answer = await subject.ask('PUT', `/rules/${rules[1]}`, { target: '/newest' });
      expect(answer.status, answer.text).toBe(200);
    },
  },
  unknown_operations: {
    late: true,
    make: async ({ make }) =>
      `gateway/${await make('/gateways/', { base_path: '/v1', auth: { require: 'none' } })}`,
    visits: () => every(50, { target: '/v1/orders/4711' }),
    evidence: { of: 1, operations: [{ operation: 'GET /orders/{orderId}', requests: expect.any(Number) }] },
  },
  unused_operations: {
    late: true,
    make: async ({ make }) => `gateway/${await make('/gateways/', ORDERS)}`,
    visits: () => every(5, { target: '/v1/orders' }),
    evidence: { of: 1, operations: ['GET /orders/{id}'] },
    async remedy({ subject }, { evidence }) {
      const { rule } = evidence as { readonly rule: string };
      const operations = ORDERS.operations.slice(0, 1);
      const { status, text } = await subject.ask('PUT', `/gateways/${rule.split('/')[1]}`, {
        ...ORDERS,
        operations,
      });
      expect(status, text).toBe(200);
    },
  },
  unused_consumer_keys: {
    late: true,
    make: async () => 'none yet',
    async during({ api, subject, make }, day) {
      if (day !== 10) return undefined;
      const consumer_id = await make('/consumers/', { username: 'acme' });
      const made = { prefix: '', last4: '', name: 'ci', expires_at: null, created_at: api.now() - 70 * DAY };
      await api.store.write((tx) =>
        tx.consumerKeys.insert({
          ...made,
          domain_id: subject.domain.id,
          consumer_id,
          sha256: 'a'.repeat(64),
        }),
      );
      return 'consumers';
    },
    evidence: { of: 1, keys: [{ consumer: 'acme', name: 'ci', last_used_at: null }] },
    async remedy({ subject }) {
      const { body: consumers } = await subject.ask('GET', '/consumers/');
      const { status, text } = await subject.ask('DELETE', `/consumers/${consumers[0].id}`);
      expect(status, text).toBe(200);
    },
  },
};

test('every kind of recommendation has a scenario', () => {
  const kinds = RECOMMENDATION.options.map(({ shape }) => shape.kind.value);
  expect(Object.keys(SCENARIOS).sort()).toEqual([...kinds].sort());
});

describe.each(testDatabases())('over a month on $kind', requires(OPENSSL_MISSING), (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-kinds-'));
  let api: TestApi;
  let ca: TestAuthority;

  beforeAll(async () => {
    await builtCli();
    ca = makeAuthority(folder);
    api = await startApi(database, { tier: 'business' });
  }, 600_000);
  afterAll(async () => {
    await api?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function sceneOf(subject: Subject): Promise<Scene> {
    const made = async (path: string, body: object): Promise<number> => {
      const answer = await subject.ask('POST', path, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.id;
    };
    await made('/records/', { name: 'shop', ...A, proxied: true });
    return {
      ...{ api, subject, ca, make: made },
      upload(names, days) {
        const { chain, key } = ca.leaf({ names, days });
        return made('/ssl/', { certificate: chain, key });
      },
    };
  }
  const list = async ({ subject }: Scene): Promise<readonly Recommendation[]> => {
    const { status, body, text } = await subject.ask('GET', '/recommendations/');
    expect(status, text).toBe(200);
    return body;
  };
  const ids = async (scene: Scene): Promise<readonly string[]> => (await list(scene)).map(({ id }) => id);

  test.each(Object.entries(SCENARIOS))(
    '%s appears, and is gone after the change',
    async (kind, scenario) => {
      const { visits = () => plain(200), during, remedy, late } = scenario;
      api.ahead = 0;
      const scene = await sceneOf(await addSubject(api));
      const site = await openSite(scene.subject, { logged: scenario.logged ?? 0.01 });
      let id = `${kind}:${await scenario.make(scene)}`;
      if (late) expect(await ids(scene)).not.toContain(id);
      for (let day = 1; day <= MONTH; day++) {
        api.ahead = day * DAY;
        await site.day(visits(day));
        const made = await during?.(scene, day);
        if (made !== undefined) id = `${kind}:${made}`;
        if (made !== undefined && late) expect(await ids(scene)).not.toContain(id);
      }
      const found = (await list(scene)).find((one) => one.id === id);
      expect(found, JSON.stringify(await ids(scene))).toMatchObject({
        kind,
        evidence: scenario.evidence ?? {},
      });
      expect(found!.fix === null).toBe(remedy !== undefined);
      if (remedy === undefined) await apply(scene.subject, found!);
      else await remedy(scene, found!);
      expect(await ids(scene)).not.toContain(id);
      for (let day = MONTH + 1; day <= MONTH + AFTER; day++) {
        api.ahead = day * DAY;
        await site.day(visits(day));
      }
      expect(await ids(scene)).not.toContain(id);
    },
    120_000,
  );

  /** Applies the change of a recommendation with the command, as it is. */
  async function apply(subject: Subject, { fix }: Recommendation): Promise<void> {
    const env = { EDGEPLAN_SERVER: api.url, EDGEPLAN_KEY: subject.owner.key };
    const { code, err } = await edgeplan(['apply', '-f', '-'], { cwd: folder, env, input: fix!.edge_yaml });
    expect(code, err).toBe(0);
  }

  test('a domain whose DNS is elsewhere is not named as one without HTTPS', async () => {
    api.ahead = 0;
    const scene = await sceneOf(await addSubject(api, { mode: 'external' }));
    const site = await openSite(scene.subject, { logged: 1 });
    for (let day = 1; day <= 8; day++) {
      api.ahead = day * DAY;
      await site.day(SCENARIOS.uncovered_names.visits!(day));
    }
    expect(await ids(scene)).toEqual([]);
  });

  test('a domain whose nodes have certificates of their own is not named as one without HTTPS', async () => {
    api.ahead = 0;
    const scene = await sceneOf(await addSubject(api));
    expect(await ids(scene)).toEqual(['uncovered_names:domain']);
    const site = await openSite(scene.subject);
    api.ahead = DAY;
    await site.day(plain(20));
    expect(await ids(scene)).toEqual([]);
  });
});
