import { describe, expect, test } from 'vitest';
import { decide, rule } from '../support/sample-rules.ts';
import { readTarget } from './path.ts';

const HOST = { host: 'example.com', port: null };

function read(target: unknown) {
  return readTarget(target, HOST, 'https');
}

describe('canonical path', () => {
  test.each([
    '/admin',
    '//admin',
    '/./admin',
    '/x/../admin',
    '/x/%2e%2e/admin',
    '/%61dmin',
    '/x/..%2fadmin',
    '/x\\..\\admin',
    '/x/..;/admin',
    '/;/admin',
    '/x/.%2E/admin',
    '/../../admin',
    '/%5cadmin',
    '/x/..;a=b/admin',
    '/%2e%3Bx/admin',
    'https://EXAMPLE.com/admin',
    'HTTPS://example.com:443//admin',
  ])('%s is /admin', (target) => {
    expect(read(target)).toMatchObject({ path: '/admin', twin: null, query: null });
    expect(decide({ rules: [rule('drop', 1, { path_includes: ['/admin'] })] }, { target }).action).toBe(
      'block',
    );
  });

  test.each([
    ['/', '/'],
    ['//', '/'],
    ['/a/..', '/'],
    ['/a/', '/a/'],
    ['/a/.', '/a/'],
    ['/a/b/..', '/a/'],
    ['/a/;x', '/a/'],
    ['/;x', '/'],
    ['/a//b', '/a/b'],
    ['/a%2Fb', '/a/b'],
    ['/%2561dmin', '/%61dmin'],
    ['/a%20b', '/a b'],
    ['/a%0ab', '/a\nb'],
    ['/%2a%3f', '/*?'],
    ['/%c3%a9', '/é'],
    ['/é', '/é'],
    ['/%F0%9F%98%80', '/😀'],
    ['/%ff%c3', '/%FF%C3'],
    ['/%c3%a9%a9', '/é%A9'],
    ['/%c0%ae%c0%ae/a', '/%C0%AE%C0%AE/a'],
    ['/%ed%a0%80', '/%ED%A0%80'],
    ['/é%a9', '/é%A9'],
    ['/a\ud800', '/a\ufffd'],
    ['/...', '/...'],
    ['/Admin', '/Admin'],
    ['https://example.com', '/'],
    ['https://example.com?a', '/'],
  ])('%s reads as %s', (target, path) => {
    expect(read(target)).toMatchObject({ path });
  });

  test.each([
    ['/%', 400],
    ['/%4', 400],
    ['/%zz', 400],
    ['/a%00', 400],
    ['/a b', 400],
    ['/a\tb', 400],
    ['/a\x7f', 400],
    ['/a#b', 400],
    ['/a?b#c', 400],
    ['/a;x%2fb', 400],
    ['/a;%5Cb', 400],
    ['/a;x\\b', 400],
    ['admin', 400],
    ['*', 400],
    ['ftp://example.com/', 400],
    ['https://other.com/admin', 400],
    ['https://example.com:8443/admin', 400],
    ['https://u@example.com/admin', 400],
    [['/'], 400],
    [undefined, 400],
    [`/${'a'.repeat(16 * 1024)}`, 414],
    [`/${'é'.repeat(8 * 1024)}`, 414],
    [`/ ${'a'.repeat(16 * 1024)}`, 414],
  ])('%s is refused', (target, status) => {
    expect(read(target)).toBe(status);
    expect(decide({}, { target })).toMatchObject({ action: 'refuse', status, rule: null, matches: [] });
  });

  test('16 KiB is still taken, and a ; ends its watch at the next raw /', () => {
    expect(read(`/${'a'.repeat(16 * 1024 - 1)}`)).toBeTypeOf('object');
    expect(read('/a;x/b%2fc')).toMatchObject({ path: '/a;x/b/c', twin: '/a/b/c' });
  });

  test('an absolute form agrees with Host when the ports do, written or not', () => {
    expect(readTarget('http://example.com/', HOST, 'https')).toMatchObject({ path: '/' });
    expect(readTarget('http://example.com:443/', HOST, 'https')).toMatchObject({ path: '/' });
    expect(readTarget('http://example.com:80/', HOST, 'https')).toBe(400);
    expect(readTarget('http://example.com/', { host: 'example.com', port: 443 }, 'https')).toBe(400);
    expect(readTarget('https://example.com/', { host: 'example.com', port: 443 }, 'https')).toMatchObject({
      path: '/',
    });
  });
});

describe('twin', () => {
  test.each([
    ['/admin;x', '/admin'],
    ['/a;b/c;d/', '/a/c/'],
    ['/a%3bb', '/a'],
    ['/a', null],
    ['/;x/a', null],
  ])('%s has the twin %s', (target, twin) => {
    expect(read(target)).toMatchObject({ twin });
  });

  const target = '/admin;x';
  test('an include matches when either form does', () => {
    const blocked = (path: string) =>
      decide({ rules: [rule('drop', 1, { path_includes: [path] })] }, { target }).action === 'block';
    expect([blocked('/admin'), blocked('/admin;x'), blocked('/other')]).toEqual([true, true, false]);
  });

  test('an exclude matches only when both forms do', () => {
    const blocked = (path: string) =>
      decide({ rules: [rule('drop', 1, { path_excludes: [path] })] }, { target }).action === 'block';
    expect([blocked('/admin'), blocked('/admin;x'), blocked('/admin*')]).toEqual([true, true, false]);
  });

  test('for cache it is the other way round', () => {
    const cached = (path_includes: string[], path_excludes: string[]) =>
      decide({ rules: [rule('cache', 1, { path_includes, path_excludes })] }, { target }).cache !== null;
    expect([cached(['/admin'], []), cached(['/admin*'], []), cached(['/admin', '/admin;x'], [])]).toEqual([
      false,
      true,
      false,
    ]);
    expect([cached([], ['/admin']), cached([], ['/other'])]).toEqual([false, true]);
  });
});

describe('forwarded path and query', () => {
  test.each([
    ['//admin', '/admin'],
    ['///', '/'],
    ['/a//b', '/a//b'],
    ['/a;x/b', '/a;x/b'],
    ['/;/admin', '/;/admin'],
    ['/%61dmin', '/%61dmin'],
    ['/a%2fb', '/a%2fb'],
    ['/%5cadmin', '/%5cadmin'],
    ['/x/../%61dmin', '/%61dmin'],
    ['/x/%2e%2e/a//b', '/a/b'],
    ['/x/..;y/a;z/', '/a;z/'],
    ['/a/..', '/'],
    ['/a/b/.', '/a/b/'],
    ['/a\\b%2fc', '/a/b/c'],
    ['/a/.%2fb', '/a/b'],
    ['/é"<>', '/%C3%A9%22%3C%3E'],
    ["/[a]@:!$&'()*+,=~{", "/[a]@:!$&'()*+,=~%7B"],
  ])('%s goes on as %s', (target, forwarded) => {
    expect(read(target)).toMatchObject({ forwarded });
    expect(decide({}, { target })).toMatchObject({ action: 'forward', path: forwarded });
  });

  test.each([
    ['/a', null],
    ['/a?', ''],
    ['/a?b?c=/../d', 'b?c=/../d'],
    ['/a?x=%zz|é\\', 'x=%zz%7C%C3%A9%5C'],
  ])('the query of %s is %s', (target, query) => {
    expect(read(target)).toMatchObject({ path: '/a', query });
    expect(decide({}, { target })).toMatchObject({ query });
  });
});
