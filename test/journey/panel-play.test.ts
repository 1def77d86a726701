/** `edgeplan play`: what its server answers, and its page in a browser: the form, the decision, its reasons, changes of the file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { type Play, startPlay, waitForDecision } from '../support/play.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const EDGE = `domain: example.com
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: office, type: drop, path_includes: [/admin, /admin/*], ip_match_type: exclude, ips: [198.51.100.0/24] }
  - { key: embargo, type: drop, action_mode: dry_run, countries: [RU] }
  - { key: old, type: rewrite, path_match_type: regex, path_includes: ['^/old/(.*)$'], path_target: /new/$1 }
  - { key: shadowed, type: drop, path_includes: [/admin/private], ip_match_type: exclude, ips: [198.51.100.0/24] }
  - { key: ask, type: captcha, path_includes: [/account/*] }
  - { key: slow, type: rate_limit, path_includes: [/search], limit: 5 }
`;

let folder: string;
let play: Play;
beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-play-'));
  save(EDGE);
  play = await startPlay(folder);
}, 240_000);
afterAll(async () => {
  expect(await play.stop()).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

function save(text: string): void {
  writeFileSync(join(folder, 'edge.yaml'), text);
}

describe('the server', () => {
  interface Answer {
    readonly status: number;
    readonly headers: Readonly<Record<string, unknown>>;
  }

  /** Sends a request whose Host header need not be the address. */
  function ask(
    path: string,
    options: { readonly method?: string; readonly host?: string } = {},
  ): Promise<Answer> {
    const { method = 'GET', host } = options;
    return new Promise((resolve, reject) => {
      const sent = request(`${play.url.slice(0, -1)}${path}`, {
        method,
        headers: host === undefined ? {} : { host },
      });
      sent.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers }));
      });
      sent.on('error', reject).end();
    });
  }

  test('a request under the name of another site is refused, whatever it asks for', async () => {
    for (const path of ['/', '/page.js', '/play/events'])
      expect((await ask(path, { host: 'rebound.example.net' })).status, path).toBe(421);
    expect((await ask('/', { host: 'localhost' })).status).toBe(200);
  });

  test('only reading is answered, and only what exists', async () => {
    expect((await ask('/', { method: 'POST' })).status).toBe(405);
    expect((await ask('/nothing')).status).toBe(404);
    expect((await ask('/../package.json')).status).toBe(404);
    expect((await ask(`/play/plans/${'0'.repeat(64)}.bin`)).status).toBe(404);
    expect((await ask('/', { method: 'HEAD' })).status).toBe(200);
  });

  test('every answer has the policy: own files alone, no frame, no other site reads it', async () => {
    for (const path of ['/', '/page.js', '/nothing']) {
      const { headers } = await ask(path);
      expect(headers['content-security-policy'], path).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('an address that others reach is refused, as are stdin, a missing file and a sealed plan', async () => {
    const options = { cwd: folder };
    const open = await edgeplan(['play', '--host', '0.0.0.0'], options);
    expect([open.code, open.err]).toEqual([2, expect.stringContaining('served on loopback alone')]);
    expect((await edgeplan(['play', '-f', '-'], options)).code).toBe(2);
    const missing = await edgeplan(['play', '-f', 'none.yaml'], options);
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('there is no file `none.yaml`')]);
  });
});

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('the page', requires(missingBrowser()), () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** Opens the page at a fragment. */
  async function open(fragment = ''): Promise<{ readonly page: Page; readonly watch: Watch }> {
    const opened = await openWatched(browser);
    await opened.page.goto(`${play.url}${fragment}`);
    await opened.page.locator('.outcome h2').first().waitFor();
    return opened;
  }

  test('a URL is decided as it is typed, and a rule is found, with the keyboard alone', async () => {
    const { page, watch } = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('field-url');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('https://example.com/admin/x');
    await waitForDecision(page, 'Block 403');
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.id')) === 'field-ip') break;
    }
    await page.keyboard.type('198.51.100.7');
    await waitForDecision(page, 'Forward');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('203.0.113.7');
    await waitForDecision(page, 'Block 403');
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.getAttribute("role")')) === 'tab') break;
    }
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Rules', selected: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('summary:focus').waitFor();
    const chosen = page.locator('details.rule[open]');
    expect(await chosen.locator('.name').textContent()).toContain('drop #1 office');
    expect(await chosen.locator('.checks').textContent()).toContain('203.0.113.7 is outside the allowlist');
    // The fragment follows once the typing has settled.
    await until(() => new URL(page.url()).hash.includes('ip=203.0.113.7'), 'the fragment');
    expect(watch.complaints).toEqual([]);
    const elsewhere = watch.requests.filter((url) => !url.startsWith(play.url));
    expect(elsewhere).toEqual([]);
    await page.close();
  });

  test('a link opens the same request in the same view', async () => {
    const { page } = await open(
      '#url=https://example.com/account/a&tab=rules&method=POST&body=a%3D1&headers=X-A%3A+1',
    );
    await waitForDecision(page, 'Challenge');
    await page.getByRole('tab', { name: 'Rules', selected: true }).waitFor();
    expect(await page.getByLabel('Body').inputValue()).toBe('a=1');
    await page.getByRole('button', { name: 'Clear all but the URL' }).click();
    const left = '#url=https%3A%2F%2Fexample.com%2Faccount%2Fa&tab=rules';
    await until(() => new URL(page.url()).hash === left, 'the fragment without the rest');
    await page.close();
  });

  test('a curl line that is pasted fills the form; one that cannot be read says why', async () => {
    const { page } = await open();
    const paste = (text: string): Promise<unknown> =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        data.setData('text', ${JSON.stringify(text)});
        document.getElementById('field-url').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
      })()`);
    await paste(`curl 'https://example.com/account/x' -X PUT -H 'Accept: a/b' -A Robot/1 --data-raw 'a=1'`);
    await waitForDecision(page, 'Challenge');
    const values = [
      page.getByLabel('Method'),
      page.getByLabel('User-Agent'),
      page.getByLabel('Headers, one a line'),
      page.getByLabel('Body'),
    ].map((field) => field.inputValue());
    expect(await Promise.all(values)).toEqual(['PUT', 'Robot/1', 'Accept: a/b', 'a=1']);
    await paste('curl --proxy x https://example.com/');
    await page.getByText('the curl option `--proxy` is not supported').waitFor();
    await page.close();
  });

  test('packages that only some requests need load with the first of them, and the answer is right', async () => {
    const { page, watch } = await open('#url=https://example.com/');
    const loaded = (name: string): boolean => watch.requests.some((url) => url.includes(`/${name}-`));
    expect(loaded('idna-tables')).toBe(false);
    await page.getByLabel('URL, or a curl line').fill('https://münchen.example.com/');
    await waitForDecision(page, 'Refuse 421');
    expect(loaded('idna-tables')).toBe(true);
    await page.getByLabel('URL, or a curl line').fill('https://example.com/old/a/b');
    await waitForDecision(page, '/new/a/b');
    expect(watch.complaints).toEqual([]);
    await page.close();
  });

  test('a dry_run rule is shown with what it would do, and the decision as if it were enforced', async () => {
    const { page } = await open('#url=https://example.com/&country=RU');
    await waitForDecision(page, 'Forward');
    await page.locator('.dry-run').getByText('drop #2 would have answered 403').waitFor();
    await page.getByLabel('Show if enforced').check();
    await waitForDecision(page, 'Block 403');
    await page.close();
  });

  test('the autonomous system of the visitor is a field, and part of the command to copy', async () => {
    const { page } = await open('#url=https://example.com/');
    await waitForDecision(page, 'Forward');
    await page.getByLabel('AS number').fill('none');
    await page.getByText('`none` is not the number of an autonomous system').first().waitFor();
    await page.getByLabel('AS number').fill('AS64496');
    await waitForDecision(page, 'Forward');
    await expect.poll(() => page.url()).toContain('asn=AS64496');
    await page.close();
  });

  test('a mistake in a field is named, and the field that an assumption needs is one click away', async () => {
    const { page } = await open('#url=https://example.com/admin/x');
    await page.getByRole('button', { name: 'IP address not given' }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('field-ip');
    await page.keyboard.type('203.0.113');
    await page.getByText('`203.0.113` is not an IPv4 or IPv6 address').waitFor();
    await page.close();
  });

  test('the texts to take away decide as the page does', async () => {
    const { page, watch } = await open('#url=https://example.com/admin/x%3Fa%3D1&ip=203.0.113.7&tab=json');
    const text = page.locator('pre');
    const printed = JSON.parse((await text.textContent())!);
    expect([printed.format, printed.decision.status]).toEqual(['edgeplan.trace/v1', 403]);
    await page.getByRole('tab', { name: 'curl' }).click();
    const command = (await text.nth(1).textContent())!.replaceAll(' \\\n', ' ');
    expect(command.replace(/ +/g, ' ')).toBe(
      "edgeplan simulate -f edge.yaml 'https://example.com/admin/x?a=1' --ip 203.0.113.7",
    );
    await page.getByRole('tab', { name: 'As a test' }).click();
    await text.getByText('expect: block 403 by drop/office').waitFor();
    const tests = `tests:\n${await text.textContent()}`;
    writeFileSync(join(folder, 'edge.test.yaml'), tests);
    const run = await edgeplan(['test'], { cwd: folder });
    expect([run.code, run.out]).toEqual([0, expect.stringContaining('1 passed')]);
    expect(watch.complaints).toEqual([]);
    await page.close();
  });

  test('what a rate limit has counted before is typed, and decides as a test that sends the request as often', async () => {
    const { page, watch } = await open('#url=https://example.com/search&ip=203.0.113.7');
    await waitForDecision(page, 'Forward');
    await page.getByText('At the edge').click();
    const counted = page.getByLabel('rate_limit #6 slow');
    await page.getByLabel('of 5 in 60 s').waitFor();
    await counted.fill('4');
    await page.getByText('request 5 of 5 in 60 s for 203.0.113.7').waitFor();
    await counted.fill('5');
    await waitForDecision(page, 'Block 429');
    await counted.fill('five');
    await page.getByText('is not a count of a rate limit').waitFor();
    await counted.fill('');
    await waitForDecision(page, 'Forward');
    await counted.fill('5');
    await waitForDecision(page, 'Block 429');
    const address = async (): Promise<string> =>
      decodeURIComponent(String(await page.evaluate('location.hash')));
    // The state is written once it settles: the address may have the field of an earlier step until then.
    await until(async () => (await address()).includes('counted=rate_limit/slow=5'), 'the address');
    await page.reload();
    await waitForDecision(page, 'Block 429');
    await page.getByRole('tab', { name: 'curl' }).click();
    const command = (await page.locator('pre').nth(1).textContent())!.replaceAll(' \\\n', ' ');
    expect(command).toContain("--counted 'rate_limit/slow=5'");
    await page.getByRole('tab', { name: 'As a test' }).click();
    await page.locator('pre').getByText('repeat: 6').waitFor();
    writeFileSync(join(folder, 'edge.test.yaml'), `tests:\n${await page.locator('pre').textContent()}`);
    const run = await edgeplan(['test'], { cwd: folder });
    expect([run.code, run.out]).toEqual([0, expect.stringContaining('1 passed')]);
    expect(watch.complaints).toEqual([]);
    await page.close();
  });

  test('lint marks the rules, and a change of the file is followed: a new plan, its mistakes, the plan before beside it', async () => {
    const { page, watch } = await open('#url=https://example.com/admin/x&ip=203.0.113.7');
    await waitForDecision(page, 'Block 403');
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.locator('.item', { hasText: 'shadowed' }).locator('.finding').first().waitFor();
    await page.getByRole('tab', { name: 'Trace' }).click();
    save(EDGE.replace('key: office, type: drop,', 'key: office, type: drop, action_mode: dry_run,'));
    await waitForDecision(page, 'Forward');
    await page.getByText('plan #2, 6 rules').waitFor();
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    await waitForDecision(page, 'Block 403');
    await page.locator('.before', { hasText: 'before: blocked' }).waitFor();
    save(EDGE.replace('key: ask, type: captcha', 'key: ask, type: capcha'));
    const mistakes = page.getByRole('alert', { name: 'Mistakes in edge.yaml' });
    await mistakes.getByText('Plan #2, the last one that compiled, decides below.').waitFor();
    expect(await mistakes.locator('.place').textContent()).toMatch(/^edge\.yaml:9:\d+$/);
    await waitForDecision(page, 'Forward');
    save(EDGE);
    await mistakes.waitFor({ state: 'detached' });
    expect(watch.complaints).toEqual([]);
    await page.close();
  });
});
