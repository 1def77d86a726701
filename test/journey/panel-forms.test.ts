/** Forms of the page over the API whose fields have fields of their own: origins and health checks, exclusions, error pages. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli } from '../support/built.ts';
import { signIn as signInOn, tabTo } from '../support/panel.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

const ORIGINS = [
  { address: '192.0.2.11', port: null, scheme: 'https', weight: 3, node_ids: [], country: '' },
  { address: 'b.example.net', port: 8443, scheme: 'http', weight: 1, node_ids: [4, 7], country: 'DE' },
];
const HEALTH = {
  enabled: true,
  path: '/healthz',
  interval_sec: 10,
  timeout_sec: 5,
  unhealthy_threshold: 3,
  healthy_threshold: 2,
  eject_sec: 30,
  host: '',
};

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('in a browser', requires(missingBrowser()), () => {
  let server: Served;
  let browser: Browser;
  let page: Page;
  let watch: Watch;
  beforeAll(async () => {
    await builtCli();
    server = await serve({ args: ['--requests-per-minute', '1000000'] });
    browser = await startBrowser();
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });
  beforeEach(async () => {
    ({ page, watch } = await openWatched(browser));
  });
  afterEach(() => page.close());

  /** Makes an active domain with a rule, and returns the rule's path. */
  async function makeRule(domain: string, slug: string, rule: object): Promise<string> {
    await server.domain(domain);
    const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
    await server.call('POST', `/domains/${domain}/records/`, record);
    const rules = `/domains/${domain}/rules/${slug}/`;
    const made = await server.call('POST', `${rules}?wait=published`, rule);
    expect(made.status).toBe(200);
    return `${rules}${made.body.id}`;
  }

  const signIn = (domain: string): Promise<void> =>
    signInOn(page, server, { domain, fragment: '&section=rules' });
  const said = (text: RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor();
  /** The control at a path of the form. */
  const control = (path: string): Locator => page.locator(`[id="of-${path}"]`);
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.id');
  const isReady = (name: string): Promise<unknown> =>
    until(() => page.getByRole('button', { name }).isEnabled(), 'the check');

  /** Opens the rule of the domain. */
  async function edit(path: string): Promise<void> {
    await signIn(path.split('/')[2]!);
    await page
      .getByRole('button', { name: `#${path.split('/').at(-1)}` })
      .first()
      .click();
    await page.locator('.entries').first().waitFor();
  }

  /** Presses a button of the form, and returns the body of the write that follows. */
  async function save(name: string): Promise<unknown> {
    await isReady(name);
    const sent = page.waitForRequest((one) => one.url().endsWith('wait=published'));
    await page.getByRole('button', { name }).click();
    const body = (await sent).postDataJSON() as unknown;
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await said(/is saved\. Published/);
    return body;
  }

  /** Replaces the text of the control that has the focus, which Tab leads to. */
  async function typeAt(path: string, text: string): Promise<void> {
    await tabTo(page, `of-${path}`);
    await page.keyboard.press('Control+a');
    await page.keyboard.type(text);
  }

  test('a pool with two origins and a health check is made with the keyboard alone', async () => {
    await makeRule('keys.example', 'drop', { path_includes: ['/admin/*'] });
    await signIn('keys.example');
    await page.locator('.row').first().waitFor();
    await tabTo(page, 'New rule');
    await page.keyboard.press('Enter');
    await tabTo(page, 'new-type');
    // Not by type-ahead: the browser starts a new search after a second, which a slow machine takes between two letters.
    await until(async () => {
      await page.keyboard.press('ArrowDown');
      return (await page.locator('#new-type').inputValue()) === 'origin_pool';
    }, 'the type origin_pool');
    await page.getByRole('button', { name: 'Add origin' }).waitFor();
    await tabTo(page, 'Add origin');
    await page.keyboard.press('Enter');
    await until(async () => (await focused()) === 'of-origins[0].address', 'the focus');
    await page.keyboard.type('192.0.2.11');
    await typeAt('origins[0].weight', '3');
    await tabTo(page, 'Add origin');
    await page.keyboard.press('Enter');
    await until(async () => (await focused()) === 'of-origins[1].address', 'the focus');
    await page.keyboard.type('b.example.net');
    await typeAt('origins[1].port', '8443');
    await tabTo(page, 'of-origins[1].scheme');
    await page.keyboard.press('ArrowUp');
    await typeAt('origins[1].node_ids', '4, 7');
    await typeAt('origins[1].country', 'DE');
    expect(await control('health_check.path').count()).toBe(0);
    await tabTo(page, 'of-health_check.enabled');
    await page.keyboard.press('Space');
    await typeAt('health_check.path', '/healthz');
    await typeAt('health_check.interval_sec', '10');
    await isReady('Add and publish');
    await page.keyboard.press('Enter');
    await said(/A rule of type origin_pool is added\. Published/);
    const [made] = (await server.call('GET', '/domains/keys.example/rules/origin_pool/')).body;
    expect([made.origins, made.health_check]).toEqual([ORIGINS, HEALTH]);
    expect(watch.complaints).toEqual([]);
  });

  test('a changed origin is sent with its list and nothing else; a removed one is gone', async () => {
    const path = await makeRule('weights.example', 'origin_pool', { origins: ORIGINS, health_check: HEALTH });
    await edit(path);
    await control('origins[1].weight').fill('9');
    const heavy = { ...ORIGINS[1], weight: 9 };
    expect(await save('Save and publish')).toEqual({ origins: [ORIGINS[0], heavy] });
    await page
      .getByRole('button', { name: `#${path.split('/').at(-1)}` })
      .first()
      .click();
    await page.getByRole('button', { name: 'Remove origin 1' }).click();
    await until(async () => (await focused()) === 'of-origins[0].address', 'the focus');
    expect(await control('origins[0].address').inputValue()).toBe('b.example.net');
    await page.getByRole('button', { name: 'Remove origin 1' }).click();
    await page.locator('button:focus').getByText('Add origin').waitFor();
    await page.getByRole('alert').getByText('is needed').waitFor();
    await page.keyboard.press('Enter');
    await control('origins[0].address').fill('192.0.2.11');
    await save('Save and publish');
    const { body } = await server.call('GET', path);
    expect([body.origins, body.health_check]).toEqual([[{ ...ORIGINS[0], weight: 1 }], HEALTH]);
    expect(watch.complaints).toEqual([]);
  });

  test('a full list offers no other entry until one is removed', async () => {
    const full = Array.from({ length: 64 }, (_, index) => ({ address: `192.0.2.${index + 1}` }));
    await edit(await makeRule('full.example', 'origin_pool', { origins: full }));
    const add = page.getByRole('button', { name: 'Add origin' });
    expect(await add.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove origin 64' }).click();
    await until(() => add.isEnabled(), 'room for an origin');
    await page.locator('button:focus').getByText('Add origin').waitFor();
  });

  test.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'a refusal is shown at the control that it is about, without a fault for axe: %s, %i px',
    async (colorScheme, width) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 850 });
      const path = await makeRule(`refused-${width}.example`, 'origin_pool', {
        origins: [...ORIGINS, { ...ORIGINS[0], address: '192.0.2.13' }],
        health_check: HEALTH,
      });
      await edit(path);
      await control('origins[1].address').fill('not a host');
      await control('health_check.path').fill('no-slash');
      await page
        .locator('[id="of-origins[1].address-mistake"]')
        .getByText(/^must be/)
        .waitFor();
      await page
        .locator('[id="of-health_check.path-mistake"]')
        .getByText(/^must /)
        .waitFor();
      for (const wrong of ['origins[1].address', 'health_check.path']) {
        expect(await control(wrong).getAttribute('aria-invalid')).toBe('true');
        expect(await control(wrong).getAttribute('aria-describedby')).toContain(`of-${wrong}-mistake`);
      }
      expect(await control('origins[0].address').getAttribute('aria-invalid')).toBe(null);
      expect(await accessFaults(page)).toEqual([]);
      // Until the next answer, no refusal is at an origin that has the number of another one.
      const isWrong = async (at: string): Promise<boolean> =>
        (await control(at).getAttribute('aria-invalid')) === 'true';
      await page.route('**?validate_only=true', () => undefined);
      await page.getByRole('button', { name: 'Remove origin 1' }).click();
      await control('origins[2].address').waitFor({ state: 'detached' });
      expect([await isWrong('origins[1].address'), await isWrong('health_check.path')]).toEqual([
        false,
        true,
      ]);
      await page.unroute('**?validate_only=true');
      await control('origins[0].weight').fill('2');
      await until(() => isWrong('origins[0].address'), 'the check');
      expect(watch.complaints.filter((one) => !one.includes('status of 400'))).toEqual([]);
    },
  );

  test('pages are edited by status code, and exclusions in rows', async () => {
    const pages = { mode: 'custom', codes: [502], content: { '0': '<p>Any</p>', '502': '<p>Gateway</p>' } };
    const path = await makeRule('pages.example', 'error-page', pages);
    await edit(path);
    await page.getByRole('button', { name: 'Add page' }).click();
    await control('content[2].key').fill('700');
    await page.getByText('must be a status code from 400 to 599, or 0 for the fallback').first().waitFor();
    await control('content[2].key').fill('503');
    await control('content[2].value').fill('<p>Busy</p>');
    await control('codes').fill('502, 503');
    expect(await save('Save and publish')).toEqual({
      codes: [502, 503],
      content: { ...pages.content, '503': '<p>Busy</p>' },
    });
    const { body } = await server.call('GET', path);
    expect(body.content).toEqual({ ...pages.content, '503': '<p>Busy</p>' });

    const waf = await server.call('POST', '/domains/pages.example/rules/waf/?wait=published', {
      exclusions: [{ id: 942100, target: 'ARGS:comment' }],
    });
    await page
      .getByRole('button', { name: `#${waf.body.id}` })
      .first()
      .click();
    await page.getByRole('button', { name: 'Add exclusion' }).click();
    await control('exclusions[1].target').fill('ARGS:note');
    await page
      .locator('[id="of-exclusions[1]-mistake"]')
      .getByText(/must name a signature/)
      .waitFor();
    await control('exclusions[1].tag').fill('attack-sqli');
    expect(await save('Save and publish')).toEqual({
      exclusions: [
        { id: 942100, tag: '', target: 'ARGS:comment', path: '/*' },
        { tag: 'attack-sqli', target: 'ARGS:note' },
      ],
    });
    expect(watch.complaints.filter((one) => !one.includes('status of 400'))).toEqual([]);
  });
});
