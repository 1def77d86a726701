/** Who made the answer of a line, in each format: an origin, the proxy by itself, or the proxy for an origin that failed. */
import { describe, expect, it } from 'vitest';
import type { LoggedAnswer } from '../../../../src/workbench/access-logs/entry.ts';
import type { AccessFormat } from '../../../../src/workbench/access-logs/format.ts';
import { answerOf } from '../../../support/access-log.ts';

/** A line, what it says, and who answered. */
type Case = readonly [given: unknown, answer: string];

/** Reads each case with the line that `line` makes of it; an answer is `<status> <source> <location>`. */
function check<Given>(
  format: AccessFormat,
  line: (given: Given) => string,
): (given: unknown, answer: string) => void {
  return (given, answer) => {
    expect(textOf(answerOf(format, line(given as Given)))).toBe(answer);
  };
}

function textOf({ status, source, location }: LoggedAnswer): string {
  return [status, source, ...(location === '' ? [] : [location])].join(' ');
}

describe('combined', () => {
  const cases: readonly Case[] = [
    [301, '301 unknown'],
    ['-', '0 unknown'],
  ];
  it.each(cases)(
    'does not say who answered %j',
    check(
      'combined',
      (status) => `192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" ${status} 5 "-" "-"`,
    ),
  );
});

describe('nginx-json', () => {
  const cases: readonly Case[] = [
    [{ status: '200' }, '200 unknown'],
    [{ status: '200', upstream_status: '200' }, '200 origin'],
    [{ status: '403', upstream_status: '' }, '403 proxy'],
    [{ status: '403', upstream_status: '-' }, '403 proxy'],
    [
      { status: '301', upstream_status: '', sent_http_location: 'https://a.example/' },
      '301 proxy https://a.example/',
    ],
    [{ status: '200', upstream_status: '', upstream_cache_status: 'HIT' }, '200 origin'],
    [{ status: '200', upstream_status: '502, 200' }, '200 origin'],
    [{ status: '200', upstream_status: '404 : 200' }, '200 origin'],
    // nginx has replaced the answer of the upstream.
    [{ status: '302', upstream_status: '404' }, '302 unknown'],
    [{ status: '502', upstream_status: '502' }, '502 failure'],
    [{ status: '504', upstream_status: '' }, '504 failure'],
    [{ upstream_status: '200' }, '0 unknown'],
  ];
  it.each(cases)(
    'reads %j',
    check('nginx-json', (fields: object) => JSON.stringify({ request: 'GET / HTTP/1.1', ...fields })),
  );
});

describe('caddy', () => {
  const cases: readonly Case[] = [
    [{ status: 301, resp_headers: { Location: ['https://a.example/'] } }, '301 unknown https://a.example/'],
    [{ status: 403, resp_headers: {} }, '403 unknown'],
    [{ status: 200 }, '200 unknown'],
  ];
  it.each(cases)(
    'reads %j',
    check('caddy', (fields: object) => JSON.stringify({ request: { method: 'GET', uri: '/' }, ...fields })),
  );
});

describe('haproxy', () => {
  // As HAProxy 2.6 has written them.
  const cases: readonly Case[] = [
    ['app/one 0/0/0/4/4 404 102 - - ----', '404 origin'],
    ['app/<CACHE> 0/0/0/4/4 200 102 - - ----', '200 origin'],
    ['app/one 0/0/0/4/4 200 102 - - CD--', '200 origin'],
    ['shop/<NOSRV> 0/-1/-1/-1/0 403 192 - - PR--', '403 proxy'],
    ['shop/<NOSRV> 0/-1/-1/-1/0 301 89 - - LR--', '301 proxy'],
    ['down/one 0/0/-1/-1/3003 503 217 - - SC--', '503 failure'],
    ['none/<NOSRV> 0/-1/-1/-1/0 503 217 - - SC--', '503 failure'],
    ['slow/one 0/0/0/-1/2001 504 198 - - sH--', '504 failure'],
    ['shop/<NOSRV> -1/-1/-1/-1/5000 408 212 - - cR--', '408 unknown'],
    ['slow/one 0/0/0/-1/500 -1 0 - - CH--', '0 origin'],
  ];
  it.each(cases)(
    'reads %j',
    check(
      'haproxy',
      (words) => `192.0.2.1:3 [06/Feb/2026:12:14:14.655] shop ${words} 1/1/0/0/0 0/0 "GET / HTTP/1.1"`,
    ),
  );
});

