/** The clients that people have: curl, openssl, a browser. What they are shown must read well, in the dark too. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import { missingBrowser, startBrowser } from '../support/browser.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

const run = promisify(execFile);

const RULES = [
  { id: 1, type: 'drop', path_includes: ['/blocked'] },
  { id: 2, type: 'captcha', path_includes: ['/members/*'] },
  { id: 3, type: 'rate_limit', path_includes: ['/busy'], limit: 1, window_sec: 60 },
  {
    id: 4,
    type: 'redirect',
    path_includes: ['/old'],
    target: 'https://shop.test/new',
    status_code: 301,
    preserve_query: false,
  },
  { id: 5, type: 'origin_route', path_includes: ['/down'], address: '127.0.0.1', port: 1, scheme: 'http' },
];

let edge: TlsNode;
beforeAll(async () => {
  if (OPENSSL_MISSING !== null) return;
  const secrets = { current: randomBytes(32), previous: [] };
  edge = await startTlsNode({
    names: ['shop.test', 'other.test', 'shop.localhost'],
    refused: ['gone.test'],
    fallback: 'shop.test',
    plan: { rules: RULES },
    challenges: createChallenges({ secrets: () => secrets, cost: 100 }),
    proxies: ['127.0.0.2'],
  });
});
afterAll(async () => {
  if (OPENSSL_MISSING !== null) return;
  expect(edge.faults).toEqual([]);
  await edge.stop();
});

/** Runs curl against the node, whatever name is asked for. */
async function curl(...args: readonly string[]): Promise<string> {
  const there = ['-sk', '--max-time', '20', '--connect-to', `::127.0.0.1:${edge.port}`];
  const { stdout } = await run('curl', [...there, ...args]);
  return stdout;
}

describe('curl', requires(OPENSSL_MISSING, missingProgram('curl')), () => {
  test('curl gets the reason of a block as JSON, with the reference of the header', async () => {
    const text = await curl('-i', 'https://shop.test/blocked');
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/2 403/);
    const { error, id } = JSON.parse(body);
    expect(error).toBe('access denied');
    expect(head.toLowerCase()).toContain(`x-edgeplan-id: ${id}`);
    expect(edge.entries.at(-1)!.id).toBe(id);
  });

  test.each([['--http1.1'], ['--http2']])(
    'curl gets responses, redirects and rate limits by %s',
    async (version) => {
      const told = ['-o', '/dev/null', '-w', '%{http_code} %{http_version} %{redirect_url}'];
      const number = version === '--http2' ? '2' : '1.1';
      expect(await curl(version, ...told, 'https://www.shop.test/')).toBe(`200 ${number} `);
      expect(await curl(version, ...told, 'https://shop.test/old')).toBe(
        `301 ${number} https://shop.test/new`,
      );
      expect(await curl(version, '-L', 'https://shop.test/old')).toContain('"url":"/new"');
      expect(await curl(version, ...told, '-d', 'a=b', 'https://shop.test/form')).toBe(`200 ${number} `);
      expect(await curl(version, ...told, '--head', 'https://shop.test/')).toBe(`200 ${number} `);
      expect(await curl(version, ...told, 'https://shop.test/down')).toBe(`502 ${number} `);
      expect(await curl(version, ...told, '-H', 'Host: other.test', 'https://shop.test/')).toBe(
        `421 ${number} `,
      );
    },
  );

  test('curl gets 429 with Retry-After', async () => {
    await curl('https://shop.test/busy');
    expect(await curl('-i', 'https://shop.test/busy')).toMatch(
      /^HTTP\/2 429 \r\n(?:.*\r\n)*retry-after: \d+\r\n/i,
    );
  });

  test('curl gets the challenge of a page as JSON without a puzzle', async () => {
    expect(JSON.parse(await curl('https://shop.test/members/a'))).toEqual({ error: 'challenge required' });
  });

  test('curl sends no body that is refused by its head', async () => {
    const text = await curl(
      '-v',
      '--http1.1',
      '-H',
      'Expect: 100-continue',
      '-d',
      'a=b',
      '-i',
      'https://shop.test/blocked',
    );
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
  });

  test('curl sends a client address by the PROXY protocol where it is trusted', async () => {
    const from = ['--interface', '127.0.0.2', '--haproxy-protocol'];
    expect(await curl(...from, 'https://shop.test/')).toContain('"x-forwarded-for":"127.0.0.2"');
    // From whom it is not expected it is no TLS.
    await expect(curl('--haproxy-protocol', 'https://shop.test/')).rejects.toThrow();
  });
});

