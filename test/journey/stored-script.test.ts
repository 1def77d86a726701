/** Markup in every text that customers and visitors can store or send: no page runs it, and no answer is a document that could. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { missingBrowser, openWatched, startBrowser, type Watch } from '../support/browser.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { startEdge } from '../support/edge-node.ts';
import { openSection, signIn } from '../support/panel.ts';
import { startPlay } from '../support/play.ts';
import { say } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';

/** Runs where it becomes markup, without a blank, which paths do not have. */
const IMAGE = '<img/src=x/onerror=complain(1)>';
/** The same after the end of an attribute and of a script, in at most the 64 characters of a name. */
const MARKUP = `"'></script>${IMAGE}`;
const DOMAIN = 'stored.example';
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

let server: Served;
/** A key of an account whose name is markup. */
let key: string;
let folder: string;

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-stored-'));
  server = await serve({ args: ['--requests-per-minute', '1000000'] });
  await edgeplan(['account', 'create', MARKUP, ...server.data], { cwd: folder });
  key = (
    await edgeplan(['key', 'create', MARKUP, '--name', MARKUP, ...server.data], { cwd: folder })
  ).out.trim();
  await server.domain(DOMAIN);
  const member = await ok('POST', `/domains/${DOMAIN}/members/`, { name: MARKUP, role: 'admin' });
  await byOther('POST', `/invitations/${member.body.id}/accept`);
  for (const [path, body] of STORED) await byOther('POST', `/domains/${DOMAIN}${path}`, body);
  await byOther('PUT', `/domains/${DOMAIN}/publishing`, { publish_mode: 'manual' });
  const never = { name: MARKUP, when: { path: [`/${MARKUP}`] }, never: 'refuse' };
  await byOther('PUT', `/domains/${DOMAIN}/invariants`, { invariants: [never] });
  await byOther('POST', `/domains/${DOMAIN}/rules/drop/`, { path_includes: [`/draft${MARKUP}`] });
  await byOther('POST', '/tickets/', { subject: MARKUP, message: MARKUP, domain: DOMAIN });
}, 240_000);
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What is stored below the domain: path and body. */
const STORED: readonly (readonly [path: string, body: object])[] = [
  ['/records/', { name: '@', type: 'A', destination: '192.0.2.1', proxied: true, comment: MARKUP }],
  ['/records/', { name: '@', type: 'TXT', destination: `${IMAGE}"'`, comment: MARKUP }],
  ['/records/', { name: 'ca', type: 'CAA', destination: `0 issue "${IMAGE}"` }],
  ['/rules/drop/', { path_includes: [`/${MARKUP}`], path_excludes: [`/x/${MARKUP}`], countries: ['DE'] }],
  ['/rules/drop/', { path_match_type: 'regex', path_includes: [`^/[0-9]${IMAGE}`] }],
  ['/rules/redirect/', { path_includes: ['/r'], target: `/x?${IMAGE}` }],
  [
    '/rules/rewrite/',
    { path_includes: ['/rw'], path_target: `/${IMAGE}`, query_mode: 'replace', query_target: IMAGE },
  ],
  ['/rules/bot-route/', { bot_kinds: ['gptbot'], action: 'alt_content', body: MARKUP }],
  ['/rules/error-page/', { codes: [502], mode: 'custom', content: { '0': MARKUP } }],
  ['/rules/waf/', { exclusions: [{ tag: MARKUP, path: `/x${MARKUP}` }] }],
  ['/rules/fingerprint/', { match_ja4: [MARKUP], match_ja4h: [MARKUP], action: 'drop' }],
];

async function ok(method: string, path: string, body?: unknown) {
  const answer = await server.call(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer;
}

/** A request of the account whose name is markup. */
async function byOther(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status, `${path} ${await answer.text()}`).toBeLessThan(300);
}

