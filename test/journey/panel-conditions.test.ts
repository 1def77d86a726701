/** The conditions of a rule in the form of the page over the API: shown, edited with the keyboard, refused at their control. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli } from '../support/built.ts';
import { signIn, tabTo } from '../support/panel.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

const CONDITIONS = {
  methods: ['POST'],
  asns: { includes: [64_496] },
  verified_bot: false,
  headers: [{ name: 'accept', op: 'contains', values: ['json'], ignore_case: true }],
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

  /** The control at a path of the form. */
  const control = (path: string): Locator => page.locator(`[id="of-${path}"]`);
  const fold = (path: string): Locator => page.locator(`[id="of-${path}-fold"]`);

  /** Makes an active domain with a rule, and opens the rule. Returns its path. */
  async function edit(domain: string, rule: object): Promise<string> {
    await server.domain(domain);
    const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
    await server.call('POST', `/domains/${domain}/records/`, record);
    const made = await server.call('POST', `/domains/${domain}/rules/waf/?wait=published`, rule);
    expect(made.status, made.text).toBe(200);
    await signIn(page, server, { domain, fragment: '&section=rules' });
    await page
      .getByRole('button', { name: `#${made.body.id}` })
      .first()
      .click();
    await fold('conditions').waitFor();
    return `/domains/${domain}/rules/waf/${made.body.id}`;
  }

  /** Saves, and returns the body of the write. */
  async function save(): Promise<unknown> {
    const button = page.getByRole('button', { name: 'Save and publish' });
    await until(() => button.isEnabled(), 'the check');
    const sent = page.waitForRequest((one) => one.url().endsWith('wait=published'));
    await button.click();
    const body = (await sent).postDataJSON() as unknown;
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return body;
  }

  /** Replaces the text of a control, which Tab leads to. */
  async function typeAt(path: string, text: string): Promise<void> {
    await tabTo(page, `of-${path}`);
    await page.keyboard.press('Control+a');
    await page.keyboard.type(text);
  }

  test('conditions are made with the keyboard alone', async () => {
    const path = await edit('keys.example', {});
    expect(await control('conditions.methods').isVisible()).toBe(false);
    await tabTo(page, 'of-conditions-fold');
    await page.keyboard.press('Enter');
    await typeAt('conditions.methods', 'POST');
    await tabTo(page, 'of-conditions.asns-fold');
    await page.keyboard.press('Enter');
    await typeAt('conditions.asns.includes', '64496, 64500');
    await tabTo(page, 'Add header');
    await page.keyboard.press('Enter');
    await control('conditions.headers[0].name').waitFor();
    await page.keyboard.type('Accept');
    await tabTo(page, 'of-conditions.headers[0].op');
    await until(async () => {
      await page.keyboard.press('ArrowDown');
      return (await control('conditions.headers[0].op').inputValue()) === 'contains';
    }, 'the comparison');
    await typeAt('conditions.headers[0].values', 'json');
    await save();
    expect((await server.call('GET', path)).body.conditions).toEqual({
      methods: ['POST'],
      asns: { includes: [64_496, 64_500] },
      headers: [{ name: 'accept', op: 'contains', values: ['json'], ignore_case: false }],
    });
    // A header that is not whole yet is refused by the check while the next key is awaited.
    const complaints = watch.complaints.filter((said) => !said.includes('a status of 400'));
    expect(complaints).toEqual([]);
  });

  test('stored conditions are open and complete, and a save sends them whole', async () => {
    const path = await edit('stored.example', { conditions: CONDITIONS });
    expect(await control('conditions.methods').inputValue()).toBe('POST');
    expect(await control('conditions.asns.includes').inputValue()).toBe('64496');
    expect(await control('conditions.verified_bot').inputValue()).toBe('false');
    expect(await control('conditions.headers[0].op').inputValue()).toBe('contains');
    expect(await control('conditions.countries.includes').isVisible()).toBe(false);
    await control('conditions.asns.includes').fill('');
    await control('conditions.asns.excludes').fill('64500');
    expect(await save()).toEqual({ conditions: { ...CONDITIONS, asns: { excludes: [64_500] } } });
    expect((await server.call('GET', path)).body.conditions.asns).toEqual({ excludes: [64_500] });
  });

  test('a rule without its last condition has no conditions', async () => {
    const path = await edit('empty.example', { conditions: { methods: ['POST'] } });
    await control('conditions.methods').fill('');
    expect(await save()).toEqual({ conditions: {} });
    expect(Object.keys((await server.call('GET', path)).body)).not.toContain('conditions');
  });

  test('a refusal is at the control that it is about, which is unfolded', async () => {
    await edit('wrong.example', {});
    await fold('conditions').click();
    await fold('conditions.tags').click();
    await control('conditions.tags.includes').fill('bot_route/99');
    const mistake = page.locator('[id="of-conditions.tags.includes-mistake"]');
    await mistake.getByText('names no rule that tags requests').waitFor();
    expect(await control('conditions.tags.includes').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', { name: 'Save and publish' }).isEnabled()).toBe(false);
  });

  test('the form is accessible and within the window, light and dark, wide and narrow', async () => {
    await edit('seen.example', { conditions: CONDITIONS });
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await accessFaults(page), `${width} ${colorScheme}`).toEqual([]);
        const overflow = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect(overflow, `${width}`).toBe(false);
      }
    }
  });
});