/** What `openssl s_client` says after it has asked for `/` of a host. */
async function openssl(host: string, ...args: readonly string[]): Promise<string> {
  const there = ['s_client', '-connect', `127.0.0.1:${edge.port}`, '-ign_eof'];
  const running = run('openssl', [...there, ...args], { timeout: 20_000 });
  running.child.stdin?.on('error', () => undefined);
  running.child.stdin?.end(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const { stdout, stderr } = await running.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
}

describe('openssl s_client', requires(OPENSSL_MISSING), () => {
  test.each([
    ['shop.test', 'shop.test', 'shop.test', 200],
    ['other.test', 'www.other.test', 'other.test', 421],
    ['www.other.test', 'www.other.test', 'other.test', 200],
    ['shop.test', 'other.test', 'shop.test', 421],
  ])(
    'a handshake for %s and a request for %s get the right certificate and status',
    async (name, host, subject, status) => {
      const text = await openssl(host, '-servername', name);
      expect(text).toMatch(new RegExp(`subject=.*${subject}`));
      expect(text).toContain(`HTTP/1.1 ${status} `);
    },
  );

  test.each([['gone.test'], ['nobody.test']])('a handshake for %s is refused', async (name) => {
    const text = await openssl(name, '-servername', name);
    expect(text).toContain('unrecognized name');
    expect(text).not.toContain('HTTP/1.1');
  });

  test('a handshake without SNI gets the default certificate, and requests for any host are served', async () => {
    expect(await openssl('other.test', '-noservername')).toMatch(
      /subject=.*shop\.test[\s\S]*HTTP\/1\.1 200 /,
    );
  });

  test('a handshake by TLS 1.1 is refused', async () => {
    const text = await openssl(
      'shop.test',
      '-servername',
      'shop.test',
      '-tls1_1',
      '-cipher',
      'ALL@SECLEVEL=0',
    );
    expect(text).not.toContain('HTTP/1.1');
  });
});

/** Where pictures of the pages are put, to be looked at; unset: nowhere. */
const PICTURES = process.env['EDGEPLAN_PICTURES'];

/** What is wrong with a page for those who do not see it, or not well; run in the page. */
function faultsOfPage(): readonly string[] {
  const faults: string[] = [];
  const fail = (is: boolean, what: string): void => void (is || faults.push(what));
  fail(document.documentElement.lang !== '', 'no language');
  fail(document.title.trim().length > 5, 'no title');
  fail(document.querySelectorAll('main').length === 1, 'not one main landmark');
  fail(document.querySelectorAll('h1').length === 1, 'not one heading');
  fail(document.querySelector('meta[name=viewport]') !== null, 'no viewport');
  fail(document.documentElement.scrollWidth <= innerWidth, 'wider than the window');
  const channels = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const light = (colour: readonly number[]): number => {
    const [red = 0, green = 0, blue = 0] = colour.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  /** The colour behind an element: of the nearest one that has any. */
  const groundOf = (element: Element | null): number[] => {
    if (element === null) return [255, 255, 255];
    const [red = 0, green = 0, blue = 0, alpha = 1] = channels(getComputedStyle(element).backgroundColor);
    return alpha === 0 ? groundOf(element.parentElement) : [red, green, blue];
  };
  for (const one of document.querySelectorAll('h1, p, code, button')) {
    const box = one.getBoundingClientRect();
    if (box.width === 0) continue;
    const style = getComputedStyle(one);
    const ink = channels(style.color);
    const alpha = Number(style.opacity);
    const ground = groundOf(one);
    const mixed = ink.map((part, at) => part * alpha + (ground[at] ?? 0) * (1 - alpha));
    const [high, low] = [light(mixed), light(ground)].sort((a, b) => b - a) as [number, number];
    const ratio = (high + 0.05) / (low + 0.05);
    // WCAG 2.2, success criterion 1.4.3.
    fail(ratio >= 4.5, `contrast of ${ratio.toFixed(2)} in ${one.tagName} ${one.textContent?.slice(0, 30)}`);
    if (one.tagName === 'BUTTON') fail(box.height >= 24, 'a button too small to hit');
  }
  return faults;
}

describe('Chromium', requires(OPENSSL_MISSING, missingBrowser()), () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  const SCHEMES = ['light', 'dark'] as const;

  async function open(
    colorScheme: (typeof SCHEMES)[number],
    width: number,
  ): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
    const viewport = { width, height: 700 };
    const context = await browser.newContext({ colorScheme, viewport, ignoreHTTPSErrors: true });
    const page = await context.newPage();
    return { context, page };
  }

  async function judge(page: Page, name: string): Promise<void> {
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    }
    expect(await page.evaluate(faultsOfPage)).toEqual([]);
  }

  const url = (path: string): string => `https://shop.localhost:${edge.port}${path}`;

  test.each(SCHEMES)('Chromium shows the pages of refusals and failures, %s', async (scheme) => {
    for (const width of [1_000, 320]) {
      const { context, page } = await open(scheme, width);
      for (const [path, status] of [
        ['/blocked', 403],
        ['/down', 502],
        ['/a%00b', 400],
      ] as const) {
        const answer = await page.goto(url(path));
        expect(answer?.status()).toBe(status);
        const id = answer?.headers()['x-edgeplan-id'];
        expect(await page.textContent('main code')).toBe(id);
        await judge(page, `${status}-${scheme}-${width}`);
      }
      await page.goto(url('/busy'));
      const limited = await page.goto(url('/busy'));
      expect(limited?.status()).toBe(429);
      await judge(page, `429-${scheme}-${width}`);
      await context.close();
    }
  });

  test.each(SCHEMES)('Chromium solves the challenge and reaches the page, %s', async (scheme) => {
    const { context, page } = await open(scheme, 1_000);
    // Held while the page is looked at.
    await page.addInitScript(`const submit = HTMLFormElement.prototype.submit;
        HTMLFormElement.prototype.submit = function () { globalThis.go = () => submit.call(this); }`);
    await page.goto(url('/members/a?x=1'));
    await expect.poll(() => page.evaluate('globalThis.go !== undefined')).toBe(true);
    await judge(page, `challenge-${scheme}`);
    expect(await page.getAttribute('#status', 'role')).toBe('status');
    await Promise.all([page.waitForEvent('load'), page.evaluate('globalThis.go()')]);
    await expect.poll(() => page.evaluate("document.getElementById('status') === null")).toBe(true);
    expect(await page.textContent('body')).toContain('"url":"/members/a?x=1"');
    await context.close();
  });

  test.each(SCHEMES)('Chromium shows a button for the keyboard where cookies are off, %s', async (scheme) => {
    const { context, page } = await open(scheme, 320);
    await page.addInitScript("Object.defineProperty(navigator, 'cookieEnabled', { value: false })");
    await page.goto(url('/members/a'));
    await expect.poll(() => page.textContent('#status')).toContain('needs cookies');
    expect(await page.evaluate('document.activeElement.id')).toBe('again');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
    await judge(page, `cookies-${scheme}`);
    await context.close();
  });
});
