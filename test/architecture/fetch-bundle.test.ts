/**
 * `edgeplan/fetch` as one file for a Worker: it holds nothing of Node, makes no code from text, asks for no randomness
 * before its first request, and decides, challenges and clears where there is only what the web platform has.
 */
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { createEdge } from '../../src/edge/middleware/fetch/index.ts';
import { solve } from '../support/ask.ts';
import { type Bundle, bundleOf, foreignIn, runBundle, sharesOf } from '../support/bundle.ts';
import { sealedPlan, sealedSignatures } from '../support/embed.ts';

const ENTRY = new URL('../../src/edge/middleware/fetch/index.ts', import.meta.url).pathname;

/**
 * Octets, minified. Raised only with a reason: a Worker of Cloudflare's free plan holds 3 MB gzipped. The grammars of the WAF, what
 * reads bodies and look-around take 140,000, or 55,000 gzipped; conditions of rules 12,000, or 4,000 gzipped; captures of redirects 800;
 * keys of rate limits that consist of parts, their header fields and counts by status 4,500; lists 7,000; headers rules 4,500; registries 4,000; gateways and tokens with `jose` 41,000;
 * `concurrency` of usage plans 2,500.
 */
const MOST_OCTETS = 955_000;
const MOST_GZIPPED = 315_000;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleOf(ENTRY, 'edgeplan');
});

describe('one file for every platform', () => {
  test('holds nothing of Node, makes no code from text, loads none', () => {
    expect(foreignIn(bundle)).toEqual([]);
  });

  test('its size is within the bounds', () => {
    const octets = Buffer.byteLength(bundle.code);
    const gzipped = gzipSync(bundle.code, { level: 9 }).length;
    const shares = sharesOf(bundle);
    const told = [...shares].map(
      ([name, size]) => `${name} ${size} (${Math.round((size / octets) * 100)} %)`,
    );
    console.info(`fetch bundle: ${octets} octets, ${gzipped} gzipped; ${told.join(', ')}`);
    expect([...shares.keys()].sort()).toEqual([
      'altcha-lib',
      'edgeplan',
      'jose',
      'punycode',
      're2js',
      'tr46',
    ]);
    expect(octets).toBeLessThan(MOST_OCTETS);
    expect(gzipped).toBeLessThan(MOST_GZIPPED);
  });
});

/** What Workers, Deno and Bun share. `crypto` has no randomness until `begin` is called, as in a Worker's global scope. */
function webPlatform(): { readonly globals: Record<string, unknown>; begin(): void } {
  let begun = false;
  const real = globalThis.crypto;
  const guarded = <T>(value: () => T): T => {
    if (!begun) throw new Error('disallowed before the first request');
    return value();
  };
  const web = { Request, Response, Headers, URL, URLSearchParams, ReadableStream, DecompressionStream };
  const globals = {
    ...web,
    TextEncoder,
    TextDecoder,
    atob,
    btoa,
    console,
    performance,
    Uint8Array,
    crypto: {
      getRandomValues: (array: Uint8Array<ArrayBuffer>) => guarded(() => real.getRandomValues(array)),
      randomUUID: () => guarded(() => real.randomUUID()),
      get subtle() {
        return guarded(() => real.subtle);
      },
    },
  };
  return {
    globals,
    begin: () => {
      begun = true;
    },
  };
}

interface Bundled {
  readonly createEdge: typeof createEdge;
}

describe('where there is no Node', () => {
  const rules = [
    { id: 1, type: 'drop', path_includes: ['/admin'], ip_match_type: 'include', ips: ['203.0.113.0/24'] },
    { id: 2, type: 'captcha', path_includes: ['/members'], ttl_sec: 120 },
    { id: 3, type: 'waf', path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 64 },
    { id: 4, type: 'rate_limit', path_includes: ['/busy'], limit: 1, window_sec: 60 },
  ];

  test('decides, looks into bodies, challenges and lets in who has solved one', async () => {
    const { globals, begin } = webPlatform();
    const there = runBundle<Bundled>(bundle, 'edgeplan', globals);
    const edge = there.createEdge({ plans: [sealedPlan({ rules })], signatures: sealedSignatures() });
    begin();
    const send = (path: string, init: RequestInit = {}): Promise<Response> =>
      edge.handle(
        new Request(`https://shop.localhost${path}`, init),
        { ip: '203.0.113.7' },
        async (request) => {
          const body = await request.text();
          return new Response(`${request.headers.get('cookie')} ${body}`);
        },
      );
    expect([(await send('/')).status, (await send('/admin')).status]).toEqual([200, 403]);
    expect([(await send('/busy')).status, (await send('/busy')).status]).toEqual([200, 429]);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const posted = await send('/form', { method: 'POST', headers: form, body: 'a=attack' });
    expect(posted.status).toBe(403);
    const zipped = new Uint8Array(gzipSync('a=attack'));
    const inflated = { ...form, 'content-encoding': 'gzip' };
    expect((await send('/form', { method: 'POST', headers: inflated, body: zipped })).status).toBe(403);
    const fine = await send('/form', { method: 'POST', headers: form, body: 'a=fine' });
    expect([fine.status, await fine.text()]).toEqual([200, 'null a=fine']);
    const asked = await send('/members', { headers: { accept: 'text/html' } });
    expect([asked.status, asked.headers.get('content-security-policy')]).toEqual([
      403,
      expect.stringContaining("script-src 'sha256-"),
    ]);
    const page = { status: 403, headers: {}, body: await asked.text() };
    const proof = new URLSearchParams({ proof: await solve(page), back: '/members' });
    const handed = await send('/.well-known/edgeplan/proof', {
      method: 'POST',
      body: proof.toString(),
      headers: form,
    });
    const cookie = handed.headers.get('set-cookie')!.split(';', 1)[0]!;
    expect(cookie).toMatch(/^__Host-edgeplan_clear_captcha_2=/);
    const cleared = await send('/members', { headers: { cookie: `a=1; ${cookie}` } });
    expect([cleared.status, await cleared.text()]).toEqual([200, 'a=1 ']);
  });

  test('bytes that are no plan are refused with the same sentence', () => {
    const { globals } = webPlatform();
    const there = runBundle<Bundled>(bundle, 'edgeplan', globals);
    expect(() => there.createEdge({ plans: [new Uint8Array(400)] })).toThrow('these bytes are not a plan');
  });
});
