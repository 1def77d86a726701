/** Lines of HAProxy and CloudFront, which logs are detected as which format, and the lines of chunks. */
import { describe, expect, it } from 'vitest';
import { readerOf } from '../../../../src/workbench/access-logs/format.ts';
import { readerContext, readOne, requestOf } from '../../../support/access-log.ts';

const HAPROXY =
  '10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {shop.example|agent #22x#22|} {} "GET /index.html HTTP/1.1"';
const TIME = Date.UTC(2009, 1, 6, 12, 14, 14, 655);

describe('haproxy', () => {
  it.each([
    ['', HAPROXY],
    ['syslog', `Feb  6 12:14:14 localhost haproxy[14389]: ${HAPROXY}`],
    ['RFC 5424', `<134>1 2009-02-06T12:14:14Z host haproxy 14389 - [id x="1"] ${HAPROXY}`],
  ])('reads a line with the head %j', (_, line) => {
    expect(requestOf('haproxy', line, { captures: ['host', 'user-agent', 'referer'] })).toEqual({
      method: 'GET',
      host: 'shop.example',
      target: '/index.html',
      scheme: 'https',
      ip: '10.0.1.2',
      protocol: 'HTTP/1.1',
      headers: { 'user-agent': 'agent "x"' },
      country: null,
      ja4: null,
      bot: undefined,
      time: TIME,
      status: 200,
    });
  });

  it('reads no captured headers without their names', () => {
    expect(requestOf('haproxy', HAPROXY)).toMatchObject({ host: 'default.example', headers: {} });
  });

  it.each([
    ['2001:db8::1:33317', '2001:db8::1'],
    ['::ffff:192.0.2.1:33317', '192.0.2.1'],
    ['unix:1', null],
  ])('reads the address %j', (text, ip) => {
    expect(requestOf('haproxy', HAPROXY.replace('10.0.1.2:33317', text)).ip).toBe(ip);
  });

  it('reads TLS at the frontend, and the absolute target of HTTP/2', () => {
    const line = HAPROXY.replace('http-in', 'https~').replace(
      '"GET /index.html HTTP/1.1"',
      '"GET https://shop.example/a#22b HTTP/2.0"',
    );
    expect(requestOf('haproxy', line, { scheme: 'http' })).toMatchObject({
      scheme: 'https',
      host: 'shop.example',
      target: 'https://shop.example/a"b',
    });
  });

  it.each([
    [HAPROXY.replace(/"GET.*/, '"<BADREQ>"'), 'no_request', ''],
    ['10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in/1: SSL handshake failure', 'no_request', ''],
    [
      '10.0.1.2:33317 [06/Feb/2009:12:14:14.655] tcp-in app/one 0/0/1 212 -- 1/1/1/1/0 0/0',
      'unreadable',
      'httplog',
    ],
    [HAPROXY.slice(0, -1), 'unreadable', 'cut short'],
    ['Proxy http-in started.', 'unreadable', 'no time'],
  ])('reads %j as %s', (line, kind, reason) => {
    expect(readOne('haproxy', line)).toEqual(
      kind === 'no_request' ? { kind } : { kind, reason: expect.stringContaining(reason) },
    );
  });
});

const HEAD = [
  '#Version: 1.0',
  '#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version',
];
const CLOUDFRONT =
  '2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.24\tGET\td111111abcdef8.cloudfront.net\t/index.html\t200\t-\tMozilla/5.0%2520(Windows%2520NT%252010.0)%20x\ta=1&b=%20\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\tshop.example\thttps\t23\t0.001\t-\tTLSv1.2\tECDHE-RSA-AES128-GCM-SHA256\tHit\tHTTP/2.0';

describe('cloudfront', () => {
  it('reads every column of a line, and a User-Agent that is encoded twice', () => {
    const reader = readerOf('cloudfront', readerContext());
    for (const line of HEAD) expect(reader(line)).toEqual({ kind: 'blank' });
    const entry = reader(CLOUDFRONT);
    expect(entry).toMatchObject({
      kind: 'request',
      time: Date.UTC(2019, 11, 4, 21, 2, 31),
      status: 200,
      request: {
        method: 'GET',
        host: 'shop.example',
        target: '/index.html?a=1&b=%20',
        scheme: 'https',
        ip: '192.0.2.24',
        headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) x' },
      },
    });
  });

  it('reads columns by their names in another order', () => {
    const reader = readerOf('cloudfront', readerContext());
    reader('#Fields: c-ip cs-uri-stem cs-method time date');
    expect(reader('192.0.2.1\t/a\tPOST\t10:00:00\t2026-01-31')).toMatchObject({
      request: { method: 'POST', target: '/a', host: 'default.example' },
      time: Date.UTC(2026, 0, 31, 10),
    });
  });

  it('reads JSON of version 2', () => {
    const fields = {
      'timestamp(ms)': '1769860800250',
      'c-ip': '2001:db8::1',
      'cs-method': 'GET',
      'cs-uri-stem': '/a',
      'cs-uri-query': '-',
      'x-host-header': 'shop.example',
      'cs-protocol': 'wss',
      'sc-status': '101',
      'c-country': 'DE',
      asn: '64496',
    };
    expect(requestOf('cloudfront', JSON.stringify(fields))).toMatchObject({
      target: '/a',
      country: 'DE',
      asn: 64_496,
      scheme: 'https',
      status: 101,
      time: Date.UTC(2026, 0, 31, 12, 0, 0, 250),
    });
  });

  it('says when a line is cut short', () => {
    const reader = readerOf('cloudfront', readerContext());
    for (const line of HEAD) reader(line);
    expect(reader(CLOUDFRONT.slice(0, 100))).toMatchObject({ reason: expect.stringContaining('of 24') });
  });
});
