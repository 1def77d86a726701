import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type HostFacts,
  hostMistake,
  hostPieces,
  normalizeName,
  parseHost,
  toAsciiName,
} from '../../../../src/base/addresses/host.ts';

/** What a Host value is read as: the host, with its port behind a blank; `null` for 400. */
function read(text: string): string | null {
  const out: HostFacts = { host: 'left over', port: 7, literal: true };
  if (!parseHost(text, out)) return null;
  const port = out.port === -1 ? '' : ` ${out.port}`;
  return `${out.literal ? 'literal ' : ''}${out.host}${port}`;
}

const LABEL = 'a'.repeat(63);
/** 253 octets. */
const LONGEST = `${LABEL}.${LABEL}.${LABEL}.${'a'.repeat(61)}`;

describe('parseHost', () => {
  test.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.com', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com:443', 'example.com 443'],
    ['example.com.:8080', 'example.com 8080'],
    ['example.com:', 'example.com'],
    ['example.com:0', 'example.com 0'],
    ['example.com:65535', 'example.com 65535'],
    ['example.com:00080', 'example.com 80'],
    ['a_b.example.com', 'a_b.example.com'],
    ['-a-.example.com', '-a-.example.com'],
    ['*.example.com', '*.example.com'],
    ['192.0.2.1', '192.0.2.1'],
    ['010.0.0.1:80', '010.0.0.1 80'],
    ['localhost', 'localhost'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['MÜNCHEN.example:8443', 'xn--mnchen-3ya.example 8443'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['faß.example', 'xn--fa-hia.example'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['☃.example.', 'xn--n3h.example'],
    [LONGEST, LONGEST],
    [`${LONGEST}.`, LONGEST],
    [`${LONGEST}.:443`, `${LONGEST} 443`],
    ['[::1]', 'literal [::1]'],
    ['[2001:DB8::1]:443', 'literal [2001:db8::1] 443'],
    ['[::1]:', 'literal [::1]'],
    ['[::ffff:192.0.2.1]', 'literal [::ffff:192.0.2.1]'],
  ])('reads %s', (text, expected) => expect(read(text)).toBe(expected));

  test.each([
    '',
    '.',
    '..',
    ':',
    ':443',
    '.example.com',
    'example..com',
    'example.com..',
    'example.com:65536',
    'example.com:99999999999999999999',
    'example.com:-1',
    'example.com:+1',
    'example.com:8o',
    'example.com: 80',
    'example.com:80:80',
    'example.com:80.',
    ' example.com',
    'example.com ',
    'exa mple.com',
    'example.com\t',
    'example.com\0',
    'example.com\x7f',
    'user@example.com',
    'example.com,example.com',
    'example%2ecom',
    'example.com/',
    'example.com?x',
    'example.com#x',
    'example\\com',
    '<example>',
    'a^b.example',
    'a|b.example',
    'a]b.example',
    '::1',
    '2001:db8::1',
    '[]',
    '[::1',
    '[::1]x',
    '[::1]:x',
    '[::1]:65536',
    '[::1%eth0]',
    '[192.0.2.1]',
    '[[::1]]',
    '[v1.x]',
    `${'a'.repeat(64)}.example`,
    `a${LONGEST}`,
    `${LONGEST}x`,
    'a'.repeat(1_025),
    'ü'.repeat(500),
    'ü..example',
    'ü:80:80',
    'ü@example.com',
    'ü example.com',
    'xn--ü.example',
    '\ud800.example',
    '℀.example',
    'example\uff0fcom',
    'example.com\uff1a80\uff1a80',
  ])('refuses %j', (text) => expect(read(text)).toBeNull());

  test('a long name outside ASCII is refused before UTS 46 works on it', () => {
    // Each would take 20 to 100 ms, all of them longer than a test may.
    const name = String.fromCodePoint(...Array.from({ length: 1_000 }, (_, at) => 0x4e00 + at * 7));
    for (let times = 0; times < 3_000; times++) expect(read(`${name}:443`)).toBeNull();
    const label = 'ü'.repeat(30);
    expect(read(`${label}.${label}.de.:443`)).toMatch(/^xn--.*\.de 443$/);
  });

  test('a canonical host parses to itself', () => {
    const hostLike = fc.oneof(
      fc.domain(),
      fc.string({ unit: fc.constantFrom(...'aZ9.-_:[]%@*ü。ß', '\u200d', '\ud800'), maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    fc.assert(
      fc.property(hostLike, (text) => {
        const once = read(text);
        if (once === null || once.startsWith('literal')) return;
        const host = once.split(' ')[0]!;
        expect(host).toMatch(/^[!"$&'()*+\-.0-9;=_`a-z{}~]+$/);
        expect(read(host)).toBe(host);
        expect(normalizeName(host)).toBe(host);
        expect(read(`${host}.:80`)).toBe(`${host} 80`);
      }),
      { numRuns: 2_000 },
    );
  });

  test('ASCII names agree with the host that URL reads, where URL takes no numbers', () => {
    const name = fc.string({ unit: fc.constantFrom(...'abAB-_.:%@,*! ', '9'), minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(name, (text) => {
        const bare = text.split(':')[0]!;
        if (/(?:^|\.)[0-9][^.]*\.?$/.test(bare) || /[@%,/?#\\:]/.test(text) || /(?:^\.|\.\.|^$)/.test(bare))
          return;
        let expected: string | null;
        try {
          expected = new URL(`https://${text}/`).hostname.replace(/\.$/, '');
        } catch {
          expected = null;
        }
        expect(read(text)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('names and pieces', () => {
  test('a name has no port and no brackets', () => {
    expect(normalizeName('WWW.Example.com.')).toBe('www.example.com');
    expect(normalizeName('münchen.example')).toBe('xn--mnchen-3ya.example');
    for (const text of ['example.com:80', 'example.com:', '[::1]', '', 'a b', 'ü:1']) {
      expect(normalizeName(text), text).toBeNull();
    }
  });

  test('UTS 46 without transitional processing', () => {
    expect(toAsciiName('ß')).toBe('xn--zca');
    expect(toAsciiName('\ud800')).toBeNull();
  });

  test.each([
    ['*', ['', '']],
    ['*.example.com', ['', '.example.com']],
    ['*.Example.COM.', ['', '.example.com']],
    ['a*b.example.com', ['a', 'b.example.com']],
    ['**', ['', '', '']],
    ['example.com', ['example.com']],
    ['*.münchen.example', ['', '.xn--mnchen-3ya.example']],
    ['a.*', ['a.', '']],
    ['*.', ['', '']],
  ])('%s', (entry, pieces) => expect(hostPieces(entry)).toEqual(pieces));

  test.each([
    '*ü.example',
    'ü*.example',
    '*..example',
    'a b*',
    '*:80',
    '*/x',
    '*@',
    '*%41',
    '[::1]*',
    'ü..x*',
  ])('%s could never be part of a host', (entry) => expect(hostPieces(entry)).toBeNull());
});

test('hostMistake returns a reason exactly when the host is refused', () => {
  const said = (text: string) => hostMistake(text);
  expect(said('shop.example.com:99999')).toBe('has the port 99999, which is above 65535');
  expect(said('shop.example.com:8o')).toBe('has the port `8o`, which is not a number');
  expect(said('[::1]:70000')).toBe('has the port 70000, which is above 65535');
  expect(said('[::zz]')).toBe('is not an IPv6 address in brackets');
  expect(said('a b')).toBe('holds a raw space');
  expect(said('a\u0001')).toBe('holds a raw control character (U+0001)');
  expect(said('a,b')).toBe('holds a raw `,`');
  expect(said('a..b')).toBe('has an empty label');
  expect(said('')).toBe('is empty');
  expect(said(`${'a'.repeat(64)}.com`)).toBe('has a label longer than 63 octets');
  expect(said('a.'.repeat(127))).toBe(null);
  expect(said(`${'a.'.repeat(127)}b`)).toBe('is longer than 253 octets');
  expect(said('xn--\u00e4')).toBe('has no ASCII form (IDNA)');
  const piece = fc.constantFrom(
    'a',
    '.',
    ':',
    '8',
    '99999',
    '[',
    ']',
    '::1',
    ' ',
    '%',
    '\u00e4',
    '\ud800',
    'A'.repeat(64),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
      (text) => {
        expect(hostMistake(text) === null).toBe(read(text) !== null);
      },
    ),
  );
});
