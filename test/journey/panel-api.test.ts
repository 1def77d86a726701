/** The page that `edgeplan serve` serves: octets of plans over the API, and the page in a browser, from the sign-in to a rollback. */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import {
  dropsOf as drops,
  makeShop as makeShopOn,
  openSection,
  type Shop,
  said as saidOn,
  signIn as signInOn,
  tabTo,
} from '../support/panel.ts';
import { waitForDecision } from '../support/play.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

let server: Served;
beforeAll(async () => {
  await builtCli();
  server = await serve({ args: ['--requests-per-minute', '1000000'] });
}, 240_000);
afterAll(() => server.stop());

const makeShop = (domain: string): Promise<Shop> => makeShopOn(server, domain);

/** Makes another key of the owner. */
async function anotherKey(...args: readonly string[]): Promise<string> {
  const made = await edgeplan(['key', 'create', 'owner', ...args, ...server.data], { cwd: server.folder });
  expect(made.code, made.err).toBe(0);
  return made.out.trim();
}

const sha256 = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex');

describe('what the server answers', () => {
  test('the page, its files and the fields of its forms need no key, and have the policy', async () => {
    for (const path of ['/panel/', '/panel/page.js', '/panel/page.css', '/panel/fields.json']) {
      const answer = await fetch(`${server.url}${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers.get('content-security-policy'), path).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/,
      );
      const tag = answer.headers.get('etag')!.replace('W/', '');
      const again = await fetch(`${server.url}${path}`, { headers: { 'if-none-match': tag } });
      expect([path, again.status]).toEqual([path, 304]);
    }
    expect((await fetch(`${server.url}/panel/nothing.js`)).status).toBe(404);
    expect((await fetch(`${server.url}/panel/`, { method: 'POST' })).status).toBe(405);
    const moved = await fetch(`${server.url}/panel`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/panel/']);
    expect(server.said()).toContain(`page: ${server.url}/panel/`);
  });

  test('the octets of a revision are those of its digest, also in gzip, and have a tag', async () => {
    await makeShop('octets.example');
    const [newest] = (await server.call('GET', '/domains/octets.example/plans/')).body;
    const url = `${server.url}/domains/octets.example/plans/${newest.revision}/bytes`;
    const headers = { authorization: `Bearer ${server.key}` };
    const answer = await fetch(url, { headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(sha256(new Uint8Array(await answer.arrayBuffer()))).toBe(newest.digest);
    expect(answer.headers.get('edgeplan-digest')).toBe(`sha256:${newest.digest}`);
    const known = { ...headers, 'if-none-match': answer.headers.get('etag')! };
    expect((await fetch(url, { headers: known })).status).toBe(304);
    expect((await fetch(url)).status).toBe(401);
    const none = await server.call('GET', '/domains/octets.example/plans/99/bytes');
    expect([none.status, none.body]).toEqual([404, { error: 'not found' }]);
    expect((await server.call('GET', '/domains/octets.example/plans/1/signatures')).status).toBe(404);
  });

  test('signatures come with the plan whose `waf` rules need them', async () => {
    const path = '/domains/octets.example';
    const made = await server.call('POST', `${path}/rules/waf/?wait=published`, { paranoia: 1 });
    expect(made.status).toBe(200);
    const [newest] = (await server.call('GET', `${path}/plans/`)).body;
    const headers = { authorization: `Bearer ${server.key}` };
    const plan = await fetch(`${server.url}${path}/plans/${newest.revision}/bytes`, { headers });
    const [, digest] = /^sha256:([0-9a-f]{64}) \S+$/.exec(plan.headers.get('edgeplan-signatures') ?? '')!;
    const sealed = await fetch(`${server.url}${path}/plans/${newest.revision}/signatures`, { headers });
    expect(sha256(new Uint8Array(await sealed.arrayBuffer()))).toBe(digest);
  });
});

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

  const signIn = (domain: string, key = server.key, fragment = ''): Promise<void> =>
    signInOn(page, server, { domain, key, fragment });
  const section = (name: string): Promise<void> => openSection(page, name);
  const said = (text: string | RegExp): Promise<void> => saidOn(page, text);

  test('a request is blocked, its rule is edited, and the decision changes, with the keyboard alone', async () => {
    const { admin } = await makeShop('keys.example');
    await signIn('keys.example', server.key, '&url=https://keys.example/admin/x');
    await waitForDecision(page, 'Block 403');
    await tabTo(page, 'Rules');
    await page.keyboard.press('Enter');
    await page.locator('.row').first().waitFor();
    await tabTo(page, `#${admin}`);
    await page.keyboard.press('Enter');
    await page.getByLabel('Path includes').waitFor();
    await tabTo(page, 'of-path_includes');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('/office/*');
    await until(() => page.getByRole('button', { name: 'Save and publish' }).isEnabled(), 'the check');
    await tabTo(page, 'of-priority');
    await page.keyboard.press('Enter');
    await said(/is saved\. Published as revision \d+\./);
    await page.getByText('forward', { exact: true }).waitFor();
    await tabTo(page, 'Request');
    await page.keyboard.press('Enter');
    await waitForDecision(page, 'Forward');
    expect(watch.complaints).toEqual([]);
    expect(watch.requests.filter((url) => !url.startsWith(server.url))).toEqual([]);
    expect(watch.requests.filter((url) => url.includes('svc_'))).toEqual([]);
    const stored = await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])',
    );
    expect(stored).not.toContain('svc_');
  });

  test('rules are switched off, reordered with Alt and an arrow, and deleted after a question', async () => {
    const { admin, secret } = await makeShop('order.example');
    await signIn('order.example', server.key, '&section=rules&url=https://order.example/admin/x');
    await page.getByText('block 403').waitFor();
    await page.getByRole('switch', { name: `drop #${admin} enabled` }).click();
    await said(/is off\. Published/);
    await page.getByText('forward', { exact: true }).waitFor();
    await page.getByRole('button', { name: `Dry run of drop #${secret}` }).click();
    await said(/only records what it would do/);
    await page
      .getByRole('button', { name: `#${secret}`, exact: false })
      .first()
      .focus();
    await page.keyboard.press('Alt+ArrowUp');
    await said(/have a new order/);
    const rules = (await server.call('GET', drops('order.example'))).body;
    expect(rules.map(({ id }: { id: number }) => id)).toEqual([secret, admin]);
    expect([rules[0].action_mode, rules[1].enabled]).toEqual(['dry_run', false]);
    await page.getByRole('button', { name: `Delete drop #${admin}` }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await server.call('GET', drops('order.example'))).body).toHaveLength(2);
    await page.getByRole('button', { name: `Delete drop #${admin}` }).click();
    await page.getByRole('button', { name: 'Delete the rule' }).click();
    await said(/is deleted/);
    expect((await server.call('GET', drops('order.example'))).body).toHaveLength(1);
    expect(watch.complaints).toEqual([]);
  });

  test('a new rule begins as a dry run; the server checks its fields as they are typed', async () => {
    await makeShop('new.example');
    await signIn('new.example', server.key, '&section=rules');
    await page.getByRole('button', { name: 'New rule' }).click();
    await page.getByLabel('Type', { exact: true }).selectOption('rate_limit');
    await page.getByLabel('Limit').fill('0');
    await page.getByText('must be 1 to 1000000').waitFor();
    await page.getByLabel('Limit').fill('5');
    await page.getByLabel('Path match type').selectOption('regex');
    await page.getByLabel('Path includes').fill('(');
    await page
      .getByRole('alert')
      .filter({ hasText: /path_includes|group|\(/ })
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Add and publish' }).isDisabled()).toBe(true);
    await page.getByLabel('Path includes').fill('^/login');
    await until(() => page.getByRole('button', { name: 'Add and publish' }).isEnabled(), 'the check');
    await page.getByRole('button', { name: 'Add and publish' }).click();
    await said(/is added\. Published/);
    const [made] = (await server.call('GET', '/domains/new.example/rules/rate-limit/')).body;
    expect([made.limit, made.path_includes, made.action_mode]).toEqual([5, ['^/login'], 'dry_run']);
  });

  test("nobody's change is lost: a rule that has changed meanwhile is shown, or overwritten in the changed fields only", async () => {
    const { admin } = await makeShop('twice.example');
    await signIn('twice.example', server.key, '&section=rules');
    await page
      .getByRole('button', { name: `#${admin}` })
      .first()
      .click();
    await page.getByLabel('Path includes').fill('/mine/*');
    const theirs = await server.call('PUT', `${drops('twice.example')}${admin}`, { countries: ['NO'] });
    expect(theirs.status).toBe(200);
    await page.getByRole('button', { name: 'Save and publish' }).click();
    await page.getByText('Not saved: somebody else has changed it').waitFor();
    await page.getByRole('button', { name: 'Save my changed fields over it' }).click();
    await said(/is saved/);
    const now = (await server.call('GET', `${drops('twice.example')}${admin}`)).body;
    expect([now.path_includes, now.countries]).toEqual([['/mine/*'], ['NO']]);
  });

  test('history: the change of a revision, an older plan that decides, and a rollback', async () => {
    const { admin } = await makeShop('back.example');
    await server.call('PUT', `${drops('back.example')}${admin}?wait=published`, {
      path_includes: ['/late/*'],
    });
    const revisions = (await server.call('GET', '/domains/back.example/plans/')).body;
    const [newest, before] = revisions.map(({ revision }: { revision: number }) => revision);
    await signIn('back.example', server.key, '&url=https://back.example/late/x');
    await waitForDecision(page, 'Block 403');
    await section('History');
    await page.getByRole('button', { name: `Changes of revision ${newest}` }).click();
    await page.locator('.diff .added').filter({ hasText: '/late/' }).first().waitFor();
    await page.getByRole('button', { name: `Try it: revision ${before}` }).click();
    await waitForDecision(page, 'Forward');
    await until(() => page.url().includes('domain=back.example'), 'the fragment');
    await section('History');
    await page.getByRole('button', { name: `Roll back to revision ${before}` }).click();
    await page.getByRole('button', { name: 'Roll back', exact: true }).click();
    await said(/is published again/);
    await page.getByLabel('Plan').selectOption('');
    await section('Request');
    await waitForDecision(page, 'Forward');
    expect(watch.complaints).toEqual([]);
  });

  test('records are added, changed and deleted', async () => {
    await makeShop('names.example');
    await signIn('names.example', server.key, '&section=records');
    await page.getByRole('button', { name: 'New record' }).click();
    await page.getByLabel('Name').fill('api');
    await page.getByLabel('Destination').fill('192.0.2.7');
    await page.getByRole('switch', { name: 'Proxied' }).click();
    // The answer comes after the check of the last keystroke would have started: the check would find the name taken.
    await page.route('**/records/?wait=published', async (route) => {
      const response = await route.fetch();
      await wait(600);
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Add and publish' }).click();
    await said(/The record is added/);
    await page.getByRole('button', { name: 'api', exact: true }).click();
    await page.getByLabel('Destination').fill('192.0.2.8');
    await until(() => page.getByRole('button', { name: 'Save and publish' }).isEnabled(), 'the check');
    await page.getByRole('button', { name: 'Save and publish' }).click();
    await said(/is saved/);
    await page.getByText('192.0.2.8').waitFor();
    await page.getByRole('button', { name: 'Delete api A' }).click();
    await page.getByRole('button', { name: 'Delete the record' }).click();
    await said(/is deleted/);
    expect((await server.call('GET', '/domains/names.example/records/')).body).toHaveLength(1);
    expect(watch.complaints).toEqual([]);
  });

  test('changes wait in a draft, are reviewed with a request that shows them, and are published', async () => {
    const { admin } = await makeShop('draft.example');
    await signIn('draft.example', server.key, '&section=draft');
    await page.getByRole('button', { name: 'Collect changes in a draft' }).click();
    await said(/wait in a draft from now on/);
    await page.getByText('Nothing waits.').waitFor();
    const invariants = [{ name: 'no strangers', when: { path: '/admin/x' }, never: 'forward' }];
    const required = await server.call('PUT', '/domains/draft.example/invariants', { invariants });
    expect(required.status).toBe(200);
    const path = `/domains/draft.example/rules/drop/${admin}`;
    expect((await server.call('PUT', path, { path_includes: ['/office/*'] })).status).toBe(200);
    await section('Rules');
    await page.getByRole('heading', { level: 2, name: 'Rules' }).waitFor();
    await section('Draft');
    await page.getByText(/Proved: these outcomes change, and no others\./).waitFor();
    await page.getByRole('cell', { name: /path\.includes/ }).waitFor();
    await page.getByText('✘ no strangers').waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Publish the draft' }).click();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText(/he invariant `no strangers` \(never forward\) is broken/).waitFor();
    await page.getByRole('button', { name: /^Try it: .*\/admin/ }).click();
    await waitForDecision(page, 'Block 403');
    expect((await server.call('PUT', '/domains/draft.example/invariants', { invariants: [] })).status).toBe(
      200,
    );
    await section('Draft');
    await page.getByRole('button', { name: 'Publish the draft' }).click();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await said(/The draft is published\. Published as revision \d+\./);
    await page.getByText('Nothing waits.').waitFor();
    await section('Request');
    await waitForDecision(page, 'Forward');
  });

  test('a draft is thrown away', async () => {
    const { admin } = await makeShop('thrown.example');
    const path = '/domains/thrown.example';
    await server.call('PUT', `${path}/publishing`, { publish_mode: 'manual' });
    await server.call('DELETE', `${path}/rules/drop/${admin}`);
    await signIn('thrown.example', server.key, '&section=draft');
    await page.getByRole('cell', { name: 'deleted' }).waitFor();
    await page.getByRole('button', { name: 'Throw away' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Throw away' }).click();
    await said(/The draft is thrown away/);
    await page.getByRole('button', { name: 'Publish every change at once' }).click();
    await said(/published at once from now on/);
    expect((await server.call('GET', `${path}/rules/drop/${admin}`)).status).toBe(200);
    expect(watch.complaints).toEqual([]);
  });

  test('a wrong key and a revoked key are refused in a sentence, and the page signs out', async () => {
    await makeShop('ended.example');
    await page.goto(`${server.url}/panel/`);
    await page.getByLabel('API key').fill('not a key');
    await page.keyboard.press('Enter');
    await page.getByText('Was more than the key pasted?').waitFor();
    await page.getByLabel('API key').fill(`svc_${'x'.repeat(65)}`);
    await page.keyboard.press('Enter');
    await page.getByText('The server does not know this key').waitFor();
    const key = await anotherKey('--name', 'short');
    // The focus is on the field again.
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const { out } = await edgeplan(['key', 'list', '--json', ...server.data], { cwd: server.folder });
    const { id } = JSON.parse(out).keys.find(({ name }: { name: string }) => name === 'short');
    const revoked = await edgeplan(['key', 'revoke', String(id), ...server.data], { cwd: server.folder });
    expect(revoked.code, revoked.err).toBe(0);
    await page.getByText('it was revoked or has expired').waitFor();
    expect(await page.getByLabel('API key').inputValue()).toBe('');
  });

  test('a read-only key sees everything and is offered no change', async () => {
    const { admin } = await makeShop('seen.example');
    await signIn('seen.example', await anotherKey('--name', 'reader', '--read-only'), '&section=rules');
    await page.getByText('read-only key').waitFor();
    expect(await page.getByRole('button', { name: /^(?:New rule|Delete|Move|Dry run)/ }).count()).toBe(0);
    expect(await page.getByRole('switch').first().isDisabled()).toBe(true);
    await page
      .getByRole('button', { name: `#${admin}` })
      .first()
      .click();
    await page.getByLabel('Path includes').waitFor();
    expect(await page.getByLabel('Path includes').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save and publish' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await section('History');
    expect(await page.getByRole('button', { name: /^Roll back/ }).count()).toBe(0);
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'every section is accessible and not wider than its window: %s, %i px',
    async (colorScheme, width) => {
      const domain = `axe-${width}.example`;
      const { admin } = await makeShop(domain);
      await server.node(`node-${width}`);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 850 });
      await page.goto(`${server.url}/panel/`);
      await page.getByLabel('API key').waitFor();
      expect(await accessFaults(page)).toEqual([]);
      await signIn(domain);
      await waitForDecision(page, 'Forward');
      for (const name of ['Rules', 'Draft', 'Records', 'History', 'Nodes']) {
        await section(name);
        await page.getByRole('heading', { level: 2, name }).waitFor();
        expect(await accessFaults(page), name).toEqual([]);
      }
      await section('Rules');
      await page
        .getByRole('button', { name: `#${admin}` })
        .first()
        .click();
      await page.getByLabel('Path includes').waitFor();
      expect(await accessFaults(page), 'the editor').toEqual([]);
      expect(watch.complaints).toEqual([]);
    },
  );
});
