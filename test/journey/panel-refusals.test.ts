/** The page over the management API for domains that stop: a tombstone as the newest revision, a domain that is deleted. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accessFaults } from '../support/axe.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { makeShop, openSection, said, signIn } from '../support/panel.ts';
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

/** The revisions of a domain, the newest first. */
async function revisionsOf(
  domain: string,
): Promise<readonly { readonly revision: number; readonly digest: string | null }[]> {
  return (await server.call('GET', `/domains/${domain}/plans/`)).body;
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

  const choices = async (): Promise<readonly string[]> =>
    page.getByLabel('Plan', { exact: true }).locator('option').allTextContents();

  test('a tombstone is named, decides every request, and ends once the domain serves again', async () => {
    const domain = 'stops.example';
    await makeShop(server, domain);
    await signIn(page, server, { domain, fragment: '&url=https://stops.example/admin/x' });
    await waitForDecision(page, 'Block 403');
    const stop = ['domain', 'disable', domain, '--reason', 'a trial', ...server.data];
    const stopped = await edgeplan(stop, { cwd: server.folder });
    expect(stopped.code, stopped.err).toBe(0);
    const why = 'the domain went from active to disabled.';
    await waitForDecision(page, 'Refuse');
    const [tombstone, before] = await revisionsOf(domain);
    expect(tombstone!.digest).toBeNull();
    const sentence = `The edge refuses every request since revision #${tombstone!.revision}: ${why}`;
    await page.locator('.outcome').getByText(sentence).waitFor();
    expect(await page.getByRole('tab').count()).toBe(0);
    expect(await accessFaults(page)).toEqual([]);
    await until(
      async () => (await page.getByLabel('Domain').textContent())?.includes(`${domain} (disabled)`),
      'the status',
    );
    expect((await choices())[0]).toBe(`#${tombstone!.revision}, the newest: refuses every request`);
    await openSection(page, 'History');
    const row = page.getByRole('row').filter({ hasText: `#${tombstone!.revision}` });
    expect((await row.locator('.badge').allTextContents()).map((text) => text.trim())).toEqual([
      'current',
      'refuses every request',
    ]);
    expect(await row.getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: `Try it: revision ${before!.revision}` }).click();
    await waitForDecision(page, 'Block 403');
    await page.getByText(`${sentence} Below is what revision #${before!.revision} would decide.`).waitFor();
    await page.getByLabel('Plan', { exact: true }).selectOption('');
    await waitForDecision(page, 'Refuse');
    expect((await server.call('POST', `/domains/${domain}/enable?wait=published`)).status).toBe(200);
    await waitForDecision(page, 'Block 403');
    await page.getByText(sentence).waitFor({ state: 'detached' });
    const [newest] = await revisionsOf(domain);
    expect((await choices())[0]).toBe(`#${newest!.revision}, the newest`);
    await openSection(page, 'History');
    expect((await row.locator('.badge').allTextContents()).map((text) => text.trim())).toEqual([
      'refuses every request',
    ]);
    expect(watch.complaints).toEqual([]);
  });

  test('a domain that is deleted meanwhile is left, with a sentence', async () => {
    await makeShop(server, 'stays.example');
    await makeShop(server, 'goes.example');
    await signIn(page, server, { domain: 'goes.example' });
    await waitForDecision(page, 'Forward');
    expect((await server.call('DELETE', '/domains/goes.example')).status).toBe(200);
    await said(page, 'The domain goes.example was deleted, or this account may not see it any more.');
    await until(
      async () => (await page.getByLabel('Domain').inputValue()) !== 'goes.example',
      'another domain',
    );
    expect(await page.getByLabel('Domain').textContent()).not.toContain('goes.example');
    await page.getByText('Not found').waitFor({ state: 'detached' });
  });
});
