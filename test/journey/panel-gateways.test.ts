/**
 * The gateways of a domain in the page over the management API: consumers and their keys, usage plans, token issuers, use, discovered
 * operations. A key is made in the page, used against a node, and revoked in the page.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import { ask } from '../support/ask.ts';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { openSection, said, signIn, tabTo } from '../support/panel.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { FORWARDED, storeTraffic } from '../support/traffic-requests.ts';
import { startWorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 90_000;
const AUTH = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const SECTION = '&section=gateways';

let server: Served;
let store: Store;
beforeAll(async () => {
  await builtCli();
  server = await serve({ args: ['--requests-per-minute', '1000000'] });
  store = await openStore({ database: server.data[1]!, role: 'tool' });
}, 240_000);
afterAll(async () => {
  await store.close();
  await server.stop();
});

/** Adds an object to a domain, and returns its id. */
async function add(domain: string, list: string, body: object): Promise<number> {
  const made = await server.call('POST', `/domains/${domain}/${list}/?wait=published`, body);
  expect(made.status, made.text).toBe(200);
  return made.body.id;
}

/** Makes an active domain with a proxied record and a gateway, and returns the id of the gateway. */
async function makeApi(domain: string, port = 80): Promise<number> {
  await server.domain(domain);
  const record = { name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true };
  await add(domain, 'records', record);
  const operations = [{ operation_id: 'listOrders', methods: ['GET'], path: '/orders' }];
  return add(domain, 'gateways', { base_path: '/v1', name: 'orders', auth: AUTH, operations });
}

async function domainId(domain: string): Promise<number> {
  return (await server.call('GET', `/domains/${domain}`)).body.id;
}

