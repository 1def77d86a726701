import { describe, expect, test } from 'vitest';
import {
  headerAsLatin1,
  hostOf,
  portOf,
  processorOf,
  readCookies,
  readHeaders,
  readRequestLine,
  utf8AsLatin1,
} from '../../../../../src/engine/waf/request/variables.ts';

const BASE = { scheme: 'https', method: 'GET', host: 'a.example', target: '/' };

describe('the variables of the request line', () => {
  test.each([
    ['/a/b.html?x=1', { uri: '/a/b.html?x=1', filename: '/a/b.html', basename: 'b.html', query: 'x=1' }],
    ['/a%2fb%20c?', { filename: '/a/b c', basename: 'b c', query: null }],
    ['/a%3Fb?c', { filename: '/a?b', query: 'c' }],
    ['/dir/', { filename: '/dir/', basename: '', query: null }],
    ['/100%', { filename: '/100%', basename: '100%' }],
    ['/%zz%41', { filename: '/%zzA' }],
    ['http://a.example/p?q', { raw: 'http://a.example/p?q', uri: '/p?q', filename: '/p', query: 'q' }],
    ['/é', { raw: '/\xc3\xa9', filename: '/\xc3\xa9' }],
    ['*', { filename: '*', basename: '*' }],
  ])('%s', (target, expected) => {
    expect(readRequestLine({ ...BASE, target })).toMatchObject(expected);
  });

  test('REQUEST_PROTOCOL is HTTP/1.1 without a protocol in the request', () => {
    expect(readRequestLine(BASE).protocol).toBe('HTTP/1.1');
    expect(readRequestLine({ ...BASE, protocol: 'HTTP/2' }).protocol).toBe('HTTP/2');
  });
});

describe('headers and cookies', () => {
  test('headers of one name stay separate, and host comes from the request', () => {
    const headers = { accept: ['a', 'b'], 'x-a': 'c', gone: undefined };
    expect(readHeaders({ ...BASE, headers })).toEqual([
      { name: 'host', value: 'a.example' },
      { name: 'accept', value: 'a' },
      { name: 'accept', value: 'b' },
      { name: 'x-a', value: 'c' },
    ]);
    expect(readHeaders({ ...BASE, host: ['a', 'b'] })).toHaveLength(2);
    expect(readHeaders({ ...BASE, headers: { host: 'c' } })).toEqual([{ name: 'host', value: 'c' }]);
  });

  test.each([
    [
      'a=1; b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      'a=1;; b ; =x;c=d=e  ',
      [
        ['a', '1'],
        ['b ', ''],
        ['c', 'd=e'],
      ],
    ],
    ['', []],
  ])('cookies of `%s`', (value, expected) => {
    const found = readCookies([{ name: 'cookie', value }]);
    expect(found.map((one) => [one.name, one.value])).toEqual(expected);
  });
});

test('a target becomes UTF-8, a header stays Latin-1 unless it has characters above U+00FF', () => {
  expect(utf8AsLatin1('aé€')).toBe('a\xc3\xa9\xe2\x82\xac');
  expect(headerAsLatin1('aé')).toBe('a\xe9');
  expect(headerAsLatin1('a€')).toBe('a\xe2\x82\xac');
});

test.each([
  ['application/x-www-form-urlencoded; charset=utf-8', 'URLENCODED'],
  ['Multipart/Form-Data; boundary=x', 'MULTIPART'],
  ['application/json', 'JSON'],
  ['application/problem+json', 'JSON'],
  ['application/vnd.a-b.c+json', 'JSON'],
  ['application/a_b+json', null],
  ['application/+json', null],
  ['text/xml', 'XML'],
  ['application/soap+xml; a', 'XML'],
  ['text/plain', null],
  [null, null],
])('a body of type %s is parsed as %s', (type, expected) => {
  expect(processorOf(type)).toBe(expected);
});

test.each([
  ['a.example:8443', 'http', 'a.example', '8443'],
  ['a.example', 'http', 'a.example', '80'],
  ['[::1]', 'https', '[::1]', '443'],
  ['[::1]:1', 'https', '[::1]', '1'],
])('SERVER_NAME and SERVER_PORT of %s', (authority, scheme, host, port) => {
  expect(hostOf(authority)).toBe(host);
  expect(portOf(authority, scheme)).toBe(port);
});
