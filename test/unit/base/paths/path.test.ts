import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hasDotSegment,
  mergeLeadingSlashes,
  parseTarget,
  pathPieces,
  type TargetFacts,
  targetMistake,
} from '../../../../src/base/paths/path.ts';

const LEFT_OVER: TargetFacts = {
  path: 'left over',
  pathWithoutParameters: 'left over',
  forwarded: 'left over',
  query: 'left over',
  encodedQuery: 'left over',
  authority: 'left over',
  authorityScheme: 'http',
};

/** The facts of a target, or the status it is refused with. What an earlier target left must not show. */
function read(target: string): TargetFacts | number {
  const out = { ...LEFT_OVER };
  const refused = parseTarget(target, out);
  return refused === 0 ? out : refused;
}

function factsOf(target: string): TargetFacts {
  const facts = read(target);
  if (typeof facts === 'number') throw new Error(`${target}: ${facts}`);
  return facts;
}

describe('canonical path', () => {
  test.each([
    '/admin',
    '//admin',
    '///admin',
    '/./admin',
    '/x/../admin',
    '/x/%2e%2e/admin',
    '/x/%2E./admin',
    '/x/.%2e/admin',
    '/%61dmin',
    '/%61%64%6D%69%6e',
    '/x/..%2fadmin',
    '/x/..%2Fadmin',
    '/x\\..\\admin',
    '/x%5c..%5Cadmin',
    '/x/..;/admin',
    '/x/..;p=1/admin',
    '/;/admin',
    '/;a;b/admin',
    '/.;x/admin',
    '/%3b/admin',
    '/%2e/admin',
    '/../admin',
    '/../../../admin',
    '/x/y/../../admin',
    '/x/./../admin',
    '/%5cadmin',
    '/%2fadmin',
    '/x/..;%3b/admin',
    '/admin?x=../y',
  ])('%s is /admin', (target) => expect(factsOf(target).path).toBe('/admin'));

  test.each([
    ['/', '/'],
    ['//', '/'],
    ['/.', '/'],
    ['/..', '/'],
    ['/;x', '/'],
    ['/a/', '/a/'],
    ['/a//', '/a/'],
    ['/a/.', '/a/'],
    ['/a/b/..', '/a/'],
    ['/a/;x', '/a/'],
    ['/a/.;x', '/a/'],
    ['/a/%2e', '/a/'],
    ['/a%2f', '/a/'],
    ['/a%5C', '/a/'],
    ['/a\\', '/a/'],
    ['/a/..', '/'],
    ['/a/b//c', '/a/b/c'],
    ['/a;x/b', '/a;x/b'],
    ['/a%3bx/b', '/a;x/b'],
    ['/...', '/...'],
    ['/..a', '/..a'],
    ['/.a', '/.a'],
    ['/a..', '/a..'],
    ['/%2561dmin', '/%61dmin'],
    ['/%252e%252e/x', '/%2e%2e/x'],
    ['/%20', '/ '],
    ['/a%3Fb', '/a?b'],
    ['/%23', '/#'],
    ['/%25', '/%'],
    ['/%7e', '/~'],
    ['/caf%C3%A9', '/café'],
    ['/café', '/café'],
    ['/%F0%9F%98%80', '/😀'],
    ['/%c3', '/%C3'],
    ['/%ff%fE', '/%FF%FE'],
    ['/%c0%af', '/%C0%AF'],
    ['/%e0%80%af', '/%E0%80%AF'],
    ['/%ed%a0%80', '/%ED%A0%80'],
    ['/%f4%90%80%80', '/%F4%90%80%80'],
    ['/%c3é', '/%C3é'],
    ['/\ud800', '/\ufffd'],
    ['/%2A', '/*'],
  ])('%s is %s', (target, path) => expect(factsOf(target).path).toBe(path));

  test.each([
    ['a bad escape', '/%', 400],
    ['half an escape', '/a%4', 400],
    ['no hexadecimal', '/%zz', 400],
    ['a bad escape behind a good one', '/%41%4g', 400],
    ['NUL', '/a%00b', 400],
    ['a raw space', '/a b', 400],
    ['a raw space in the query', '/a?b c', 400],
    ['a raw tab', '/a\tb', 400],
    ['a raw NUL', '/a\0', 400],
    ['a raw DEL', '/a\x7f', 400],
    ['a raw fragment', '/a#b', 400],
    ['a raw fragment in the query', '/a?b#c', 400],
    ['a newline', '/a\r\nb', 400],
    ['no slash first', 'admin', 400],
    ['an asterisk', '*', 400],
    ['an authority', 'example.com:443', 400],
    ['another scheme', 'ftp://example.com/', 400],
    ['a backslash first', '\\admin', 400],
    ['params that hide a slash', '/a;%2fb', 400],
    ['params that hide a backslash', '/a;x%5Cb', 400],
    ['params that hold a backslash', '/a;x\\b', 400],
    ['params that hide a slash after others', '/a;x/b;y%2F../c', 400],
    ['a target of 16,385 octets', `/${'a'.repeat(16_384)}`, 414],
    ['a query of 16,385 octets', `/?${'a'.repeat(16_383)}`, 414],
    ['16,386 octets in 8,194 characters', `/${'é'.repeat(8_192)}a`, 414],
    ['16,387 octets in surrogate pairs', `/${'😀'.repeat(4_096)}ab`, 414],
    ['too long and full of blanks: length is judged first', ' '.repeat(16_385), 414],
  ])('refuses %s', (_name, target, status) => expect(read(target)).toBe(status));

  test('a target of exactly 16,384 octets is read', () => {
    for (const target of [`/${'a'.repeat(16_383)}`, `/a${'é'.repeat(8_191)}`, `/abc${'😀'.repeat(4_095)}`]) {
      expect(factsOf(target).path).toBe(target);
    }
  });

  test('`;` hides a slash only when it is raw, and only before the next raw slash', () => {
    expect(factsOf('/a%3b%2fb').path).toBe('/a;/b');
    expect(factsOf('/a;x/%2fb').path).toBe('/a;x/b');
    expect(factsOf('/a%2fb;x').path).toBe('/a/b;x');
  });

  test('a target of nothing but `;` takes no longer than any other', () => {
    // With a look to the segment's end from each of them, a thousand of these take minutes.
    const target = `/a${';'.repeat(16_000)}`;
    for (let times = 0; times < 1_000; times++) expect(read(target)).not.toBe(400);
    expect(read(`${target}%2f`)).toBe(400);
    expect(read(`/;a/${';'.repeat(9)}\\`)).toBe(400);
  });

  test('the query does not affect the canonical path', () => {
    expect(read('/a?%zz')).toMatchObject({ path: '/a', query: '%zz' });
    expect(read('/a?;%2f\\')).toMatchObject({ path: '/a', query: ';%2f\\' });
    expect(read('/a?/../b')).toMatchObject({ path: '/a', query: '/../b' });
  });
});

