/** Lines of the common and combined formats, as nginx and Apache write them. */
import { describe, expect, it } from 'vitest';
import { createFactCounts } from '../../../../src/workbench/access-logs/entry.ts';
import { readOne, requestOf } from '../../../support/access-log.ts';

const TIME = Date.UTC(2000, 9, 10, 20, 55, 36);
const COMBINED =
  '203.0.113.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.1" 200 2326 "http://ref.test/" "Mozilla/5.0 (X11)"';

function withRequest(request: string, rest = '400 150 "-" "-"'): string {
  return `2001:db8::1 - - [10/Oct/2000:13:55:36 -0700] "${request}" ${rest}`;
}

describe('combined', () => {
  it('reads every field of a line', () => {
    expect(requestOf('combined', COMBINED)).toEqual({
      method: 'GET',
      host: 'default.example',
      target: '/a?b=c',
      scheme: 'https',
      ip: '203.0.113.7',
      protocol: 'HTTP/1.1',
      headers: { 'user-agent': 'Mozilla/5.0 (X11)', referer: 'http://ref.test/' },
      country: null,
      ja4: null,
      bot: undefined,
      time: TIME,
      status: 200,
    });
  });

  it('counts the facts that the format lacks', () => {
    const lacks = createFactCounts();
    requestOf('combined', withRequest('GET / HTTP/1.1'), { lacks });
    expect(lacks).toEqual({
      host: 1,
      scheme: 1,
      ip: 0,
      country: 1,
      asn: 1,
      user_agent: 1,
      ja4: 1,
      headers: 1,
      time: 0,
    });
  });

  it('reads the common format, which has no headers', () => {
    const read = requestOf('combined', withRequest('HEAD /x HTTP/1.0', '304 -'));
    expect(read).toMatchObject({ method: 'HEAD', headers: {}, status: 304, protocol: 'HTTP/1.0' });
  });

  it('reads fields after the combined ones as none of its own', () => {
    expect(requestOf('combined', `${COMBINED} "198.51.100.1, 10.0.0.1" 0.003`)).toMatchObject({
      headers: { 'user-agent': 'Mozilla/5.0 (X11)' },
    });
  });

  it.each([
    ['shop.example:443 ', 'shop.example:443'],
    ['shop.example ', 'shop.example'],
    ['[2001:db8::5]:443 ', '[2001:db8::5]:443'],
  ])('reads the virtual host of %j', (prefix, host) => {
    expect(requestOf('combined', prefix + COMBINED)).toMatchObject({ host, ip: '203.0.113.7' });
  });

  it('reads a user with spaces and a bracket', () => {
    const line = COMBINED.replace('- frank', '- fr ank[1]');
    expect(requestOf('combined', line)).toMatchObject({ target: '/a?b=c', ip: '203.0.113.7' });
  });

  it.each([
    ['GET http://shop.example/a HTTP/1.1', { host: 'shop.example', target: 'http://shop.example/a' }],
    ['GET https://shop.example:8443?q HTTP/2.0', { host: 'shop.example:8443', protocol: 'HTTP/2' }],
    ['GET /a b c HTTP/1.1', { target: '/a b c' }],
    ['GET /', { target: '/', protocol: undefined }],
    ['GET /a HTTP/9', { protocol: 'HTTP/9' }],
    ['PROPFIND /dav HTTP/1.1', { method: 'PROPFIND' }],
    ['M-SEARCH * HTTP/1.1', { method: 'M-SEARCH', target: '*' }],
    [String.raw`GET /\x22q\x22 HTTP/1.1`, { target: '/"q"' }],
    [String.raw`GET /\"q\\ HTTP/1.1`, { target: '/"q\\' }],
    [String.raw`GET /\xE2\x82\xAC HTTP/1.1`, { target: '/€' }],
    [String.raw`GET /\xZZ\x4 HTTP/1.1`, { target: '/\\xZZ\\x4' }],
    ['GET /€ HTTP/1.1', { target: '/€' }],
  ])('reads the request %j', (request, expected) => {
    expect(requestOf('combined', withRequest(request))).toMatchObject(expected);
  });

  it('unescapes a quoted User-Agent', () => {
    const rest = String.raw`200 1 "-" "a \x22b\x22 \"c\" d"`;
    const read = requestOf('combined', withRequest('GET / HTTP/1.1', rest));
    expect(read.headers).toEqual({ 'user-agent': 'a "b" "c" d' });
  });

  it.each([
    [String.raw`\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03`],
    [''],
    ['-'],
    ['GET'],
    [' / HTTP/1.1'],
    ['GET  HTTP/1.1'],
    [String.raw`\x03\x00\x00/*\xE0 x`],
  ])('finds no HTTP request in %j', (request) => {
    expect(readOne('combined', withRequest(request))).toEqual({ kind: 'no_request' });
  });

  it.each([
    ['garbage', 'there is no time in brackets'],
    ['203.0.113.7 - - [10/Oct/2000:13:55:36 -0700]', 'there is no quoted request after the time'],
    ['203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] "GET /cut', 'a quoted field does not end'],
    ['203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1"', 'there is no status'],
    [COMBINED.slice(0, -1), 'a quoted field does not end'],
    [COMBINED.slice(0, -10), 'a quoted field does not end'],
    [COMBINED.slice(0, COMBINED.indexOf('ref.test')), 'a quoted field does not end'],
    ['203.0.113.7 - - [yesterday] "GET / HTTP/1.1" 200 1', 'the time is not like'],
    ['203.0.113.7 [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 1', null],
  ])('says what is wrong with %j', (line, reason) => {
    const read = readOne('combined', line);
    if (reason === null) expect(read.kind).toBe('request');
    else expect(read).toEqual({ kind: 'unreadable', reason: expect.stringContaining(reason) });
  });

  it('reads a missing address and a Unix socket as unknown', () => {
    for (const ip of ['-', 'unix:']) {
      expect(requestOf('combined', COMBINED.replace('203.0.113.7', ip)).ip).toBeNull();
    }
  });

  it.each([
    ['10/Oct/2000:13:55:36 +0000', Date.UTC(2000, 9, 10, 13, 55, 36)],
    ['29/Feb/2024:23:59:59 +0530', Date.UTC(2024, 1, 29, 18, 29, 59)],
    ['31/Dec/1999:23:59:59 -0100', Date.UTC(2000, 0, 1, 0, 59, 59)],
  ])('reads the time %j', (text, time) => {
    const line = COMBINED.replace('10/Oct/2000:13:55:36 -0700', text);
    expect(requestOf('combined', line).time).toBe(time);
  });
});
