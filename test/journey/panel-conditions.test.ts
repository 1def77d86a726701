/** The form of the page over the API: what may be assumed of a plan is listed from its octets, in the names that they have. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli } from '../support/built.ts';
import { signIn } from '../support/panel.ts';
import { waitForDecision } from '../support/play.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

/** Rate limits of the domain with many: more than the form lists whatever the request is. */
const MANY = 14;

let server: Served;
beforeAll(async () => {
  await builtCli();
  server = await serve({ args: ['--requests-per-minute', '1000000'] });
}, 240_000);
afterAll(() => server.stop());

/** Makes an active domain with a proxied record; `rules` are published, their ids returned. */
async function makeDomain(
  name: string,
  rules: readonly { readonly type: 'rate-limit' | 'captcha' | 'origin_pool'; readonly body: object }[],
): Promise<readonly number[]> {
  await server.domain(name);
  const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
  expect((await server.call('POST', `/domains/${name}/records/`, record)).status).toBe(200);
  const ids: number[] = [];
  for (const [index, { type, body }] of rules.entries()) {
    const query = index === rules.length - 1 ? '?wait=published' : '';
    const { status, body: made } = await server.call('POST', `/domains/${name}/rules/${type}/${query}`, body);
    expect(status, JSON.stringify(made)).toBe(200);
    ids.push(made.id);
  }
  return ids;
}

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('in a browser', requires(missingBrowser()), () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** Opens the page on a URL of a domain. */
  async function open(domain: string, path: string): Promise<{ readonly page: Page; readonly watch: Watch }> {
    const opened = await openWatched(browser);
    const { page } = opened;
    await signIn(page, server, { domain, fragment: `&url=https://${domain}${path}&ip=203.0.113.7` });
    await waitForDecision(page, /./);
    await page.getByText('At the edge').click();
    return opened;
  }

  test('challenges are solved, requests counted and origins taken down by the keyboard', async () => {
    const origins = [{ address: '192.0.2.11' }, { address: '192.0.2.12' }];
    const [limit, captcha, pool] = await makeDomain('assume.example', [
      { type: 'rate-limit', body: { path_includes: ['/account/*'], limit: 100, on_breach: 'captcha' } },
      { type: 'captcha', body: { path_includes: ['/account/*'] } },
      { type: 'origin_pool', body: { origins } },
    ]);
    const { page, watch } = await open('assume.example', '/account/x');
    await waitForDecision(page, 'Challenge 403');
    await page.getByRole('button', { name: 'rate counters empty' }).click();
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toContain(
      `rate_limit #${limit}`,
    );
    const solved = page.getByRole('group', { name: 'Challenges solved' });
    await solved.getByLabel(`captcha #${captcha}`).focus();
    await page.keyboard.press('Space');
    await waitForDecision(page, 'Forward');
    await page.locator('.outcome').getByText('192.0.2.11').first().waitFor();
    await page.getByRole('group', { name: 'Origins down' }).getByLabel(`#${pool}: 192.0.2.11`).focus();
    await page.keyboard.press('Space');
    await page.locator('.outcome').getByText('192.0.2.12').first().waitFor();
    await page
      .getByRole('group', { name: 'Requests counted before' })
      .getByLabel(`rate_limit #${limit}`)
      .focus();
    await page.keyboard.type('100');
    await waitForDecision(page, 'Challenge 403');
    await solved.getByLabel(`rate_limit #${limit}`).focus();
    await page.keyboard.press('Space');
    await waitForDecision(page, 'Forward');
    expect(watch.complaints).toEqual([]);
    await page.close();
  });

  test('of many rate limits, those that the request meets are listed, and those that have a number', async () => {
    const ids = await makeDomain(
      'many.example',
      Array.from({ length: MANY }, (_, index) => ({
        type: 'rate-limit',
        body: { path_includes: [`/p${index}/*`], limit: 5 },
      })),
    );
    const { page, watch } = await open('many.example', '/p3/x');
    const counted = page.getByRole('group', { name: 'Requests counted before' });
    await counted.getByText(`${MANY - 1} more appear with the requests they are about.`).waitFor();
    await counted.getByLabel(`rate_limit #${ids[3]}`).fill('5');
    await waitForDecision(page, 'Block 429');
    await page.getByLabel('URL, or a curl line').fill('https://many.example/p7/x');
    await waitForDecision(page, 'Forward');
    expect(await counted.getByRole('textbox').count()).toBe(2);
    await counted.getByLabel(`rate_limit #${ids[7]}`).fill('5');
    await waitForDecision(page, 'Block 429');
    expect(watch.complaints).toEqual([]);
    await page.close();
  });
});