describe('traefik', () => {
  const cases: readonly Case[] = [
    [{ DownstreamStatus: 404, OriginStatus: 404 }, '404 origin'],
    [{ DownstreamStatus: 301, OriginStatus: 0, downstream_Location: '/a' }, '301 proxy /a'],
    [{ DownstreamStatus: 301 }, '301 unknown'],
    [{ DownstreamStatus: 502, OriginStatus: 502 }, '502 failure'],
  ];
  it.each(cases)(
    'reads %j',
    check('traefik', (fields: object) =>
      JSON.stringify({ RequestMethod: 'GET', RequestPath: '/', ...fields }),
    ),
  );
});

describe('cloudflare', () => {
  const cases: readonly Case[] = [
    [{ EdgeResponseStatus: 403, OriginResponseStatus: 0, CacheCacheStatus: 'unknown' }, '403 proxy'],
    [{ EdgeResponseStatus: 403, OriginResponseStatus: 403 }, '403 origin'],
    [{ EdgeResponseStatus: 200, OriginResponseStatus: 0, CacheCacheStatus: 'hit' }, '200 origin'],
    [{ EdgeResponseStatus: 522, OriginResponseStatus: 0 }, '522 failure'],
    [{ EdgeResponseStatus: 301, ResponseHeaders: { location: '/b' } }, '301 unknown /b'],
  ];
  it.each(cases)(
    'reads %j',
    check('cloudflare', (fields: object) =>
      JSON.stringify({ ClientRequestMethod: 'GET', ClientRequestURI: '/', ...fields }),
    ),
  );
});

describe('cloudfront', () => {
  const cases: readonly Case[] = [
    [{ 'sc-status': 200, 'x-edge-result-type': 'Miss' }, '200 origin'],
    [{ 'sc-status': 301, 'x-edge-result-type': 'Redirect' }, '301 proxy'],
    [{ 'sc-status': 302, 'x-edge-result-type': 'FunctionGeneratedResponse' }, '302 proxy'],
    [
      { 'sc-status': 403, 'x-edge-result-type': 'Error', 'x-edge-detailed-result-type': 'ClientGeoBlocked' },
      '403 proxy',
    ],
    [
      {
        'sc-status': 502,
        'x-edge-result-type': 'Error',
        'x-edge-detailed-result-type': 'OriginConnectError',
      },
      '502 failure',
    ],
    [{ 'sc-status': 404, 'x-edge-result-type': 'Error' }, '404 unknown'],
  ];
  it.each(cases)(
    'reads %j',
    check('cloudfront', (fields: object) =>
      JSON.stringify({ 'cs-method': 'GET', 'cs-uri-stem': '/', ...fields }),
    ),
  );
});

describe('envoy', () => {
  const cases: readonly Case[] = [
    [['404 -', '"10.0.0.1:80"'], '404 origin'],
    [['404 NR', '"-"'], '404 proxy'],
    [['301 -', '"-"'], '301 proxy'],
    [['503 UF,URX', '"10.0.0.1:80"'], '503 failure'],
    [['404 -', ''], '404 unknown'],
  ];
  it.each(cases)(
    'reads %j',
    check(
      'envoy',
      ([status, host]: readonly string[]) =>
        `[2026-01-31T12:00:00.250Z] "GET / HTTP/2" ${status} 0 95 3 - "192.0.2.1" "agent" "id" "a.example" ${host}`,
    ),
  );
});

describe('proxy-manager', () => {
  const cases: readonly Case[] = [
    ['- 404 404', '404 origin'],
    ['HIT - 200', '200 origin'],
    ['- - 403', '403 proxy'],
    ['- 502, 200 200', '200 origin'],
    ['403', '403 unknown'],
  ];
  it.each(cases)(
    'reads %j',
    check(
      'proxy-manager',
      (words) =>
        `[31/Jan/2026:13:00:00 +0100] ${words} - GET https a.example "/" [Client 192.0.2.1] [Length 12] [Gzip -] [Sent-to 10.0.0.1] "agent" "-"`,
    ),
  );
});

describe('alb', () => {
  const cases: readonly Case[] = [
    [['404 404', '"forward" "-"'], '404 origin'],
    [['301 -', '"redirect" "https://a.example:443/"'], '301 proxy https://a.example:443/'],
    [['403 -', '"waf" "-"'], '403 proxy'],
    [['503 -', '"waf,forward" "-"'], '503 failure'],
    [['404 -', ''], '404 unknown'],
  ];
  it.each(cases)(
    'reads %j',
    check(
      'alb',
      ([statuses, actions]: readonly string[]) =>
        `http 2026-01-31T12:00:00.250000Z app/lb/5 192.0.2.1:1 - 0 0 0 ${statuses} 34 366 "GET http://a.example:80/ HTTP/1.1" "agent" - - arn:aws "Root=1" "-" "-" 0 2026-01-31T12:00:00Z ${actions}`,
    ),
  );
});
