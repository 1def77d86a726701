/** Challenges over real sockets, and in a real browser. */
import { randomBytes } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import type { Secrets } from '../../src/edge/answers/challenge/keys.ts';
import type { Challenges } from '../../src/edge/proxy/services.ts';
import { type Answer, ask as askAt, hand as handAt, type Sent, solve } from '../support/ask.ts';
import { missingBrowser, startBrowser } from '../support/browser.ts';
import { startEdge, type TestEdge } from '../support/edge-node.ts';
import { requires } from '../support/requires.ts';

const FILE = `domain: shop.localhost
records:
  - { id: 5, name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
  - { id: 6, name: asks, type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true, captcha: true }
rules:
  - { id: 1, type: captcha, path_includes: ['/members/*'], ttl_sec: 120 }
  - { id: 2, type: captcha, path_includes: ['/other/*'] }
  - { id: 3, type: rate_limit, path_includes: ['/busy'], limit: 1, window_sec: 90, on_breach: captcha }
  - { id: 4, type: waf, paranoia: 1, threshold: 5, body_cap_kb: 64 }
`;
const HTML = { accept: 'text/html' };

/** Evaluates to the contrast (WCAG 2.1, relative luminance) of each visible element that has text of its own. */
const CONTRASTS = `(() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const part = (value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('main *')]
    .filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((one) => {
      const [ink, paper] = [luminance(parse(getComputedStyle(one).color)), luminance(behind(one))];
      return { text: one.textContent, contrast: (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) };
    });
})()`;

let secrets: Secrets;
let challenges: Challenges;
let edge: TestEdge;

beforeEach(async () => {
  secrets = { current: randomBytes(32), previous: [] };
  challenges = createChallenges({ secrets: () => secrets, cost: 20 });
  edge = await startEdge({ file: FILE, challenges, trusted: ['127.0.0.1'] });
});
afterEach(async () => {
  expect(edge.faults).toEqual([]);
  await edge.close();
});

function ask(path: string, sent: Sent = {}): Promise<Answer> {
  return askAt(edge.port, path, sent);
}

function hand(proof: string, sent: Sent & { readonly back?: string } = {}): Promise<Answer> {
  return handAt(edge.port, proof, sent);
}

/** Name and value of the clearance that an answer gives. */
function cookieOf({ headers }: Answer): string | null {
  return headers['set-cookie']?.[0]?.split(';', 1)[0] ?? null;
}

async function clear(path = '/members/a', sent: Sent = {}): Promise<string> {
  const page = await ask(path, { ...sent, headers: HTML });
  expect(page.status).toBe(403);
  const answer = await hand(await solve(page), { ...sent, back: path });
  expect([answer.status, answer.headers['location']]).toEqual([303, path]);
  return cookieOf(answer)!;
}

describe('the challenge', () => {
  test.each([[undefined], ['*/*'], ['application/json']])(
    'a client that accepts %s gets the challenge as JSON',
    async (accept) => {
      const answer = await ask('/members/a', { headers: accept === undefined ? {} : { accept } });
      expect([answer.status, answer.headers['content-type']]).toEqual([403, 'application/json']);
      expect(JSON.parse(answer.body)).toEqual({ error: 'challenge required' });
    },
  );

  test('a client that accepts HTML gets a page without subresources, which no cache stores', async () => {
    const answer = await ask('/members/a?x="><script>alert(1)</script>', { headers: HTML });
    expect([answer.status, answer.headers['cache-control']]).toEqual([403, 'no-store']);
    expect(answer.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^ ]+'; style/,
    );
    expect(answer.body).not.toContain('<script>alert');
    expect(answer.body).not.toMatch(/https?:\/\//);
    expect(answer.body).toContain('<html lang="en">');
  });

  test('a visitor without a known address gets an explanation and no challenge, and is never cleared', async () => {
    const cookie = await clear();
    await ask('/members/a', { headers: HTML });
    const asked = edge.journal.at(-1)!.exchange!;
    const answer = await challenges.ask({ ...asked, request: { ...asked.request, ip: null } });
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('the address of your connection is unknown');
    expect(answer.body).not.toContain('<script');
    const visit = { domain: 'shop.localhost', userAgent: 'test/1', cookies: cookie, now: Date.now() };
    expect(await challenges.cleared({ ...visit, ip: '203.0.113.9' })).toEqual(['captcha/1']);
    expect(await challenges.cleared({ ...visit, ip: null })).toEqual([]);
    expect(await challenges.cleared({ ...visit, ip: 'unknown' })).toEqual([]);
    expect(await challenges.cleared({ ...visit, ip: '203.0.113.9', now: visit.now + 121_000 })).toEqual([]);
    // Signed while the clock was years ahead.
    expect(await challenges.cleared({ ...visit, ip: '203.0.113.9', now: visit.now - 9e10 })).toEqual([]);
  });
});

