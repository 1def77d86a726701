/** Lines of JSON logs: nginx with names of its variables, Caddy, Cloudflare. */
import { describe, expect, it } from 'vitest';
import { createFactCounts } from '../../../../src/workbench/access-logs/entry.ts';
import { readOne, requestOf } from '../../../support/access-log.ts';

const TIME = Date.UTC(2026, 0, 31, 12, 0, 0, 250);

describe('nginx-json', () => {
  it.each([
    [
      { request: 'GET /a?b=1 HTTP/2.0', msec: '1769860800.250', http_host: 'shop.example' },
      { method: 'GET', target: '/a?b=1', protocol: 'HTTP/2', host: 'shop.example', time: TIME },
    ],
    [
      { request_method: 'POST', request_uri: '/p', server_protocol: 'HTTP/1.1', msec: 1769860800.25 },
      { method: 'POST', target: '/p', protocol: 'HTTP/1.1', host: 'default.example', time: TIME },
    ],
    [
      { method: 'GET', uri: '/a', args: 'x=1', time_iso8601: '2026-01-31T13:00:00+01:00' },
      { target: '/a?x=1', time: TIME - 250 },
    ],
    [
      { method: 'GET', uri: '/a', query: '?x=1', time_local: '31/Jan/2026:12:00:00 +0000' },
      { target: '/a?x=1', time: TIME - 250 },
    ],
    [
      { method: 'GET', path: '/', https: 'on', server_name: '_' },
      { scheme: 'https', host: 'default.example' },
    ],
    [
      { method: 'GET', path: '/', scheme: 'HTTP' },
      { scheme: 'http', time: Number.NaN },
    ],
    [
      {
        ...{ method: 'GET', path: '/', country: 'DE', geoip2_asn: '64496' },
        ja4: 't13d1516h2_8daaf6152771_02713d6af862',
      },
      { country: 'DE', asn: 64_496, ja4: 't13d1516h2_8daaf6152771_02713d6af862' },
    ],
    [
      { request: 'GET / HTTP/1.1', remote_addr: '2001:db8::1', status: '404', country: '-' },
      { ip: '2001:db8::1', status: 404, country: null },
    ],
    [
      { request: 'GET / HTTP/1.1', remote_addr: 'unix:', status: 200 },
      { ip: null, status: 200 },
    ],
  ])('reads %j', (fields, expected) => {
    expect(requestOf('nginx-json', JSON.stringify(fields))).toMatchObject(expected);
  });

  it('reads `$http_…` as headers, and leaves empty ones out', () => {
    const fields = {
      request: 'GET / HTTP/1.1',
      http_user_agent: 'a "b" €',
      http_referer: '-',
      http_accept_language: 'en',
      http_cookie: '',
      http_host: 'shop.example',
    };
    const { headers } = requestOf('nginx-json', JSON.stringify(fields));
    expect(headers).toEqual({ 'user-agent': 'a "b" €', 'accept-language': 'en' });
  });

  it.each([
    ['{"request":"","status":"400"}', { kind: 'no_request' }],
    ['{"request":"\\u0016\\u0003 x","status":"400"}', { kind: 'no_request' }],
    ['', { kind: 'blank' }],
    ['{"torn":', { kind: 'unreadable', reason: expect.stringContaining('not JSON') }],
    ['[]', { kind: 'unreadable', reason: expect.stringContaining('not an object') }],
    ['{"level":"info"}', { kind: 'unreadable', reason: expect.stringContaining('there is no request') }],
    ['{"kind":"unreadable"}', { kind: 'unreadable', reason: expect.stringContaining('no request') }],
  ])('reads %j as no request', (line, expected) => {
    expect(readOne('nginx-json', line)).toEqual(expected);
  });
});

const CADDY = {
  level: 'info',
  ts: 1769860800.25,
  logger: 'http.log.access.log0',
  msg: 'handled request',
  request: {
    remote_ip: '203.0.113.7',
    remote_port: '41342',
    client_ip: '198.51.100.9',
    proto: 'HTTP/2.0',
    method: 'GET',
    host: 'shop.example:8443',
    uri: '/a?b=%20',
    headers: {
      'User-Agent': ['curl/8.1'],
      Accept: ['*/*', 'text/html'],
      Cookie: ['REDACTED'],
    },
    tls: { resumed: false, version: 772, cipher_suite: 4865, proto: 'h2', server_name: 'shop.example' },
  },
  bytes_read: 0,
  user_id: '',
  duration: 0.0009,
  size: 2326,
  status: 200,
  resp_headers: { Server: ['Caddy'] },
};

