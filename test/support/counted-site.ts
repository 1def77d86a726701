/** A domain with fifty rules of all types, in part under dry_run, and requests that meet them. */
import { createServer, type Server } from 'node:http';
import type { RuleType } from '../../src/base/vocabulary/vocabulary.ts';
import { seeded } from './generate-random.ts';
import { writeMmdb } from './mmdb.ts';

/** A rule as the API takes it. */
export interface SiteRule {
  readonly type: RuleType;
  readonly body: Readonly<Record<string, unknown>>;
}

const EVERYBODY = ['0.0.0.0/0', '::/0'];

/** So many rules of one type; the first `enforced` of them are enforced. Each has a path of its own, by its number. */
function some(
  type: RuleType,
  [count, enforced]: readonly [number, number],
  body: (at: number) => SiteRule['body'],
): readonly SiteRule[] {
  return Array.from({ length: count }, (_, at) => ({
    type,
    body: { action_mode: at < enforced ? 'enforce' : 'dry_run', ...body(at) },
  }));
}

/** The rules; `port` is of the origin that some of them name. */
export function siteRules(port: number): readonly SiteRule[] {
  const origin = { address: '127.0.0.1', port, scheme: 'http' };
  const rules = [
    ...some('drop', [11, 6], (at) => ({ path_includes: [`/drop/${at}/*`], ips: EVERYBODY })),
    ...some('drop', [1, 0], () => ({ path_includes: ['/shop/*'], countries: ['FR'] })),
    // What is counted while processes are killed matches this one.
    ...some('drop', [1, 0], () => ({ path_includes: ['/s/*'], ips: EVERYBODY })),
    ...some('fingerprint', [2, 1], (at) => ({ match_ja4: [`t13d${at}*`], action: 'drop' })),
    ...some('bot_route', [3, 1], (at) => ({
      bot_kinds: [['gptbot', 'claudebot', 'ccbot'][at]],
      action: 'block',
    })),
    ...some('rate_limit', [4, 2], (at) => ({
      path_includes: [`/rate/${at}/*`],
      limit: 1,
      window_sec: 60,
    })),
    ...some('waf', [2, 1], (at) => ({ path_includes: [`/form/${at}/*`] })),
    ...some('redirect', [7, 5], (at) => ({
      path_includes: [`/old/${at}/*`],
      target: `/new/${at}`,
      status_code: at % 2 === 0 ? 301 : 302,
    })),
    ...some('captcha', [2, 1], (at) => ({ path_includes: [`/members/${at}/*`] })),
    ...some('rewrite', [5, 3], (at) => ({ path_includes: [`/rw/${at}/*`], path_target: `/rewritten/${at}` })),
    ...some('cache', [5, 3], (at) => ({
      path_includes: [`/static/${at}/*`],
      mode: 'standard',
      edge_ttl_sec: 3_600,
    })),
    ...some('origin_route', [4, 2], (at) => ({
      path_includes: [`/other/${at}/*`],
      ...origin,
      host_header: `other-${at}.test`,
    })),
    ...some('origin_pool', [1, 0], () => ({
      host_includes: ['pool.shop.test'],
      host_match_type: 'exact',
      origins: [{ ...origin, weight: 1 }],
      host_header: 'pool.test',
    })),
    ...some('error_page', [2, 1], (at) => ({
      codes: [404 + at],
      mode: 'custom',
      content: { '0': '<h1>No such page</h1>' },
    })),
  ];
  if (rules.length !== 50) throw new Error(`fifty rules, found ${rules.length}`);
  return rules;
}

/** An origin whose paths say how it responds: `/s/<status>/…`, `/missing/<status>/…`; all others with 200. */
export function siteOrigin(): Server {
  return createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const [, kind, status] = (request.url ?? '/').split('/');
      const named = kind === 's' || kind === 'missing';
      response.writeHead(named ? Number(status) : 200, { 'content-type': 'text/plain' });
      response.end(`${kind} ${'x'.repeat((request.url ?? '').length * 3)}`);
    });
  });
}

/** Countries of the visitors' addresses; those of 50.0.0.0/8 are in none. */
export function siteCountries(): Buffer {
  const named = Object.entries({ 20: 'DE', 21: 'FR', 22: 'US', 23: 'JP' });
  return writeMmdb(
    Object.fromEntries(named.map(([first, iso_code]) => [`${first}.0.0.0/8`, { country: { iso_code } }])),
  );
}

/** A request of a visitor. */
export interface SiteRequest {
  readonly method: 'GET' | 'POST';
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/124.0.0.0 Safari/537.36';
const BOTS = ['GPTBot/1.2', 'ClaudeBot/1.0', 'CCBot/2.0', 'curl/8.5.0', 'python-requests/2.31.0'];
const COUNTED = { drop: 11, rate: 4, form: 2, old: 7, members: 2, rw: 5, static: 5, other: 4 } as const;
const KINDS = Object.keys(COUNTED) as (keyof typeof COUNTED)[];

/** The n-th of all requests; the same one in every run. */
export function siteRequest(n: number): SiteRequest {
  const random = seeded(n + 1);
  // Few visitors and paths make most of the requests.
  const often = (most: number): number => Math.floor(most * (random.int(10_000) / 10_000) ** 4);
  const visitor = often(20_000);
  const address = `${[20, 21, 22, 23, 50][visitor % 5]}.7.${visitor >> 8}.${visitor % 256}`;
  const userAgent =
    visitor % 40 === 7 ? BOTS[Math.floor(visitor / 40) % BOTS.length]! : `${BROWSER} v${visitor % 37}`;
  const referrer = random.chance(0.4) ? { referer: `https://search.test/page/${often(2_000)}?q=${n}` } : {};
  const isPost = random.chance(0.05);
  return {
    method: isPost ? 'POST' : 'GET',
    host: random.chance(0.05) ? 'pool.shop.test' : 'shop.test',
    path: pathOf(),
    headers: {
      'x-forwarded-for': address,
      'user-agent': userAgent,
      ...referrer,
      ...(isPost ? { 'content-type': 'text/plain' } : {}),
    },
    body: isPost ? 'b'.repeat(random.int(2_000)) : null,
  };

  function pathOf(): string {
    const way = random.int(10);
    if (way < 5) return `/shop/${often(6_000)}?n=${n}`;
    if (way === 5) return `/missing/${[404, 405, 500, 503][random.int(4)]}/x`;
    const kind = random.pick(KINDS);
    const attack = kind === 'form' && random.chance(0.5) ? '?q=%3Cscript%3Ealert(1)%3C/script%3E' : '';
    return `/${kind}/${random.int(COUNTED[kind])}/${often(30)}${attack}`;
  }
}

/** A request that is one of many alike: the status of its response, which no other request has, marks them. */
export function markedRequest(status: number): SiteRequest {
  const headers = { 'x-forwarded-for': `20.9.9.${status % 256}`, 'user-agent': `${BROWSER} marked` };
  return { method: 'GET', host: 'shop.test', path: `/s/${status}/x`, headers, body: null };
}
