/**
 * Quotas of usage plans from what nodes report to the registry that nodes fetch, on both databases: who is refused, by which plan, and
 * until when.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { createQuotaWatch } from '../../src/control/registry/quota-watch.ts';
import type { Store } from '../../src/control/store/store.ts';
import { openRegistry } from '../../src/engine/evaluator/index.ts';
import { registryDigest } from '../../src/engine/plan/list-digests.ts';
import { openPlan } from '../../src/engine/plan/seal.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

const AUTH = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const DAY_MS = 86_400_000;
/** A Wednesday. */
const NOON = Date.UTC(2031, 0, 15, 12);
const MIDNIGHT = Date.UTC(2031, 0, 16);

describe.each(testDatabases())('quotas on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let now = NOON;
  /** Sets the clock of the API, too. */
  const goTo = (time: number): void => {
    now = time;
    api.ahead = time - Date.now();
  };

  beforeAll(async () => {
    api = await startApi(database);
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    goTo(NOON);
    subject = await addSubject(api);
    await good('POST', '/records/', { name: '@', type: 'A', destination: '192.0.2.1', proxied: true });
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function good(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await subject.ask(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  const addPlan = async (name: string, quota: object | null): Promise<number> =>
    (await good('POST', '/usage-plans/', { name, quota })).id;
  const addConsumer = async (username: string, usage_plan: string | null): Promise<number> =>
    (await good('POST', '/consumers/', { username, usage_plan })).id;
  const addGateway = (name: string, default_plan: string | null): Promise<void> =>
    good('POST', '/gateways/', {
      ...{ name, base_path: `/${name}`, auth: AUTH },
      ...(default_plan === null ? {} : { default_plan }),
    });
  /** Adds admitted requests of a consumer, `days` days before today. */
  const use = (consumer: string, admitted: number, days = 0): Promise<void> =>
    api.store.write((tx) => {
      const day = (Math.floor(now / DAY_MS) - days) * 1_440;
      return tx.consumerDays.add([
        { domain_id: subject.domain.id, consumer, day, requests: 2 * admitted, admitted },
      ]);
    });
  const check = (): Promise<void> =>
    createQuotaWatch({ store: api.store, clock: () => now, log: SILENT }).round();
  async function publish(): Promise<void> {
    const publisher = createPublisher({ store: api.store, log: SILENT, clock: () => now });
    await publisher.publishNow();
    await publisher.stop();
  }
  const current = async () => (await api.store.latest.plans.current(subject.domain.name))!;
  /** The quotas that a consumer has exhausted, as a node reads them from the registry of the current plan. */
  async function exhausted(username: string): Promise<Record<string, number>> {
    await publish();
    const { plan } = openPlan((await api.store.latest.plans.blob((await current()).digest!))!);
    const registry = openRegistry((await api.store.latest.lists.blob(registryDigest(plan)!))!);
    return Object.fromEntries(registry.consumer(username)!.exhausted);
  }

  test('a consumer that has used its quota has exhausted it until the period ends, and no other has', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    await addGateway('api', null);
    await addConsumer('acme', 'daily');
    await addConsumer('beta', 'daily');
    await use('acme', 9);
    await use('acme', 50, 1);
    await use('beta', 9);
    await check();
    expect(await exhausted('acme')).toEqual({});
    await use('acme', 1);
    await check();
    expect(await exhausted('acme')).toEqual({ daily: MIDNIGHT });
    expect(await exhausted('beta')).toEqual({});
  });

  test('weeks end on Monday, months on the first', async () => {
    await addPlan('weekly', { limit: 10, period: 'week' });
    await addPlan('monthly', { limit: 10, period: 'month' });
    await addGateway('api', null);
    await addConsumer('acme', 'weekly');
    await addConsumer('beta', 'monthly');
    await use('acme', 10, 2);
    await use('beta', 10, 14);
    await check();
    expect(await exhausted('acme')).toEqual({ weekly: Date.UTC(2031, 0, 20) });
    expect(await exhausted('beta')).toEqual({ monthly: Date.UTC(2031, 1, 1) });
  });

  test('the last 30 days end once the days that are left behind make the sum smaller than the limit', async () => {
    await addPlan('rolling', { limit: 10, period: 'rolling_30d' });
    await addGateway('api', null);
    await addConsumer('acme', 'rolling');
    await use('acme', 100, 30);
    await use('acme', 4, 29);
    await use('acme', 5, 27);
    await use('acme', 6, 1);
    await check();
    // 15 requests; 11 without those of 29 days ago; 6 without those of 27 days ago, three midnights from now.
    expect(await exhausted('acme')).toEqual({ rolling: MIDNIGHT + 2 * DAY_MS });
    goTo(now + 3 * DAY_MS);
    await check();
    expect((await api.store.latest.exhaustedQuotas.list(subject.domain.id)).length).toBe(1);
    await use('acme', 4);
    await check();
    expect(await exhausted('acme')).toEqual({ rolling: MIDNIGHT + 28 * DAY_MS });
  });

  test('a consumer without a plan has the quotas of the gateways that it may call, each by its own limit', async () => {
    await addPlan('small', { limit: 10, period: 'day' });
    await addPlan('large', { limit: 100, period: 'day' });
    await addPlan('unused', { limit: 1, period: 'day' });
    await addGateway('a', 'small');
    await addGateway('b', 'large');
    await addConsumer('acme', null);
    await publish();
    await use('acme', 20);
    await check();
    expect(await exhausted('acme')).toEqual({ small: MIDNIGHT });
    await use('acme', 80);
    await check();
    expect(await exhausted('acme')).toEqual({ small: MIDNIGHT, large: MIDNIGHT });
  });

  test('a higher limit, another plan and no quota take effect with the change itself', async () => {
    const plan = await addPlan('daily', { limit: 10, period: 'day' });
    await addPlan('other', { limit: 1_000, period: 'day' });
    await addGateway('api', null);
    const consumer = await addConsumer('acme', 'daily');
    await use('acme', 10);
    await check();
    expect(await exhausted('acme')).toEqual({ daily: MIDNIGHT });
    await good('PUT', `/usage-plans/${plan}`, { quota: { limit: 11, period: 'day' } });
    expect(await exhausted('acme')).toEqual({});
    await good('PUT', `/usage-plans/${plan}`, { quota: { limit: 9, period: 'day' } });
    expect(await exhausted('acme')).toEqual({ daily: MIDNIGHT });
    await good('PUT', `/consumers/${consumer}`, { usage_plan: 'other' });
    expect(await exhausted('acme')).toEqual({});
    await good('PUT', `/consumers/${consumer}`, { usage_plan: 'daily' });
    await good('PUT', `/usage-plans/${plan}`, { quota: null });
    expect(await exhausted('acme')).toEqual({});
    const shown = await good('GET', `/usage-plans/${plan}`);
    expect(shown.quota).toBeNull();
  });

  test('the use of a consumer says what is left of its quota, until when it is refused, and the bound', async () => {
    const throttle = { rate: 5, per_sec: 60, burst: 1 };
    await good('POST', '/usage-plans/', { name: 'daily', throttle, quota: { limit: 10, period: 'day' } });
    await addPlan('free', { limit: 1_000, period: 'rolling_30d' });
    await addGateway('api', 'free');
    const acme = await addConsumer('acme', 'daily');
    const beta = await addConsumer('beta', null);
    await publish();
    const quotasOf = async (id: number): Promise<unknown> =>
      (await good('GET', `/consumers/${id}/usage`)).quotas;
    await use('acme', 7);
    await use('beta', 40, 20);
    const nodes = (await api.store.latest.nodes.list()).filter(({ revoked_at }) => revoked_at === null);
    await api.store.write((tx) => createNode(tx, `quota-${database.kind}-${subject.domain.id}`, now));
    const state = { usage_plan: 'daily', limit: 10, period: 'day', resets_at: '2031-01-16T00:00:00.000Z' };
    // Two minutes have parts of at most three windows of six requests, at each node.
    const overshoot = 18 * (nodes.length + 1);
    expect(await quotasOf(acme)).toEqual([
      { ...state, used: 7, remaining: 3, exhausted_until: null, overshoot },
    ]);
    await use('acme', 5);
    await check();
    expect(await quotasOf(acme)).toEqual([
      { ...state, used: 12, remaining: 0, exhausted_until: state.resets_at, overshoot },
    ]);
    expect(await quotasOf(beta)).toEqual([
      {
        ...{ usage_plan: 'free', limit: 1_000, period: 'rolling_30d', used: 40, remaining: 960 },
        ...{ exhausted_until: null, resets_at: state.resets_at, overshoot: null },
      },
    ]);
  });

  test('nothing is published while nothing changes, and a new period is published to nobody', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    await addGateway('api', null);
    await addConsumer('acme', 'daily');
    await use('acme', 10);
    await check();
    await publish();
    const { revision } = await current();
    await use('acme', 5);
    await check();
    await publish();
    goTo(MIDNIGHT);
    await check();
    await publish();
    expect((await current()).revision).toBe(revision);
    await use('acme', 10);
    await check();
    expect(await exhausted('acme')).toEqual({ daily: MIDNIGHT + DAY_MS });
  });

  test('a consumer that is deleted leaves nothing behind', async () => {
    await addPlan('daily', { limit: 1, period: 'day' });
    await addGateway('api', null);
    const consumer = await addConsumer('acme', 'daily');
    await use('acme', 1);
    await check();
    await good('DELETE', `/consumers/${consumer}`);
    expect(await api.store.latest.exhaustedQuotas.list(subject.domain.id)).toEqual([]);
  });

  test('a consumer that is deleted and created again goes on with the requests of its username', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    await addPlan('rolling', { limit: 10, period: 'rolling_30d' });
    await addGateway('api', null);
    const first = await addConsumer('acme', 'daily');
    await addConsumer('beta', 'rolling');
    await use('acme', 10);
    await use('beta', 10);
    await check();
    await good('DELETE', `/consumers/${first}`);
    const second = await addConsumer('acme', 'daily');
    const both = [await exhausted('acme'), await exhausted('beta')];
    expect(both).toEqual([{ daily: MIDNIGHT }, { rolling: MIDNIGHT + 29 * DAY_MS }]);
    // Under another name it begins at 0, and the name alone has the requests.
    await good('PUT', `/consumers/${second}`, { username: 'gamma' });
    expect(await exhausted('gamma')).toEqual({});
    await addConsumer('acme', null);
    expect(await exhausted('acme')).toEqual({});
  });

  test('a key is revoked without a sum of the domain', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    const { id } = await good('POST', '/consumers/', { username: 'acme', usage_plan: 'daily' });
    await use('acme', 10);
    await good('POST', `/consumers/${id}/keys/`, {});
    expect(await api.store.latest.exhaustedQuotas.list(subject.domain.id)).toEqual([]);
    await check();
    const stored = await api.store.latest.exhaustedQuotas.list(subject.domain.id);
    expect(stored).toMatchObject([{ consumer_id: id, until: MIDNIGHT }]);
  });

  /** Notifications of consumers' quotas that the owner of the domain has, oldest first. */
  async function notices(): Promise<readonly { readonly kind: string; readonly data: QuotaNotice }[]> {
    const owner = (await api.store.latest.domains.get(subject.domain.id))!.user_id;
    const page = { before: Number.MAX_SAFE_INTEGER, limit: 500, unread: false };
    const rows = await api.store.latest.notifications.list(owner, page);
    return rows
      .filter(({ kind, domain }) => kind.startsWith('consumer_quota.') && domain === subject.domain.name)
      .map(({ kind, data_json }) => ({ kind, data: JSON.parse(data_json) }))
      .reverse();
  }
  interface QuotaNotice {
    readonly count: number;
    readonly quotas: readonly { readonly consumer: string; readonly used: number }[];
  }
  const noticed = async (): Promise<readonly string[]> =>
    (await notices()).map(({ kind, data: { count, quotas } }) => {
      const named = quotas.map(({ consumer, used }) => `${consumer} ${used}`).join(', ');
      return `${kind.slice('consumer_quota.'.length)} ${count}: ${named}`;
    });

  test('a quota is notified of at 80 and 100 % once in a period, to the owner of the domain', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    await addConsumer('acme', 'daily');
    await use('acme', 7);
    await check();
    expect(await noticed()).toEqual([]);
    await use('acme', 1);
    await check();
    await check();
    expect(await noticed()).toEqual(['near 1: acme 8']);
    await use('acme', 2);
    await check();
    goTo(now + 2 * 3_600_000);
    await use('acme', 5);
    await check();
    expect(await noticed()).toEqual(['near 1: acme 8', 'reached 1: acme 10']);
    const [near] = await notices();
    expect(near!.data.quotas).toEqual([
      { consumer: 'acme', usage_plan: 'daily', used: 8, limit: 10, period: 'day' },
    ]);
    goTo(MIDNIGHT + 1);
    await check();
    expect(await api.store.latest.quotaLevels.list(subject.domain.id)).toEqual([]);
    await use('acme', 10);
    await check();
    expect((await noticed()).slice(2)).toEqual(['reached 1: acme 10']);
  });

  test('a quota of the last 30 days is notified of again once its use was below the level', async () => {
    await addPlan('rolling', { limit: 10, period: 'rolling_30d' });
    await addConsumer('acme', 'rolling');
    await use('acme', 4, 29);
    await use('acme', 6);
    await check();
    goTo(now + DAY_MS);
    await check();
    expect(await noticed()).toEqual(['reached 1: acme 10']);
    await use('acme', 2);
    await check();
    await use('acme', 2);
    await check();
    expect(await noticed()).toEqual(['reached 1: acme 10', 'near 1: acme 8', 'reached 1: acme 10']);
  });

  test('consumers share one notification of a level in an hour, which names ten and counts all', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    const names = Array.from({ length: 13 }, (_, index) => `c${String(index).padStart(2, '0')}`);
    for (const name of names) await addConsumer(name, 'daily');
    for (const name of names.slice(0, 12)) await use(name, 8);
    await check();
    const named = names.slice(0, 10).map((name) => `${name} 8`);
    expect(await noticed()).toEqual([`near 12: ${named.join(', ')}`]);
    await use('c12', 8);
    await check();
    expect((await noticed()).length).toBe(1);
    await use('c00', 2);
    await check();
    expect((await noticed()).slice(1)).toEqual(['reached 1: c00 10']);
    goTo(now + 3_600_000);
    await check();
    expect((await noticed()).slice(2)).toEqual(['near 1: c12 8']);
  });

  test('a higher limit lowers the level, and a use that reaches it again is notified of', async () => {
    const plan = await addPlan('daily', { limit: 10, period: 'day' });
    await addConsumer('acme', 'daily');
    await use('acme', 10);
    await check();
    await good('PUT', `/usage-plans/${plan}`, { quota: { limit: 12, period: 'day' } });
    goTo(now + 3_600_000);
    await check();
    await use('acme', 2);
    await check();
    expect(await noticed()).toEqual(['reached 1: acme 10', 'reached 1: acme 12']);
  });

  test('four watches on one database notify once', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    await addConsumer('acme', 'daily');
    await use('acme', 10);
    await Promise.all([check(), check(), check(), check()]);
    expect(await noticed()).toEqual(['reached 1: acme 10']);
    expect((await api.store.latest.exhaustedQuotas.list(subject.domain.id)).length).toBe(1);
  });

  test('a notification that is not written leaves its level unrecorded', async () => {
    await addPlan('daily', { limit: 10, period: 'day' });
    await addConsumer('acme', 'daily');
    await use('acme', 8);
    const failing: Store = {
      ...api.store,
      write: (work) =>
        api.store.write(async (tx) => {
          await work(tx);
          throw new Error('the process ends before the commit');
        }),
    };
    await createQuotaWatch({ store: failing, clock: () => now, log: SILENT }).round();
    expect(await noticed()).toEqual([]);
    await check();
    expect(await noticed()).toEqual(['near 1: acme 8']);
  });
});
