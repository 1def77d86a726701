/** Lines of Envoy, Istio, Nginx Proxy Manager, AWS ALB and Traefik. */
import { describe, expect, it } from 'vitest';
import { readOne, requestOf } from '../../../support/access-log.ts';

const TIME = Date.UTC(2026, 0, 31, 12, 0, 0, 250);

describe('envoy', () => {
  const head = '[2026-01-31T12:00:00.250Z] "GET /a?b=1 HTTP/2"';

  it('reads the default format', () => {
    const line = `${head} 404 NR 0 95 3 - "192.0.2.9, 192.0.2.1" "a \\"b\\"" "id" "shop.example:8443" "10.0.0.1:80"`;
    expect(requestOf('envoy', line)).toMatchObject({
      method: 'GET',
      target: '/a?b=1',
      protocol: 'HTTP/2',
      host: 'shop.example:8443',
      ip: '192.0.2.1',
      headers: { 'user-agent': 'a "b"' },
      status: 404,
      time: TIME,
    });
  });

  it('reads the format of Istio, which has the failure of the upstream before the address', () => {
    const line = `${head} 200 - via_upstream - "-" 0 95 3 2 "192.0.2.1" "agent" "id" "shop.example" "10.0.0.1:80" outbound|80||a 10.0.0.2:1 10.0.0.3:80 10.0.0.4:2 - default`;
    expect(requestOf('envoy', line)).toMatchObject({
      host: 'shop.example',
      ip: '192.0.2.1',
      headers: { 'user-agent': 'agent' },
      status: 200,
    });
  });

  it.each([
    ['[2026-01-31T12:00:00.250Z] "- - -" 0 NR 0 0 0 - "-" "-" "-" "-" "-"', 'no_request'],
    [head, 'unreadable'],
    [`${head} 200 - 0 95 3 2 "192.0.2.1" "agen`, 'unreadable'],
    ['[2026-01-31][info] starting', 'unreadable'],
    ['', 'blank'],
  ])('%j is %s', (line, kind) => {
    expect(readOne('envoy', line).kind).toBe(kind);
  });
});

describe('proxy-manager', () => {
  const line = (status: string): string =>
    `[31/Jan/2026:13:00:00 +0100] ${status} - GET https shop.example "/a?b=[1]" [Client 2001:db8::1] [Length 12] [Gzip 3.10] [Sent-to 10.0.0.1] "agent" "https://a.example/"`;

  it.each(['HIT 200 404', '- - 404', '404'])('reads a line with the statuses %s', (status) => {
    expect(requestOf('proxy-manager', line(status))).toMatchObject({
      method: 'GET',
      target: '/a?b=[1]',
      scheme: 'https',
      host: 'shop.example',
      ip: '2001:db8::1',
      headers: { 'user-agent': 'agent', referer: 'https://a.example/' },
      status: 404,
      time: TIME - 250,
    });
  });

  it.each([
    ['[31/Jan/2026:13:00:00 +0100] 400 -', 'unreadable'],
    ['[31/Jan/2026:13:00:00 +0100] 192.0.2.1 200 "GET / HTTP/1.1" 1 "-" "a"', 'unreadable'],
    ['', 'blank'],
  ])('%j is %s', (text, kind) => {
    expect(readOne('proxy-manager', text).kind).toBe(kind);
  });
});

describe('alb', () => {
  const line = (type: string, request: string, client = '192.0.2.1:2817'): string =>
    `${type} 2026-01-31T12:00:00.250000Z app/lb/5 ${client} 10.0.0.1:80 0.000 0.001 0.000 404 200 34 366 "${request}" "agent" - - arn:aws "Root=1" "-" "-" 0 2026-01-31T12:00:00.000000Z "forward" "-" "-"`;

  it.each([
    ['http', 'GET http://shop.example:80/a?b=1 HTTP/1.1', 'http', '/a?b=1'],
    ['https', 'GET https://shop.example:443/a HTTP/1.1', 'https', '/a'],
    ['h2', 'POST https://shop.example:443/ HTTP/2.0', 'https', '/'],
    ['ws', 'GET ws://shop.example:80/s HTTP/1.1', 'http', '/s'],
    ['http', 'GET http://shop.example:80?b=1 HTTP/1.1', 'http', '/?b=1'],
  ])('reads a line of %s with %s', (type, request, scheme, target) => {
    expect(requestOf('alb', line(type, request))).toMatchObject({
      host: 'shop.example',
      scheme,
      target,
      ip: '192.0.2.1',
      headers: { 'user-agent': 'agent' },
      status: 404,
      time: TIME,
    });
  });

  it('reads an IPv6 client', () => {
    const read = requestOf('alb', line('http', 'GET http://a.example:80/ HTTP/1.1', '[2001:db8::1]:2817'));
    expect(read.ip).toBe('2001:db8::1');
  });

  it.each([
    [line('http', '- http://shop.example:80- - '), 'no_request'],
    [line('http', 'GET /x HTTP/1.1'), 'no_request'],
    [line('http', 'GET http://a.example/ HTTP/1.1').slice(0, 60), 'unreadable'],
  ])('%j is %s', (text, kind) => {
    expect(readOne('alb', text).kind).toBe(kind);
  });
});

describe('traefik', () => {
  const FIELDS = {
    ClientHost: '192.0.2.1',
    RequestMethod: 'GET',
    RequestPath: '/a?b=1',
    RequestProtocol: 'HTTP/2.0',
    RequestHost: 'shop.example',
    RequestScheme: 'https',
    DownstreamStatus: 404,
    StartUTC: '2026-01-31T12:00:00.250Z',
    'request_User-Agent': 'agent',
    request_Authorization: 'REDACTED',
    level: 'info',
    msg: '',
  };

  it('reads a line', () => {
    expect(requestOf('traefik', JSON.stringify(FIELDS))).toMatchObject({
      method: 'GET',
      target: '/a?b=1',
      protocol: 'HTTP/2.0',
      host: 'shop.example',
      scheme: 'https',
      ip: '192.0.2.1',
      headers: { 'user-agent': 'agent' },
      status: 404,
      time: TIME,
    });
  });

  it.each([
    [{ level: 'info', msg: 'started' }, 'no_request'],
    [{ a: 1 }, 'unreadable'],
  ])('%j is %s', (fields, kind) => {
    expect(readOne('traefik', JSON.stringify(fields)).kind).toBe(kind);
  });
});
