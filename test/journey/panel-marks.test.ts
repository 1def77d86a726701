/** The rules in the page over the management API: marks of lint and hits, and the focus of somebody who uses the keyboard. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli } from '../support/built.ts';
import { dropsOf, makeShop, openSection, said, signIn } from '../support/panel.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

let server: Served;
beforeAll(async () => {
  await builtCli();
  server = await serve({ args: ['--requests-per-minute', '1000000'] });
}, 240_000);
afterAll(() => server.stop());

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

  /** The name of the element with the focus, or its tag. */
  const focused = async (): Promise<string> =>
    String(
      await page.evaluate(
        '(({ id, tagName, textContent, ariaLabel }) => ariaLabel ?? (tagName === "BUTTON" ? textContent.trim() : id || tagName))(document.activeElement)',
      ),
    );

  test('a shadowed rule has a mark that keyboard and screen readers reach, until the rule above it is deleted', async () => {
    const domain = 'marks.example';
    const { admin } = await makeShop(server, domain);
    // Another type before it in the list, and a lower id behind a higher one: places are not ids.
    const cached = { path_includes: ['/img/*'], priority: 5 };
    expect((await server.call('POST', `/domains/${domain}/rules/cache/`, cached)).status).toBe(200);
    const shadowed = { path_includes: ['/admin/x', '/admin/x/*'], countries: ['NO'], priority: 15 };
    const made = await server.call('POST', `${dropsOf(domain)}?wait=published`, shadowed);
    expect(made.status).toBe(200);
    await signIn(page, server, { domain, fragment: '&section=rules' });
    const row = page.getByRole('listitem').filter({ hasText: `#${made.body.id}` });
    const name = row.getByRole('button', { name: `#${made.body.id} 1 lint finding` });
    await name.waitFor();
    const described = String(await name.getAttribute('aria-describedby'));
    const text = String(await page.locator(`#${described}`).textContent());
    expect(text).toContain(`drop/${admin}`);
    expect(await row.locator('.finding').isVisible()).toBe(true);
    expect(await accessFaults(page)).toEqual([]);
    // On a narrow screen the name has most of the row, and nothing is beside it.
    await page.setViewportSize({ width: 390, height: 850 });
    const whole = (await row.boundingBox())!;
    expect((await name.boundingBox())!.width).toBeGreaterThan(whole.width / 2);
    expect((await row.locator('.findings').boundingBox())!.width).toBeGreaterThan(whole.width / 2);
    expect(await accessFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 1400, height: 1000 });
    await page.getByText('0 hits').first().waitFor();
    await page.getByRole('button', { name: `Delete drop #${admin}` }).click();
    await page.getByRole('button', { name: 'Delete the rule' }).click();
    await said(page, /is deleted\. Published/);
    await row.locator('.mark').waitFor({ state: 'detached' });
    expect(await row.getByRole('button').first().getAttribute('aria-describedby')).toBeNull();
    expect(watch.complaints).toEqual([]);
  });

  test('marks stay at their rules while findings are read again', async () => {
    const domain = 'stay.example';
    const { admin } = await makeShop(server, domain);
    const shadowed = { path_includes: ['/secret/x'], countries: ['NO'], priority: 25 };
    const made = await server.call('POST', `${dropsOf(domain)}?wait=published`, shadowed);
    await server.call('POST', `${dropsOf(domain)}?wait=published`, {
      path_includes: ['/end/*'],
      priority: 30,
    });
    await signIn(page, server, { domain, fragment: '&section=rules' });
    await page.getByRole('button', { name: `#${made.body.id} 1 lint finding` }).waitFor();
    const marked = page.locator('.row').filter({ has: page.locator('.mark') });
    const before = await marked.locator('.findings').allTextContents();
    expect(before.length).toBeGreaterThan(2);
    // The analysis after the change does not end.
    await page.route('**/analysis', () => undefined);
    await page.getByRole('button', { name: `Delete drop #${admin}` }).click();
    await page.getByRole('button', { name: 'Delete the rule' }).click();
    await said(page, /is deleted\. Published/);
    expect(await marked.locator('.findings').allTextContents()).toEqual(before.slice(1));
  });

  test('the focus stays where it is while a rule changes, and in the page where the rule is gone', async () => {
    const domain = 'focus.example';
    const { admin, secret } = await makeShop(server, domain);
    await signIn(page, server, { domain, fragment: '&section=rules' });
    const enabled = `drop #${admin} enabled`;
    await page.getByRole('switch', { name: enabled }).focus();
    await page.keyboard.press('Space');
    await said(page, /is off\. Published/);
    expect(await focused()).toBe(enabled);
    await page.keyboard.press('Space');
    await said(page, /is on\. Published/);
    const dry = `Dry run of drop #${admin}`;
    await page.getByRole('button', { name: dry }).focus();
    await page.keyboard.press('Enter');
    await said(page, /only records what it would do/);
    expect(await focused()).toBe(dry);
    const up = `Move drop #${secret} up`;
    await page.getByRole('button', { name: up }).focus();
    await page.keyboard.press('Enter');
    await said(page, /have a new order/);
    expect(await focused()).toBe(up);
    await page.keyboard.press('Alt+ArrowDown');
    await until(
      async () => (await page.locator('.row').first().textContent())?.includes(`#${admin}`),
      'the order',
    );
    expect(await focused()).toBe(up);
    await page.getByRole('button', { name: `Delete drop #${admin}` }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Delete the rule' }).focus();
    await page.keyboard.press('Enter');
    await said(page, /is deleted\. Published/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused()).toBe('MAIN');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Dismiss');
  });

  test('a change that ends after its dialog was closed leaves another dialog open', async () => {
    const domain = 'other.example';
    const { admin, secret } = await makeShop(server, domain);
    await signIn(page, server, { domain, fragment: '&section=rules' });
    await page.route(`**/rules/drop/${admin}?wait=published`, async (route) => {
      const response = await route.fetch();
      await wait(2_000);
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: `Delete drop #${admin}` }).click();
    await page.getByRole('button', { name: 'Delete the rule' }).click();
    await page.getByRole('button', { name: 'Working…' }).waitFor();
    await page.keyboard.press('Escape');
    await page
      .getByRole('button', { name: `#${secret}` })
      .first()
      .click();
    await page.getByLabel('Path includes').fill('/typed/*');
    await page
      .locator('.notices')
      .getByText(/is deleted\. Published/)
      .waitFor();
    await wait(300);
    expect(await page.getByLabel('Path includes').inputValue()).toBe('/typed/*');
  });

  test('a rule that was deleted meanwhile is refused in its editor, in a sentence', async () => {
    const domain = 'late.example';
    const { admin } = await makeShop(server, domain);
    await signIn(page, server, { domain, fragment: '&section=rules' });
    await page
      .getByRole('button', { name: `#${admin}` })
      .first()
      .click();
    const priority = page.getByLabel('Priority');
    await priority.fill('77');
    await until(() => page.getByRole('button', { name: 'Save and publish' }).isEnabled(), 'the check');
    // The check after this is of a rule that is no more; so is the save, if it is the first.
    expect((await server.call('DELETE', `${dropsOf(domain)}${admin}`)).status).toBe(200);
    await page.keyboard.press('Enter');
    const deleted = page
      .getByRole('alert')
      .getByText('It was deleted since this page read it, so nothing is saved.');
    await deleted.waitFor();
    await until(() => priority.isEnabled(), 'the end of the save');
    expect(await page.evaluate('document.activeElement.id')).toBe('of-priority');
    await priority.fill('78');
    await deleted.waitFor();
    await page.keyboard.press('Escape');
    await openSection(page, 'Rules');
    await page.getByRole('button', { name: `Delete drop #${admin}` }).waitFor({ state: 'detached' });
  });
});