describe('a solution', () => {
  test('a solution clears its rule for the clearance time, and no origin gets the cookie', async () => {
    const page = await ask('/members/a?x=1', { headers: HTML });
    const answer = await hand(await solve(page), { back: '/members/a?x=1' });
    expect([answer.status, answer.headers['location']]).toEqual([303, '/members/a?x=1']);
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^edgeplan_clear_captcha_1=\d+\.[\w-]{43}; Path=\/; Max-Age=120; HttpOnly; SameSite=Lax$/,
    );
    const cookie = `a=1; ${cookieOf(answer)}; b=2`;
    expect((await ask('/members/b', { headers: { ...HTML, cookie } })).status).toBe(200);
    expect(edge.seen.at(-1)?.headers.cookie).toBe('a=1; b=2');
    expect((await ask('/other/b', { headers: { ...HTML, cookie } })).status).toBe(403);
  });

  test.each([
    ['a record', { host: 'asks.shop.localhost' }, '/', 'record_6', 1_800],
    ['a captcha rule without a time', {}, '/other/a', 'captcha_2', 1_800],
    ['a rate limit', {}, '/busy', 'rate_limit_3', 90],
  ] as const)('%s asks, and is satisfied', async (_, sent, path, name, seconds) => {
    if (path === '/busy') expect((await ask(path, sent)).status).toBe(200);
    const page = await ask(path, { ...sent, headers: HTML });
    expect(page.status).toBe(403);
    const answer = await hand(await solve(page), { ...sent, back: path });
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      new RegExp(`^edgeplan_clear_${name}=.*Max-Age=${seconds};`),
    );
    const cookie = cookieOf(answer)!;
    if (path === '/busy') return;
    expect((await ask(path, { ...sent, headers: { ...HTML, cookie } })).status).toBe(200);
  });

  test('a solution is accepted once', async () => {
    const proof = await solve(await ask('/members/a', { headers: HTML }));
    const answers = await Promise.all([hand(proof), hand(proof), hand(proof)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(answers.filter((answer) => cookieOf(answer) !== null)).toHaveLength(1);
  });

  test.each([
    ['a long place', `/members/${'"'.repeat(2_039)}`, true],
    ['one that is longer', `/members/${'"'.repeat(2_040)}`, false],
    ['one that would be no form any more', `/members/${'"'.repeat(3_900)}`, false],
  ])('a solution for %s is accepted, whatever a form makes of the characters', async (_, path, kept) => {
    const page = await ask(path, { headers: HTML });
    const [, back = ''] = /name="back" value="([^"]*)"/.exec(page.body) ?? [];
    const answer = await hand(await solve(page), { back: back.replaceAll('&quot;', '"') });
    expect([answer.status, answer.headers['location']]).toEqual([303, kept ? path : '/']);
    expect(cookieOf(answer)).not.toBeNull();
  });

  test.each<[string, (proof: string) => string, Sent]>([
    ['by another browser', (proof) => proof, { headers: { 'user-agent': 'test/2' } }],
    ['from another network', (proof) => proof, { from: '203.0.114.7' }],
    ['with a counter of its own', (proof) => edit(proof, (claim) => claim.solution.counter++), {}],
    [
      'with a key of its own',
      (proof) => edit(proof, (claim) => (claim.solution.derivedKey = '00'.repeat(32))),
      {},
    ],
    [
      'for another rule',
      (proof) => edit(proof, (claim) => (claim.challenge.parameters.data.asker = 'captcha/2')),
      {},
    ],
    ['for longer', (proof) => edit(proof, (claim) => (claim.challenge.parameters.expiresAt += 900)), {}],
    ['made cheaper', (proof) => edit(proof, (claim) => (claim.challenge.parameters.cost = 1)), {}],
    ['without a signature', (proof) => edit(proof, (claim) => delete claim.challenge.signature), {}],
    ['that is something else', () => Buffer.from('{"challenge":[],"solution":7}').toString('base64'), {}],
  ])('a solution submitted %s is refused', async (_, change, sent) => {
    const answer = await hand(change(await solve(await ask('/members/a', { headers: HTML }))), sent);
    expect([answer.status, cookieOf(answer)]).toEqual([303, null]);
  });

  test.each([
    ['GET', '/.well-known/edgeplan/proof', '', 405],
    ['POST', '/.well-known/edgeplan/else', '', 404],
    ['POST', '/.well-known/edgeplan/proof', 'proof=!!!', 400],
    ['POST', '/.well-known/edgeplan/proof', `proof=${'a'.repeat(9_000)}`, 413],
  ])('a %s of %s gets the status of the challenge address', async (method, path, body, status) => {
    const answer = await ask(path, { method, ...(body === '' ? {} : { body }) });
    expect(answer.status).toBe(status);
    expect(edge.seen).toHaveLength(0);
  });

  test.each([
    '//evil.test/',
    '/\\evil.test',
    'https://evil.test/',
    '/a\r\nx: y',
    '/ä',
    '',
    '/.well-known/edgeplan/proof',
  ])('a solution never redirects to `%s`', async (back) => {
    const answer = await hand(await solve(await ask('/members/a', { headers: HTML })), { back });
    expect([answer.status, answer.headers['location'], answer.headers['x']]).toEqual([303, '/', undefined]);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a claim is whatever a client makes of it
function edit(proof: string, change: (claim: any) => unknown): string {
  const claim = JSON.parse(Buffer.from(proof, 'base64').toString('utf8'));
  change(claim);
  return Buffer.from(JSON.stringify(claim)).toString('base64');
}

describe('a clearance', () => {
  test('a clearance is valid within the network of its visitor only', async () => {
    const cookie = await clear();
    const status = async (sent: Sent): Promise<number> =>
      (await ask('/members/a', { ...sent, headers: { cookie, ...sent.headers } })).status;
    expect(await status({ from: '203.0.113.250' })).toBe(200);
    expect(await status({ from: '203.0.114.7' })).toBe(403);
    expect(await status({ from: '2001:db8::7' })).toBe(403);
    expect(await status({ headers: { 'user-agent': 'test/2' } })).toBe(403);
    expect(await status({ headers: { cookie: cookie.replace('captcha_1', 'captcha_2') } })).toBe(403);
    expect(
      await status({ headers: { cookie: cookie.replace(/=(\d+)/, (_, time) => `=${Number(time) + 60}`) } }),
    ).toBe(403);
    expect(await status({ headers: { cookie: cookie.slice(0, -1) } })).toBe(403);
    expect(
      await status({ headers: { cookie: `${'edgeplan_clear_captcha_1=1.x; '.repeat(3)}${cookie}` } }),
    ).toBe(200);
  });

  test('a clearance is found among other cookies of the same name', async () => {
    const cookie = await clear();
    const forged = cookie.replace('captcha_1', 'captcha_2');
    for (const junk of ['edgeplan_clear_captcha_1=1.x', forged]) {
      const many = Array.from({ length: 30 }, () => junk).join('; ');
      for (const sent of [`${many}; ${cookie}`, `${cookie}; ${many}`]) {
        expect((await ask('/members/a', { from: '203.0.113.250', headers: { cookie: sent } })).status).toBe(
          200,
        );
      }
    }
  });

  test('a clearance of IPv6 is valid within the /64', async () => {
    const cookie = await clear('/members/a', { from: '2001:db8:1:2::7' });
    const status = async (from: string): Promise<number> =>
      (await ask('/members/a', { from, headers: { cookie } })).status;
    expect([await status('2001:db8:1:2:ffff::1'), await status('2001:db8:1:3::7')]).toEqual([200, 403]);
  });

  test('a clearance is accepted after a rotation until the previous secret expires', async () => {
    const before = await clear();
    const old = secrets.current;
    secrets = { current: randomBytes(32), previous: [{ secret: old, until: Date.now() + 60_000 }] };
    const after = await clear();
    const status = async (cookie: string): Promise<number> =>
      (await ask('/members/a', { headers: { cookie } })).status;
    expect([await status(before), await status(after)]).toEqual([200, 200]);
    secrets = { current: secrets.current, previous: [{ secret: old, until: Date.now() - 1 }] };
    expect([await status(before), await status(after)]).toEqual([403, 200]);
  });

  test('a clearance expires with its secret without a rotation', async () => {
    const cookie = await clear();
    const until = Date.now() + 1_500;
    secrets = { current: randomBytes(32), previous: [{ secret: secrets.current, until }] };
    const status = async (): Promise<number> => (await ask('/members/a', { headers: { cookie } })).status;
    expect(await status()).toBe(200);
    await expect.poll(status).toBe(403);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
  });
});

describe('in Chromium', requires(missingBrowser()), () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser('--host-resolver-rules=MAP * 127.0.0.1');
  });
  afterAll(() => browser.close());

  // Chromium counts names below localhost as secure, so they have WebCrypto; others on plain HTTP do not.
  test.each([
    ['by its own PBKDF2', 'shop.localhost'],
    ["by the page's", 'shop.test'],
  ])('a visitor passes the challenge without an interaction, %s', async (_, domain) => {
    await edge.close();
    challenges = createChallenges({ secrets: () => secrets, cost: 200 });
    edge = await startEdge({ file: FILE.replace('shop.localhost', domain), challenges });
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('403')) problems.push(message.text());
    });
    const url = `http://${domain}:${edge.port}/members/a?x=1`;
    const first = await page.goto(url);
    expect(first?.status()).toBe(403);
    await page.waitForSelector('#origin');
    expect(await page.evaluate('isSecureContext')).toBe(domain.endsWith('localhost'));
    expect([page.url(), await page.textContent('#origin')]).toEqual([url, 'GET /members/a?x=1']);
    expect((await page.goto(url))?.status()).toBe(200);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('without JavaScript the page says that the check has not started and how to start it', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`http://shop.localhost:${edge.port}/members/a`);
    const text = await page.textContent('main');
    expect(text).toContain('The check has not started: it needs JavaScript.');
    expect(text).toContain('JavaScript is off in this browser. Turn it on for this site');
    expect(text).not.toContain('Checking');
    expect(await page.isVisible('progress')).toBe(false);
    expect(await page.isVisible('button')).toBe(false);
    await page.context().close();
  });

  test.each(['light', 'dark'] as const)(
    'every text of the page has a contrast of 4.5 at least, %s',
    async (colorScheme) => {
      const page = await browser.newPage({ javaScriptEnabled: true, colorScheme });
      // Without cookies the page waits, with its button.
      await page.addInitScript("Object.defineProperty(navigator, 'cookieEnabled', { get: () => false })");
      await page.goto(`http://shop.localhost:${edge.port}/members/a`);
      expect(await page.isVisible('button')).toBe(true);
      const contrasts = (await page.evaluate(CONTRASTS)) as readonly { text: string; contrast: number }[];
      expect(contrasts.length).toBeGreaterThan(4);
      for (const { text, contrast } of contrasts) expect(contrast, text).toBeGreaterThanOrEqual(4.5);
      await page.context().close();
    },
  );

  test('without cookies the page tries once, then explains; the keyboard starts another try', async () => {
    const page = await browser.newPage();
    await page.addInitScript("Object.defineProperty(navigator, 'cookieEnabled', { value: false })");
    await page.goto(`http://shop.localhost:${edge.port}/members/a`);
    await expect.poll(() => page.textContent('#status')).toContain('needs cookies');
    expect(await page.evaluate('document.activeElement.id')).toBe('again');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#origin');
    await page.context().close();
  });

  test('a clearance that is not stored leads to a button instead of a loop', async () => {
    const page = await browser.newPage();
    await page.goto(`http://shop.localhost:${edge.port}/members/a`);
    await page.waitForSelector('#origin');
    await page.context().clearCookies();
    await page.goto(`http://shop.localhost:${edge.port}/members/a`);
    await expect.poll(() => page.textContent('#status')).toContain('did not count');
    await page.context().close();
  });

  test('the challenge of a second rule after the first is no failure of that', async () => {
    const page = await browser.newPage();
    for (const path of ['/members/a', '/other/a']) {
      await page.goto(`http://shop.localhost:${edge.port}${path}`);
      await page.waitForSelector('#origin');
    }
    await page.context().close();
  });
});