describe('answers of the API', () => {
  const shown = (path: string) => `/domains/${DOMAIN}${path}`;

  test.each([
    ['a list', shown('/rules/error-page/')],
    ['a text', shown('/plans/1/diff/2')],
    ['a zone file', shown('/records/export')],
    ['octets', shown('/plans/1/bytes')],
    ['notices', '/notifications/'],
    ['tickets', '/tickets/'],
    ['the audit log', shown('/audit/')],
    ['a refusal', `/domains/${encodeURIComponent(MARKUP)}`],
    ['a URL that is none', '/domains/%zz'],
  ])('%s is no document: no other type is guessed, and nothing runs', async (_, path) => {
    for (const authorization of [`Bearer ${key}`, `Bearer ${key}`, `Bearer ${MARKUP}`]) {
      const { headers } = await fetch(`${server.url}${path}`, { headers: { authorization } });
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(headers.get('content-type')).not.toContain('html');
    }
  });

  test('an answer to what is no request is none either', async () => {
    const text = await say(server.port, `GET /${IMAGE} HTTP/1.1\r\n${IMAGE}\r\n\r\n`);
    expect(text).toContain('400 Bad Request');
    expect(text.toLowerCase()).toContain('x-content-type-options: nosniff\r\n');
    expect(text).not.toContain('<img');
  });
});

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('in a browser', requires(missingBrowser()), () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** Nothing has run or was kept from running by the policy, and no element and no link came out of the texts. */
  async function expectText(page: Page, watch: Watch): Promise<void> {
    const made = page.locator('img, iframe, object, embed, [onerror], a[href^="javascript:" i]');
    expect(await made.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML))).toEqual([]);
    // Of no policy: a busy server refuses a question with 503, and a proof without a body for an answer changes no page.
    const others = /^Failed to load resource|^failed: \S+\/proof /;
    expect(watch.complaints.filter((text) => !others.test(text))).toEqual([]);
  }

  /** The texts of the page and of its fields. */
  const textOf = (page: Page): Promise<string> =>
    page.evaluate(
      `[document.body.textContent, ...[...document.querySelectorAll('input, textarea, select')].map(({ value }) => value)].join('\\n')`,
    );

  test('every section of the page shows stored markup as text', async () => {
    const { page, watch } = await openWatched(browser);
    const url = encodeURIComponent(`https://${DOMAIN}/${IMAGE}`);
    await signIn(page, server, { domain: DOMAIN, key, fragment: `&url=${url}` });
    for (const section of ['Request', 'Rules', 'Draft', 'Records', 'History', 'Nodes']) {
      await openSection(page, section);
      if (section !== 'Nodes') await expect.poll(() => textOf(page), { message: section }).toContain(IMAGE);
      await expectText(page, watch);
    }
    for (const section of ['Rules', 'Records']) {
      await openSection(page, section);
      const names = page.locator(section === 'Rules' ? '.row-name' : 'th button.link');
      await names.first().waitFor();
      for (const name of await names.all()) {
        await name.click();
        await page.getByRole('dialog').waitFor();
        await expectText(page, watch);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    }
    await page.close();
  });

  test('the page of a file shows its markup and that of the address as text, in mistakes too', async () => {
    const rule = (path: string) => `  - { type: drop, path_includes: [${JSON.stringify(path)}] }\n`;
    const file = (more: string) =>
      `domain: ${DOMAIN}\nrecords:\n  - { name: "@", type: A, destination: 192.0.2.1, proxied: true, comment: ${JSON.stringify(MARKUP)} }\nrules:\n${rule(`/${MARKUP}`)}${more}`;
    writeFileSync(join(folder, 'edge.yaml'), file(''));
    const play = await startPlay(folder);
    const { page, watch } = await openWatched(browser);
    const address = `url=${encodeURIComponent(`https://${DOMAIN}/${IMAGE}`)}&user_agent=${encodeURIComponent(MARKUP)}`;
    await page.goto(`${play.url}#${address}`);
    await page.locator('.outcome h2').first().waitFor();
    await expectText(page, watch);
    for (const text of [`javascript:complain(3)`, `https://${IMAGE}/`]) {
      await page.goto(`${play.url}#url=${encodeURIComponent(text)}`);
      await expect.poll(() => textOf(page)).toContain(text);
      await expectText(page, watch);
    }
    writeFileSync(
      join(folder, 'edge.yaml'),
      file(`  - { type: redirect, target: ${JSON.stringify(MARKUP)} }\n`),
    );
    await expect.poll(() => textOf(page)).toContain(`found ${MARKUP}`);
    await expectText(page, watch);
    await page.close();
    expect(await play.stop()).toBe(0);
  });

  test("pages of the edge show the visitor's markup as text, and one customer's page is on no other's hosts", async () => {
    const edge = await startEdge({
      file: `domain: shop.localhost
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
rules:
  - { type: captcha, path_includes: ['/members/*'] }
  - { type: drop, path_includes: ['/refused*'] }
  - { type: error_page, codes: [502], mode: custom, content: { '0': '<p id="own">own</p>' } }
`,
      trusted: ['127.0.0.1'],
    });
    const markup = `?x=${MARKUP}&y=%22%3E%3Cimg%20src=x%20onerror=complain(4)%3E`;
    const asked = [
      [`/members/${markup}`, 'shop.localhost'],
      [`/refused${markup}`, 'shop.localhost'],
      [`/${markup}`, `"><img/src=x/onerror=complain(5)>`],
      ['/', 'elsewhere.localhost'],
      [`/%zz${markup}`, 'shop.localhost'],
    ] as const;
    for (const [path, host] of asked) {
      for (const accept of ['text/html', 'application/json']) {
        const answer = await ask(edge.port, path, { host, headers: { accept } });
        expect(answer.status, path).toBeGreaterThanOrEqual(400);
        const isHtml = String(answer.headers['content-type']).startsWith('text/html');
        expect([path, isHtml]).toEqual([path, accept === 'text/html']);
        expect(answer.body).not.toContain('id="own"');
        if (!isHtml) continue;
        expect(answer.headers['content-security-policy'], path).toMatch(
          /^default-src 'none'; .*frame-ancestors 'none'$/,
        );
        const { 'content-length': _, ...headers } = answer.headers;
        const sent = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, String(value)]),
        );
        const { page, watch } = await openWatched(browser);
        // The page of a challenge sends its proof, and stays.
        await page.route('**/*', (route) =>
          route.request().method() === 'GET'
            ? route.fulfill({ status: 200, headers: sent, body: answer.body })
            : route.fulfill({ status: 204 }),
        );
        await page.goto('http://shop.localhost/', { waitUntil: 'domcontentloaded' });
        await expectText(page, watch);
        await page.close();
      }
    }
    await edge.close();
  });
});