describe('twin', () => {
  test.each([
    ['/admin;x', '/admin'],
    ['/a;x/b;y', '/a/b'],
    ['/a;x/b/', '/a/b/'],
    ['/a%3bx', '/a'],
    ['/a;;', '/a'],
    ['/x/..;y/admin;z', '/admin'],
  ])('of %s is %s', (target, twin) => expect(factsOf(target).pathWithoutParameters).toBe(twin));

  test.each(['/admin', '/;x', '/a/;x', '/..;x/a', '/a?b;c', '/a%253bx'])('%s has none', (target) =>
    expect(factsOf(target).pathWithoutParameters).toBeNull(),
  );
});

describe('query', () => {
  test.each([
    ['/a', null, null],
    ['/a?', '', ''],
    ['/a?b=1&c', 'b=1&c', 'b=1&c'],
    ['/a?b?c', 'b?c', 'b?c'],
    ['/a?%61', '%61', '%61'],
    ['/a?é', 'é', '%C3%A9'],
    ['/a?"<>', '"<>', '%22%3C%3E'],
    ['/%61?"', '"', '%22'],
  ])('of %s is %j, sent on as %j', (target, query, encodedQuery) =>
    expect(factsOf(target)).toMatchObject({ query, encodedQuery }),
  );
});

describe('absolute form', () => {
  test.each([
    ['http://example.com/a?b', { authority: 'example.com', authorityScheme: 'http', path: '/a', query: 'b' }],
    ['HTTPS://Example.com:8443/a', { authority: 'Example.com:8443', authorityScheme: 'https', path: '/a' }],
    ['https://example.com', { authority: 'example.com', path: '/', query: null, forwarded: '/' }],
    ['https://example.com?x', { authority: 'example.com', path: '/', query: 'x' }],
    ['https://user@example.com/', { authority: 'user@example.com', path: '/' }],
    ['https:///a', { authority: '', path: '/a' }],
    ['https://example.com//a/../b', { path: '/b', forwarded: '/b' }],
  ])('%s', (target, facts) => expect(factsOf(target)).toMatchObject(facts));

  test('origin form has no authority', () => {
    for (const target of ['/', '/a', '//example.com/a', '/http://example.com/', '/é', '/a?b']) {
      expect(factsOf(target)).toMatchObject({ authority: null, authorityScheme: '' });
    }
  });
});