/** A key of another account with a role on a domain. */
async function memberKey(domain: string, role: string): Promise<string> {
  await edgeplan(['account', 'create', role, ...server.data], { cwd: server.folder });
  const made = await edgeplan(['key', 'create', role, ...server.data], { cwd: server.folder });
  const key = made.out.trim();
  expect((await server.run(['member', 'invite', domain, role, '--role', role])).code).toBe(0);
  const env = { EDGEPLAN_SERVER: server.url, EDGEPLAN_KEY: key };
  const member = (...args: readonly string[]) => edgeplan(args, { cwd: server.folder, env });
  const { invitations } = JSON.parse((await member('invitation', 'list', '--json')).out);
  expect((await member('invitation', 'accept', String(invitations[0].id))).code).toBe(0);
  return key;
}

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('in a browser', requires(missingBrowser()), () => {
  let browser: Browser;
  let page: Page;
  let watch: Watch;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    ({ page, watch } = await openWatched(browser));
  });
  afterEach(() => page.close());

  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const control = (path: string) => page.locator(`[id="of-${path}"]`);
  const closed = (): Promise<void> => page.getByRole('dialog').waitFor({ state: 'detached' });
  /** Complaints but for the refusals that a test asks for. */
  const complaints = (): readonly string[] =>
    watch.complaints.filter((one) => !/status of 40[39]/.test(one) && !/status of 400/.test(one));

  /** Opens a place of the section. */
  const open = (domain: string, place: string, key = server.key): Promise<void> =>
    signIn(page, server, { domain, key, fragment: `${SECTION}&place=${place}` });

  test('a key is made with the keyboard alone, shown once, works at a node, and stops working once it is revoked', async () => {
    const domain = 'keys.shop.test';
    const origin = createServer((request, response) =>
      request.resume().on('end', () => response.end('origin')),
    );
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    await makeApi(domain, (origin.address() as AddressInfo).port);
    const env = { ...(await server.node('eu-1')), EDGEPLAN_CONTROL: server.url };
    const node = await startWorkerNode(['--data', join(server.folder, 'node')], { cwd: server.folder, env });
    const statusOf = async (key: string): Promise<number> =>
      (await ask(node.port, '/v1/orders', { host: domain, headers: { 'x-api-key': key } })).status;
    try {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await open(domain, 'consumers');
      await page.getByText('This domain has no consumers yet.').waitFor();
      await tabTo(page, 'New consumer');
      await page.keyboard.press('Enter');
      await control('username').waitFor();
      await tabTo(page, 'of-username');
      await page.keyboard.type('acme');
      await until(() => page.getByRole('button', { name: 'Add and publish' }).isEnabled(), 'the check');
      await page.keyboard.press('Enter');
      await said(page, /The consumer is added\. Published/);
      await tabTo(page, 'acme');
      await page.keyboard.press('Enter');
      await page.getByText('This consumer has no key yet.').waitFor();
      await tabTo(page, 'New key');
      await page.keyboard.press('Enter');
      await control('name').waitFor();
      await tabTo(page, 'of-name');
      await page.keyboard.type('ci');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'The key of acme' }).waitFor();
      const key = String(await page.getByLabel('API key').textContent());
      expect(key).toMatch(/^epk_[\w-]{43}$/);
      await tabTo(page, 'Copy');
      await page.keyboard.press('Enter');
      await page.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
      // Escape does not lose what nobody can show again.
      await page.keyboard.press('Escape');
      await page.getByText('Nobody can show this key again.').waitFor();
      await tabTo(page, 'I have stored the key');
      await page.keyboard.press('Enter');
      await closed();
      expect(await page.content()).not.toContain(key);
      const row = page.getByRole('row').filter({ hasText: `${key.slice(0, 8)}…${key.slice(-4)}` });
      await row.getByText('✔ in force').waitFor();
      await until(async () => (await statusOf(key)) === 200, 'the key at the node', PATIENCE_MS);
      expect(await statusOf(`${key.slice(0, -1)}!`)).toBe(401);

      await tabTo(page, `Revoke ${key.slice(0, 8)}`);
      await page.keyboard.press('Enter');
      await page.getByText('acme has no other key in force').waitFor();
      await tabTo(page, 'Revoke the key');
      await page.keyboard.press('Enter');
      await said(page, /Key \d+ of acme is revoked\. Published/);
      await row.getByText('revoked').waitFor();
      expect(await row.getByRole('button').count()).toBe(0);
      await until(async () => (await statusOf(key)) === 401, 'the revocation at the node', PATIENCE_MS);
      expect(complaints()).toEqual([]);
    } finally {
      node.signal('SIGTERM');
      await node.ended;
      origin.closeAllConnections();
      await new Promise((resolve) => origin.close(resolve));
    }
  });

  test('two keys are the most, and the other stays in force when one is revoked', async () => {
    const domain = 'two.shop.test';
    await makeApi(domain);
    const id = await add(domain, 'consumers', { username: 'acme' });
    for (const name of ['old', 'new']) await add(domain, `consumers/${id}/keys`, { name });
    await open(domain, `consumers/${id}`);
    await page.getByText('2 keys are in force').waitFor();
    expect(await page.getByRole('button', { name: 'New key' }).isDisabled()).toBe(true);
    await page.getByRole('row').filter({ hasText: 'old' }).getByRole('button').click();
    await page.getByText('The other key of acme stays in force.').waitFor();
    await press('Revoke the key');
    await closed();
    await until(() => page.getByRole('button', { name: 'New key' }).isEnabled(), 'room for a key');
    expect(complaints()).toEqual([]);
  });

  test('a consumer is enabled, edited and deleted, and a refusal is at the field that it names', async () => {
    const domain = 'edit.shop.test';
    await makeApi(domain);
    await add(domain, 'usage-plans', { name: 'gold' });
    await add(domain, 'consumers', { username: 'taken' });
    const id = await add(domain, 'consumers', { username: 'acme', group: 'partners' });
    const path = `/domains/${domain}/consumers/${id}`;
    await open(domain, 'consumers');
    await page.getByRole('switch', { name: 'acme enabled' }).focus();
    await page.keyboard.press('Space');
    await said(page, /Consumer acme is disabled\. Published/);
    expect((await server.call('GET', path)).body.enabled).toBe(false);
    await press('acme');
    await press('Edit');
    await control('username').fill('taken');
    await page.locator('#of-username-mistake').getByText('is the username of consumer').waitFor();
    await control('username').fill('acme');
    await control('group').fill('');
    await control('usage_plan').selectOption('gold');
    await press('Add metadata');
    await control('metadata[0].key').fill('contract');
    await control('metadata[0].value').fill('2026-117');
    await until(() => page.getByRole('button', { name: 'Save and publish' }).isEnabled(), 'the check');
    await press('Save and publish');
    await said(page, /Consumer acme is saved\. Published/);
    expect((await server.call('GET', path)).body).toMatchObject({
      ...{ group: null, usage_plan: 'gold', metadata: { contract: '2026-117' } },
    });
    await page.getByText('2026-117').waitFor();
    await press('Delete');
    await press('Delete the consumer');
    await said(page, /Consumer acme is deleted\. Published/);
    await page.getByRole('row').filter({ hasText: 'taken' }).waitFor();
    expect((await server.call('GET', path)).status).toBe(404);
    expect(complaints()).toEqual([]);
  });

  test('a change by somebody else is not overwritten', async () => {
    const domain = 'changed.shop.test';
    await makeApi(domain);
    const id = await add(domain, 'consumers', { username: 'acme' });
    await open(domain, 'consumers');
    await page.getByRole('switch', { name: 'acme enabled' }).waitFor();
    // The page asks for revisions no more, and so goes on showing what it has read.
    await page.route('**/plans/**', () => undefined);
    await server.call('PUT', `/domains/${domain}/consumers/${id}`, { group: 'partners' });
    await page.getByRole('switch', { name: 'acme enabled' }).click();
    await said(page, /Nothing was changed: somebody else has changed it/);
    await page.getByRole('cell', { name: 'partners' }).waitFor();
    expect((await server.call('GET', `/domains/${domain}/consumers/${id}`)).body.enabled).toBe(true);
  });

  test('usage plans and token issuers are made, and one in use is not deleted', async () => {
    const domain = 'plans.shop.test';
    await makeApi(domain);
    await open(domain, 'usage-plans');
    await press('New usage plan');
    await control('name').fill('gold');
    await press('Add throttle');
    await control('throttle[0].rate').fill('0');
    await page.locator('[id="of-throttle[0].rate-mistake"]').getByText('must be 1 to').waitFor();
    await control('throttle[0].rate').fill('50');
    await press('Add quota');
    await control('quota[0].limit').fill('1000');
    await control('quota[0].period').selectOption('month');
    await until(() => page.getByRole('button', { name: 'Add and publish' }).isEnabled(), 'the check');
    await press('Add and publish');
    await page.getByRole('cell', { name: '1,000 a month' }).waitFor();
    const [plan] = (await server.call('GET', `/domains/${domain}/usage-plans/`)).body;
    const throttle = { rate: 50, per_sec: 1, burst: 0 };
    expect(plan).toMatchObject({ name: 'gold', throttle, quota: { limit: 1000, period: 'month' } });
    await press('gold');
    await press('Remove quota');
    await until(() => page.getByRole('button', { name: 'Save and publish' }).isEnabled(), 'the check');
    await press('Save and publish');
    await closed();
    expect((await server.call('GET', `/domains/${domain}/usage-plans/${plan.id}`)).body.quota).toBeNull();
    await add(domain, 'consumers', { username: 'acme', usage_plan: 'gold' });
    await press('Delete gold');
    await press('Delete the usage plan');
    await said(page, /The usage plan is in use by the consumers `acme`/);
    await page.getByRole('row').filter({ hasText: 'gold' }).waitFor();

    await page.getByRole('tab', { name: 'Token issuers' }).click();
    await press('New token issuer');
    await control('name').fill('login');
    await control('issuer').fill('https://login.example.com/');
    await control('audiences').fill('https://api.example.com');
    await press('Add public key');
    await control('keys[0].kty').selectOption('OKP');
    await control('keys[0].crv').selectOption('Ed25519');
    await control('keys[0].x').fill('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo');
    await press('Add required claim');
    await control('required_claims[0].key').fill('email_verified');
    await control('required_claims[0].value').fill('true');
    await until(() => page.getByRole('button', { name: 'Add and publish' }).isEnabled(), 'the check');
    await press('Add and publish');
    await page.getByText('1 listed here').waitFor();
    const [issuer] = (await server.call('GET', `/domains/${domain}/token-issuers/`)).body;
    expect(issuer).toMatchObject({
      ...{ name: 'login', jwks_url: null, required_claims: { email_verified: true } },
      keys: [{ kty: 'OKP', crv: 'Ed25519' }],
    });
    expect(complaints()).toEqual([]);
  });

  test.each(['viewer', 'read-only key'])('a %s sees everything and is offered no change', async (kind) => {
    const domain = `${kind.slice(0, 4)}.shop.test`;
    await makeApi(domain);
    await add(domain, 'usage-plans', { name: 'gold' });
    const id = await add(domain, 'consumers', { username: 'acme' });
    await add(domain, `consumers/${id}/keys`, { name: 'ci' });
    const reader = ['key', 'create', 'owner', '--name', 'reader', '--read-only', ...server.data];
    const key =
      kind === 'viewer'
        ? await memberKey(domain, kind)
        : (await edgeplan(reader, { cwd: server.folder })).out.trim();
    await open(domain, 'consumers', key);
    const offered = (): Promise<number> =>
      page.getByRole('button', { name: /^(?:New |Delete|Revoke|Edit)/ }).count();
    await page.getByRole('row').filter({ hasText: 'acme' }).waitFor();
    expect([await offered(), await page.getByRole('switch').count()]).toEqual([0, 0]);
    await press('acme');
    await page.getByText('✔ in force').waitFor();
    expect([await offered(), await page.getByRole('switch').count()]).toEqual([0, 0]);
    for (const tab of ['Gateways', 'Usage plans', 'Token issuers']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('heading', { name: tab, level: 2 }).waitFor();
      expect(await offered(), tab).toBe(0);
    }
    await page.getByRole('tab', { name: 'Usage plans' }).click();
    await press('gold');
    await control('name').waitFor();
    expect(await control('name').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save and publish' }).count()).toBe(0);
    expect(complaints()).toEqual([]);
  });

  test('10,000 consumers are shown page by page, and one is found by its name', async () => {
    const domain = 'many.shop.test';
    await makeApi(domain);
    const domain_id = await domainId(domain);
    await add(domain, 'consumers', { username: 'first' });
    const [first] = await store.read((tx) => tx.consumers.page(domain_id, { after: 0, limit: 1 }));
    const { id: _, body, ...columns } = first!;
    // A transaction has a time limit: a few hundred rows each, however busy the machine.
    for (let from = 1; from < 10_000; from += 500) {
      await store.write(async (tx) => {
        for (let number = from; number < Math.min(from + 500, 10_000); number++) {
          const username = `consumer-${number}`;
          const settings = JSON.stringify({ ...(JSON.parse(body) as object), username });
          await tx.consumers.insert({ ...columns, username, body: settings });
        }
      });
    }
    await open(domain, 'consumers');
    await page.getByText('1 to 50 of 10,000').waitFor();
    expect(await page.getByRole('row').count()).toBe(51);
    await press('Next');
    await page.getByText('51 to 100 of 10,000').waitFor();
    expect(await page.getByRole('row').count()).toBe(51);
    await page.getByRole('row').filter({ hasText: 'consumer-50' }).first().waitFor();
    await press('Previous');
    await page.getByText('1 to 50 of 10,000').waitFor();
    expect(await page.getByRole('button', { name: 'Previous' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('Username').fill('consumer-9876');
    await page.keyboard.press('Enter');
    await page.getByText('1 with this username').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('Username').fill('consumer');
    await page.keyboard.press('Enter');
    await page.getByText('No consumer has the username consumer.').waitFor();
    await press('Show all');
    await page.getByText('1 to 50 of 10,000').waitFor();
    // No call of the page reads more than a page of the list.
    const lists = watch.requests.filter((one) => one.includes('/consumers/?'));
    expect(lists.every((one) => one.includes('limit=50') || one.includes('username='))).toBe(true);
    expect(complaints()).toEqual([]);
  });

  /** A domain with everything that the section shows. */
  async function makeFull(domain: string): Promise<{ readonly gateway: number; readonly consumer: number }> {
    const gateway = await makeApi(domain);
    await add(domain, 'usage-plans', {
      name: 'gold',
      throttle: { rate: 50 },
      quota: { limit: 50, period: 'month' },
    });
    const consumer = await add(domain, 'consumers', {
      ...{ username: 'acme', usage_plan: 'gold', group: 'partners', labels: ['eu', 'beta'] },
      ...{ acl: ['listOrders'], metadata: { contract: '2026-117' }, expires_at: '2030-12-31T23:59:59Z' },
    });
    await add(domain, `consumers/${consumer}/keys`, { name: 'ci', expires_at: '2031-01-01T00:00:00Z' });
    await add(domain, 'token-issuers', {
      ...{ name: 'login', issuer: 'https://login.example.com/', audiences: ['https://api.example.com'] },
      jwks_url: 'https://127.0.0.1:44300/jwks.json',
    });
    const use = { gateway, consumer: 'acme', operation: 'listOrders', key: null };
    const matches = [{ type: 'gateway', id: gateway, mode: 'enforce', effect: 'admit' } as const];
    const requests = Array.from({ length: 60 }, (_, index) => {
      const isAdmitted = index % 6 !== 0;
      return {
        ...{ at: Date.now() - 60_000, status: isAdmitted ? 200 : 429, method: 'GET', path: '/v1/orders' },
        gateway: { ...use, isAdmitted },
      };
    });
    const outcome = { reason: 'admitted', operation: null, consumer: 'acme' } as const;
    const unknown = Array.from({ length: 40 }, () => ({
      ...{ at: Date.now() - 60_000, status: 200, method: 'POST', path: '/v1/refunds' },
      decided: { ...FORWARDED, matches, gateway: outcome },
      gateway: { ...use, operation: '', isAdmitted: true },
    }));
    const domain_id = await domainId(domain);
    await storeTraffic(store, domain_id, [...requests, ...unknown]);
    // What quotas count is stored by day, as the reports of nodes arrive.
    const day = Math.floor(Date.now() / 86_400_000) * 1_440;
    await store.write((tx) =>
      tx.consumerDays.add([{ domain_id, consumer: 'acme', day, requests: 100, admitted: 90 }]),
    );
    return { gateway, consumer };
  }

  test('the use of a gateway and of a consumer is divided, with the quota and its bound', async () => {
    const domain = 'use.shop.test';
    const { gateway, consumer } = await makeFull(domain);
    await open(domain, `consumers/${consumer}`);
    const quota = page.getByRole('table', { name: 'Quotas' }).getByRole('row').nth(1);
    await quota.getByText('90 of 50').waitFor();
    expect(await quota.textContent()).toMatch(/none: no edge serves the domain|at most [\d,]+ requests/);
    const cells = (table: string): Promise<readonly string[]> =>
      page.getByRole('table', { name: table }).getByRole('row').allTextContents();
    await page.getByRole('table', { name: 'Requests by operation' }).waitFor();
    expect(await cells('Requests by operation')).toEqual([
      'OperationRequestsAdmittedRefused',
      'listOrders605010',
      'no operation40400',
      'in all1009010',
    ]);
    await page.getByLabel('by', { exact: true }).selectOption('gateway');
    await page.getByRole('table', { name: 'Requests by gateway' }).waitFor();
    expect((await cells('Requests by gateway'))[1]).toBe(`#${gateway} /v11009010`);
    await page.getByRole('tab', { name: 'Gateways' }).click();
    await press(`#${gateway} /v1`);
    await page.getByLabel('by', { exact: true }).selectOption('status');
    await page.getByRole('table', { name: 'Requests by status' }).waitFor();
    expect(await cells('Requests by status')).toEqual([
      'StatusRequestsAdmittedRefused',
      '20090900',
      '42910010',
      'in all1009010',
    ]);
    expect((await cells('Operations'))[1]).toMatch(/^GET \/orderslistOrders6060/);
    expect((await cells('Discovered operations'))[1]).toBe('POST /refunds40');
    await page
      .getByText(`edgeplan gateway draft --domain ${domain} --gateway ${gateway} -o openapi.yaml`)
      .waitFor();
    await until(() => page.url().includes(`place=gateways%2F${gateway}`), 'the address');
    await page.reload();
    await page.getByLabel('API key').waitFor();
    await page.keyboard.type(server.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '/v1 orders' }).waitFor();
    expect(complaints()).toEqual([]);
  });

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 320],
  ] as const)(
    'every view is free of violations and not wider than its window: %s, %i px',
    async (colorScheme, width) => {
      const domain = `axe-${colorScheme}-${width}.shop.test`;
      const { gateway } = await makeFull(domain);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 850 });
      await open(domain, '');
      const shown = async (name: string): Promise<void> => {
        expect(await accessFaults(page), name).toEqual([]);
        /*SHOT*/
      };
      await page.getByRole('table', { name: 'Gateways' }).waitFor();
      await shown('gateways');
      await press(`#${gateway} /v1`);
      await page.getByText('The command that drafts').waitFor();
      await page.getByRole('table', { name: 'Requests by consumer' }).waitFor();
      await shown('gateway');
      await page.getByRole('tab', { name: 'Consumers' }).click();
      await page.getByRole('table', { name: 'Consumers' }).waitFor();
      await shown('consumers');
      await press('New consumer');
      await control('username').fill('not a name');
      await page.locator('#of-username-mistake').getByText(/./).waitFor();
      await shown('new consumer');
      await page.keyboard.press('Escape');
      await press('acme');
      await page.getByRole('table', { name: 'Requests by operation' }).waitFor();
      await page.getByRole('table', { name: 'Quotas' }).waitFor();
      await shown('consumer');
      await press('New key');
      await press('Create the key');
      await page.getByRole('heading', { name: 'The key of acme' }).waitFor();
      await shown('key');
      await press('I have stored the key');
      await page
        .getByRole('button', { name: /^Revoke/ })
        .first()
        .click();
      await shown('revoke');
      await page.keyboard.press('Escape');
      await page.getByRole('tab', { name: 'Usage plans' }).click();
      await page.getByRole('table', { name: 'Usage plans' }).waitFor();
      await shown('usage plans');
      await press('gold');
      await control('throttle[0].rate').waitFor();
      await shown('usage plan');
      await page.keyboard.press('Escape');
      await page.getByRole('tab', { name: 'Token issuers' }).click();
      await page.getByRole('table', { name: 'Token issuers' }).waitFor();
      await shown('token issuers');
      await press('New token issuer');
      await press('Add public key');
      await shown('token issuer');
    },
  );

  test('the section is a link, loads no chunk before it is opened, and arrow keys move among its parts', async () => {
    const domain = 'link.shop.test';
    await makeApi(domain);
    await signIn(page, server, { domain });
    const chunks = (): boolean => watch.requests.some((one) => one.includes('gateways-section'));
    await page.getByRole('tab', { name: 'Trace' }).waitFor();
    expect(chunks()).toBe(false);
    await openSection(page, 'Gateways');
    await page.getByRole('tab', { name: 'Gateways' }).focus();
    expect(chunks()).toBe(true);
    await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { name: 'Consumers', level: 2 }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: 'Token issuers', level: 2 }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('tab-token-issuers');
    await until(() => page.url().includes('place=token-issuers'), 'the address');
    await openSection(page, 'Records');
    await until(() => !page.url().includes('place='), 'the address');
    expect(watch.complaints).toEqual([]);
  });
});
