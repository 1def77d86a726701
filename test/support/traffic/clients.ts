/** Header sets of browsers, programs and services, as they send them. */
import type { Random } from '../generate-random.ts';

export type Headers = Readonly<Record<string, string>>;

const HOST = 'shop.example.com';

const CHROME: Headers = {
  host: HOST,
  connection: 'keep-alive',
  'sec-ch-ua': '"Chromium";v="124", "Google Chrome";v="124", "Not-A.Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
  'upgrade-insecure-requests': '1',
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-user': '?1',
  'sec-fetch-dest': 'document',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
};
const FIREFOX: Headers = {
  host: HOST,
  'user-agent': 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-language': 'de,en-US;q=0.7,en;q=0.3',
  'accept-encoding': 'gzip, deflate, br',
  dnt: '1',
  connection: 'keep-alive',
  referer: 'https://www.search.example/search?q=select+a+kettle&ie=UTF-8',
  'if-modified-since': 'Sat, 11 May 2024 10:00:00 GMT',
  'if-none-match': 'W/"5f3-18f6a1b2c3d"',
  te: 'trailers',
};
const SAFARI: Headers = {
  host: HOST,
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-site': 'same-origin',
  'accept-language': 'fr-FR,fr;q=0.9',
  'accept-encoding': 'gzip, deflate, br',
  'sec-fetch-mode': 'navigate',
  'user-agent':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Mobile/15E148 Safari/604.1',
  referer: 'https://shop.example.com/products?page=2&sort=price_asc',
  'sec-fetch-dest': 'document',
};
const WEBVIEW: Headers = {
  host: HOST,
  'user-agent':
    'Mozilla/5.0 (Linux; Android 13; SM-A536B Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/123.0.6312.118 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/461.0.0.47.85;]',
  accept: '*/*',
  'x-requested-with': 'com.example.shop',
  'accept-encoding': 'gzip, deflate',
  'accept-language': 'pt-BR,pt;q=0.9,en-US;q=0.8',
  referer: 'android-app://com.example.shop/',
};

export const BROWSERS: readonly Headers[] = [CHROME, FIREFOX, SAFARI, WEBVIEW];

const AGENTS = [
  'curl/8.5.0',
  'okhttp/4.12.0',
  'python-requests/2.31.0',
  'axios/1.6.8',
  'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
  'Go-http-client/2.0',
  'Apache-HttpClient/5.2.1 (Java/17.0.9)',
  'PostmanRuntime/7.37.3',
  'Dart/3.3 (dart:io)',
  'Shop/5.12.1 (com.example.shop; build:3411; iOS 17.4.1) Alamofire/5.9.1',
  'GuzzleHttp/7',
  'Faraday v2.9.0',
  'insomnia/9.1.0',
  'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0; Pro)',
];

export const READERS: readonly string[] = [
  'Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Twitterbot/1.0',
  'Tiny Tiny RSS/23.05 (https://tt-rss.org/)',
  'NetNewsWire (RSS Reader; https://netnewswire.com/)',
  'kube-probe/1.29',
  'ELB-HealthChecker/2.0',
  'GoogleHC/1.0',
  'Uptime-Kuma/1.23.11',
  'Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)',
  'Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
  'Prometheus/2.51.2',
];

/** A program's headers. */
export function apiClient(random: Random): Headers {
  return {
    host: HOST,
    'user-agent': random.pick(AGENTS),
    accept: random.pick(['*/*', 'application/json', 'application/json, text/plain, */*']),
    'accept-encoding': 'gzip, deflate',
    ...(random.chance(0.4) ? { authorization: `Bearer ${jwt(random)}` } : {}),
    ...(random.chance(0.2) ? { authorization: `Basic ${base64(random, 24)}` } : {}),
    ...(random.chance(0.3) ? { 'x-request-id': uuid(random) } : {}),
    ...(random.chance(0.2) ? { traceparent: `00-${hex(random, 32)}-${hex(random, 16)}-01` } : {}),
    ...(random.chance(0.2)
      ? { 'x-forwarded-for': '198.51.100.4, 10.0.0.2', 'x-forwarded-proto': 'https' }
      : {}),
  };
}

/** Three base64url parts, the first two of them JSON. */
export function jwt(random: Random): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: uuid(random), name: "Conor O'Brien", iat: 1_700_000_000, scope: 'openid email' };
  return `${part({ alg: 'RS256', typ: 'JWT', kid: hex(random, 8) })}.${part(claims)}.${octets(random, 64).toString('base64url')}`;
}

export function uuid(random: Random): string {
  const digits = hex(random, 32);
  return [8, 12, 16, 20, 32].map((end, i, ends) => digits.slice(i === 0 ? 0 : ends[i - 1], end)).join('-');
}

export function hex(random: Random, length: number): string {
  return random.times(length, () => random.pick([...'0123456789abcdef'])).join('');
}

export function base64(random: Random, count: number): string {
  return octets(random, count).toString('base64');
}

export function octets(random: Random, count: number): Buffer {
  return Buffer.from(random.times(count, () => random.int(256)));
}