describe('forwarded path', () => {
  test.each([
    ['/a/b', '/a/b'],
    ['//a//b', '/a//b'],
    ['///', '/'],
    ['/%61dmin', '/%61dmin'],
    ['/a%2Fb', '/a%2Fb'],
    ['/a%5cb', '/a%5cb'],
    ['/a;x', '/a;x'],
    ['/;x/a', '/;x/a'],
    ['/a/./b', '/a/b'],
    ['/x/../a%20b', '/a%20b'],
    ['/x/..;p/a;q', '/a;q'],
    ['/x/%2e%2E/a', '/a'],
    ['/x/..%2f%61', '/%61'],
    ['/a\\b', '/a/b'],
    ['/a/..', '/'],
    ['/a/b/.', '/a/b/'],
    ['/../', '/'],
    ['/a//./b', '/a/b'],
    ['/é', '/%C3%A9'],
    ['/"<>^`{|}', '/%22%3C%3E%5E%60%7B%7C%7D'],
    ["/-._~!$&'()*+,;=:@[]", "/-._~!$&'()*+,;=:@[]"],
    ['/\ud800', '/%EF%BF%BD'],
  ])('of %s is %s', (target, forwarded) => expect(factsOf(target).forwarded).toBe(forwarded));

  test('is what a URI may hold, starts with one slash, and means the same path', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'aé./\\;%', '%2e', '%2F', '%41', '%c3', '..', '%3b'),
      maxLength: 14,
    });
    let read400 = 0;
    fc.assert(
      fc.property(text, (rest) => {
        const facts = read(`/${rest}`);
        if (typeof facts === 'number') {
          read400++;
          return;
        }
        expect(facts.forwarded).toMatch(/^\/(?:[^/]|$)/);
        expect(facts.forwarded).toMatch(/^(?:[-\w.~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})+$/);
        expect(facts.path).toMatch(/^\/(?:[^/]+(?:\/[^/]+)*\/?)?$/);
        expect(facts.path.split('/')).not.toContain('..');
        expect(facts.path.split('/')).not.toContain('.');
        const again = factsOf(facts.forwarded);
        expect(again.path, facts.forwarded).toBe(facts.path);
        expect(again.pathWithoutParameters).toBe(facts.pathWithoutParameters);
        expect(again.forwarded).toBe(facts.forwarded);
        expect(hasDotSegment(facts.forwarded)).toBe(false);
      }),
      { numRuns: 3_000 },
    );
    expect(read400).toBeGreaterThan(100);
  });
});

describe('small things', () => {
  test('leading slashes merge into one', () => {
    expect(['/', '//', '///a//b', 'a', ''].map(mergeLeadingSlashes)).toEqual(['/', '/', '/a//b', 'a', '']);
  });

  test.each([
    '/.',
    '/..',
    '/a/../b',
    '/%2e',
    '/%2E%2e/',
    '/a/.%2e',
    '/..;x',
    '/a\\..',
    '/a%2f..',
    '/a%5c%2e/b',
  ])('%s holds a dot segment', (path) => expect(hasDotSegment(path)).toBe(true));

  test.each(['/', '/a', '/...', '/.a', '/a..', '/%252e', '/;..', '/a;/..b'])('%s holds none', (path) =>
    expect(hasDotSegment(path)).toBe(false),
  );

  test.each([
    ['/*', ['/', '']],
    ['*', ['', '']],
    ['/a', ['/a']],
    ['/api/*/x', ['/api/', '/x']],
    ['/%2A*', ['/*', '']],
    ['/%61*%C3%A9', ['/a', 'é']],
    ['/%ff*', ['/%FF', '']],
    ['/a;x', ['/a;x']],
    ['/**', ['/', '', '']],
    ['*.php', ['', '.php']],
  ])('entry %s is the pieces %j', (entry, pieces) => expect(pathPieces(entry)).toEqual(pieces));

  test.each([
    '/%',
    '/%4',
    '/%zz*',
    '/%00',
    '//a',
    '/a//*',
    '/./a',
    '/a/..',
    '/%2e%2e/*',
    '/a\\b',
    '/a%5Cb',
    '/a%2f/b',
  ])('entry %s can never match', (entry) => expect(pathPieces(entry)).toBeNull());
});

test('targetMistake returns a reason exactly when the target is refused', () => {
  expect(targetMistake('/%zz')).toBe('holds the bad escape `%zz`');
  expect(targetMistake('/a%')).toBe('holds the bad escape `%`');
  expect(targetMistake('/a%00b')).toBe('holds the bad escape `%00`');
  expect(targetMistake('/a b c')).toBe('holds a raw space');
  expect(targetMistake('/a#b')).toBe('holds a raw `#`');
  expect(targetMistake('ftp://a/b')).toBe('is neither a path nor an http URL');
  expect(targetMistake('/a;x%2fb')).toBe('holds an escaped slash or a backslash behind a `;`');
  expect(targetMistake('/a?q=%zz')).toBe(null);
  const piece = fc.constantFrom(
    '/',
    'a',
    '%',
    '%2f',
    '%00',
    '%zz',
    ';',
    '\\',
    '?',
    '#',
    ' ',
    'http://a',
    '\ud800',
    '\u00e4',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
      (target) => {
        expect(targetMistake(target) === null).toBe(parseTarget(target, { ...LEFT_OVER }) !== 400);
      },
    ),
  );
});