describe('caddy', () => {
  it('reads every field of a line, and no redacted header', () => {
    const lacks = createFactCounts();
    expect(requestOf('caddy', JSON.stringify(CADDY), { lacks })).toEqual({
      method: 'GET',
      host: 'shop.example:8443',
      target: '/a?b=%20',
      scheme: 'https',
      ip: '198.51.100.9',
      protocol: 'HTTP/2.0',
      headers: { 'user-agent': 'curl/8.1', accept: ['*/*', 'text/html'] },
      country: null,
      ja4: null,
      bot: undefined,
      time: TIME,
      status: 200,
    });
    expect(lacks).toMatchObject({ host: 0, scheme: 0, headers: 0, country: 1 });
  });

  it.each([
    ['203.0.113.7:5555', '203.0.113.7'],
    ['[2001:db8::1]:5555', '2001:db8::1'],
  ])('reads the address %j of earlier versions', (address, ip) => {
    const request = { ...CADDY.request, remote_ip: undefined, client_ip: undefined, remote_addr: address };
    expect(requestOf('caddy', JSON.stringify({ ...CADDY, request, tls: null })).ip).toBe(ip);
  });

  it.each([
    ['2026-01-31T12:00:00.250Z', TIME],
    ['1769860800250', TIME],
  ])('reads the time %j', (ts, time) => {
    expect(requestOf('caddy', JSON.stringify({ ...CADDY, ts })).time).toBe(time);
  });

  it('reads a request without TLS as http', () => {
    const request = { ...CADDY.request, tls: undefined };
    expect(requestOf('caddy', JSON.stringify({ ...CADDY, request })).scheme).toBe('http');
  });

  it('finds no request in an event of the server', () => {
    expect(readOne('caddy', '{"level":"info","ts":1,"msg":"serving initial configuration"}')).toEqual({
      kind: 'no_request',
    });
  });
});

const CLOUDFLARE = {
  CacheCacheStatus: 'dynamic',
  ClientASN: 64500,
  ClientCountry: 'us',
  ClientIP: '2001:db8::7',
  ClientRequestHost: 'shop.example',
  ClientRequestMethod: 'GET',
  ClientRequestPath: '/a',
  ClientRequestProtocol: 'HTTP/2',
  ClientRequestReferer: '',
  ClientRequestScheme: 'https',
  ClientRequestURI: '/a?b=c',
  ClientRequestUserAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)',
  EdgeResponseStatus: 200,
  EdgeStartTimestamp: 1769860800250000000,
  BotScore: 1,
  VerifiedBotCategory: 'Search Engine Crawler',
  JA4: 't13d1516h2_8daaf6152771_02713d6af862',
  RequestHeaders: { 'Accept-Language': 'en' },
};

describe('cloudflare', () => {
  it('reads every field of a line, and whether the bot is verified', () => {
    const lacks = createFactCounts();
    const botOf = () => ({ kind: 'googlebot', verified: false });
    expect(requestOf('cloudflare', JSON.stringify(CLOUDFLARE), { lacks, botOf })).toEqual({
      method: 'GET',
      host: 'shop.example',
      target: '/a?b=c',
      scheme: 'https',
      ip: '2001:db8::7',
      protocol: 'HTTP/2',
      headers: { 'user-agent': CLOUDFLARE.ClientRequestUserAgent, 'accept-language': 'en' },
      country: 'us',
      asn: 64_500,
      ja4: CLOUDFLARE.JA4,
      bot: { kind: 'googlebot', verified: true },
      time: TIME,
      status: 200,
    });
    expect(lacks).toMatchObject({ host: 0, scheme: 0, country: 0, asn: 0, ja4: 0, headers: 1 });
  });

  it.each([
    ['2026-01-31T12:00:00Z', TIME - 250],
    [1769860800, TIME - 250],
    [1769860800250, TIME],
    ['1769860800250000000', TIME],
  ])('reads the time %j', (EdgeStartTimestamp, time) => {
    expect(requestOf('cloudflare', JSON.stringify({ ...CLOUDFLARE, EdgeStartTimestamp })).time).toBe(time);
  });

  it('names the fields that the Logpush job lacks', () => {
    expect(readOne('cloudflare', '{"ClientIP":"192.0.2.1"}')).toMatchObject({
      reason: expect.stringContaining('add the fields to the Logpush job'),
    });
  });
});
