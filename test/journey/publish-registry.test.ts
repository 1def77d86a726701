/** From a key over the API to the registry that nodes fetch, on both databases: what a change publishes, and that revoked keys stay revoked. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { type OpenedRegistry, openRegistry } from '../../src/engine/evaluator/index.ts';
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

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

describe.each(testDatabases())('the published registry on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let consumer: number;
  let gateway: number;

  beforeAll(async () => {
    api = await startApi(database);
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    subject = await addSubject(api);
    await good('POST', '/records/', { name: '@', type: 'A', destination: '192.0.2.1', proxied: true });
    consumer = (await good('POST', '/consumers/', { username: 'acme', custom_id: '7' })).id;
    gateway = (await good('POST', '/gateways/', { auth: AUTH })).id;
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function good(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await subject.ask(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  async function publish(): Promise<void> {
    const publisher = createPublisher({ store: api.store, log: SILENT });
    await publisher.publishNow();
    await publisher.stop();
  }
  const current = async () => (await api.store.latest.plans.current(subject.domain.name))!;
  const planOf = async () => {
    const { digest } = await current();
    return openPlan((await api.store.latest.plans.blob(digest!))!).plan;
  };
  /** The registry that the current plan refers to; `null`: none. */
  async function registry(): Promise<OpenedRegistry | null> {
    const digest = registryDigest(await planOf());
    if (digest === null) return null;
    return openRegistry((await api.store.latest.lists.blob(digest))!);
  }
  const newKey = async (): Promise<{ id: number; value: string }> =>
    good('POST', `/consumers/${consumer}/keys/`, {});

  test('a key opens its consumer once it is published, and is unknown once it is revoked', async () => {
    const [first, second] = [await newKey(), await newKey()];
    await publish();
    const opened = (await registry())!;
    expect(opened.key(sha256(first.value))).toMatchObject({ consumer: { username: 'acme', enabled: true } });
    expect(opened.consumerOfClaim('7')?.username).toBe('acme');
    await good('DELETE', `/consumers/${consumer}/keys/${first.id}`);
    await publish();
    const after = (await registry())!;
    expect(after.key(sha256(first.value))).toBeNull();
    expect(after.key(sha256(second.value))).not.toBeNull();
    await good('PUT', `/consumers/${consumer}`, { enabled: false });
    await publish();
    expect((await registry())!.key(sha256(second.value))?.consumer.enabled).toBe(false);
  });

  test('a change of the registry alters the digest in the plan and nothing else', async () => {
    await publish();
    const [before, revision] = [await planOf(), (await current()).revision];
    await newKey();
    await good('POST', '/usage-plans/', { name: 'gold', throttle: { rate: 5 } });
    await publish();
    const after = await planOf();
    expect(registryDigest(after)).not.toBe(registryDigest(before));
    expect({ ...after, lists: null }).toEqual({ ...before, lists: null });
    expect((await current()).revision).toBe(revision + 1);
    expect((await registry())!.usagePlan('gold')).not.toBeNull();
  });

  test('a rollback of the rules brings no revoked key back', async () => {
    const key = await newKey();
    await publish();
    const { revision } = await current();
    await good('DELETE', `/consumers/${consumer}/keys/${key.id}`);
    await good('POST', '/rules/drop/', { action_mode: 'enforce', ips: ['192.0.2.9'] });
    await publish();
    await good('POST', `/plans/${revision}/rollback`);
    expect((await registry())!.key(sha256(key.value))).toBeNull();
    // Nor does a revocation end the rollback, and it takes effect in it.
    const next = await newKey();
    await publish();
    expect((await registry())!.key(sha256(next.value))).not.toBeNull();
    await good('DELETE', `/consumers/${consumer}`);
    await publish();
    expect((await registry())!.key(sha256(next.value))).toBeNull();
    expect((await good('GET', '/plans/'))[0].reason).toContain(`rollback to revision ${revision}`);
  });

  test('a rollback names only plans and issuers that exist, and none of them can be deleted in it', async () => {
    const addPlan = async (): Promise<number> =>
      (await good('POST', '/usage-plans/', { name: 'gold', throttle: { rate: 5 } })).id;
    const gold = await addPlan();
    const named = await good('PUT', `/gateways/${gateway}`, { default_plan: 'gold' });
    expect(named.default_plan).toBe('gold');
    await publish();
    const { revision } = await current();
    await good('PUT', `/gateways/${gateway}`, { default_plan: null });
    await publish();
    await good('DELETE', `/usage-plans/${gold}`);
    await publish();
    const path = `/plans/${revision}/rollback`;
    const refused = await subject.ask('POST', path);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      `revision ${revision} cannot be published: its gateways name the usage plan \`gold\`, which does not exist; add one of that name first`,
    ]);
    const again = await addPlan();
    await good('POST', path);
    const inUse = await subject.ask('DELETE', `/usage-plans/${again}`);
    expect([inUse.status, inUse.body.error]).toEqual([
      409,
      'the usage plan is in use by gateways of the rollback that is current; publish the rules first',
    ]);
    await good('PUT', `/gateways/${gateway}`, { name: 'orders' });
    await publish();
    await good('DELETE', `/usage-plans/${again}`);
  });

  test('a change of the registry waits in no draft', async () => {
    await publish();
    await good('PUT', '/publishing', { publish_mode: 'manual' });
    await good('POST', '/rules/drop/', { action_mode: 'enforce', ips: ['192.0.2.9'] });
    const key = await newKey();
    await publish();
    expect((await registry())!.key(sha256(key.value))).not.toBeNull();
  });

  test('a plan has the registry exactly when a gateway is published', async () => {
    await publish();
    expect(await registry()).not.toBeNull();
    await good('PUT', '/publishing', { publish_mode: 'manual' });
    await good('DELETE', `/gateways/${gateway}`);
    await good('PUT', `/consumers/${consumer}`, { enabled: false });
    await publish();
    expect((await registry())!.consumer('acme')?.enabled).toBe(false);
    await good('DELETE', '/draft');
    await good('PUT', '/publishing', { publish_mode: 'automatic' });
    await good('DELETE', `/gateways/${gateway}`);
    await publish();
    expect(await registry()).toBeNull();
    await newKey();
    await publish();
    expect(await registry()).toBeNull();
    await good('PUT', '/publishing', { publish_mode: 'manual' });
    await good('POST', '/gateways/', { auth: AUTH });
    await publish();
    expect(await registry()).toBeNull();
    await good('POST', '/draft/publish');
    await publish();
    expect((await registry())!.consumer('acme')).not.toBeNull();
  });

  test('the last consumer of a domain with a gateway leaves an empty registry in its plan', async () => {
    await good('DELETE', `/consumers/${consumer}`);
    await publish();
    expect((await registry())!.consumer('acme')).toBeNull();
  });
});
