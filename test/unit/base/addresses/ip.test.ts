import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  compareIp,
  formatIp,
  parseIp,
  parseIpEntry,
  parseIpv4,
  parseIpv6,
} from '../../../../src/base/addresses/ip.ts';

const words = new Uint32Array(4);

function read(text: string): string | null {
  const family = parseIp(text, words);
  return family === 0 ? null : `${family} ${formatIp(family, words)}`;
}

/** Text that is an address, nearly one, or far from it. */
const addressLike = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:.:.%[]/ -x'), maxLength: 46 }),
  fc
    .tuple(fc.ipV6(), fc.nat({ max: 45 }), fc.constantFrom(':', '::', '.', '0', 'g', '', '1.2.3.4'))
    .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at)),
);

/**
 * ipaddr.js as the oracle. Its leniencies, which are ours to refuse: other bases and short IPv4 forms (`010.0.0.1`,
 * `0x7f.1`, `1`) also inside an IPv6 tail, zone ids, brackets, `::` that stands for no group at all,
 * and `::1.2.3.4` taken for `::ffff:1.2.3.4` (hence the `::0:` below).
 */
function oracle(text: string): string | null {
  if (/[%[\]]/.test(text)) return null;
  if (!text.includes(':')) {
    return /^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(text) &&
      !text.endsWith('.') &&
      ipaddr.IPv4.isValid(text)
      ? `4 ${text}`
      : null;
  }
  const tail = text.slice(text.lastIndexOf(':') + 1);
  if (tail.includes('.') && oracle(tail) === null) return null;
  const groups = text.split(':').filter((group) => group !== '').length + (tail.includes('.') ? 1 : 0);
  if (text.includes('::') && groups >= 8) return null;
  const plain = /^::[0-9.]+$/.test(text) ? text.replace('::', '::0:') : text;
  if (!ipaddr.IPv6.isValid(plain)) return null;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress()
    ? `4 ${address.toIPv4Address().toString()}`
    : `6 ${address.toRFC5952String()}`;
}

describe('parseIpv4', () => {
  it.each([
    ['0.0.0.0', 0],
    ['255.255.255.255', 0xffffffff],
    ['1.2.3.4', 0x01020304],
    ['192.0.2.10', 0xc000020a],
  ])('reads %s', (text, value) => expect(parseIpv4(text)).toBe(value));

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '010.0.0.1',
    '0x7f.1',
    '0x7f.0.0.1',
    '256.1.1.1',
    '1.2.3.1000',
  ])('refuses `%s`', (text) => expect(parseIpv4(text)).toBe(-1));
  it.each([
    '1.2.3.4 ',
    ' 1.2.3.4',
    '1.2.3.4:80',
    '1..3.4',
    '.1.2.3',
    '1.2.3.',
    '-1.2.3.4',
    '1.2.3.4/8',
    '1.2.3.４',
  ])('refuses `%s`', (text) => expect(parseIpv4(text)).toBe(-1));
});

describe('parseIpv6', () => {
  it.each([
    ['::', [0, 0, 0, 0]],
    ['::1', [0, 0, 0, 1]],
    ['1::', [0x10000, 0, 0, 0]],
    ['2001:DB8::ff:0:1', [0x20010db8, 0, 0xff, 1]],
    ['1:2:3:4:5:6:7:8', [0x10002, 0x30004, 0x50006, 0x70008]],
    ['::2:3:4:5:6:7:8', [2, 0x30004, 0x50006, 0x70008]],
    ['1:2:3:4:5:6:7::', [0x10002, 0x30004, 0x50006, 0x70000]],
    ['64:ff9b::192.0.2.33', [0x0064ff9b, 0, 0, 0xc0000221]],
    ['1:2:3:4:5:6:1.2.3.4', [0x10002, 0x30004, 0x50006, 0x01020304]],
    ['::ffff:1.2.3.4', [0, 0, 0xffff, 0x01020304]],
  ])('reads %s', (text, value) => {
    words.fill(0xdeadbeef);
    expect(parseIpv6(text, words)).toBe(true);
    expect([...words]).toEqual(value);
  });

  it.each([
    '',
    ':',
    ':::',
    '1',
    '1:2',
    ':1',
    '1:',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '12345::',
  ])('refuses `%s`', (text) => expect(parseIpv6(text, words)).toBe(false));
  it.each([
    '::1%eth0',
    '[::1]',
    '::g',
    '::1/64',
    '::1.2.3',
    '::01.2.3.4',
    '1.2.3.4::',
    '1:2:3:4:5:6:7:1.2.3.4',
  ])('refuses `%s`', (text) => expect(parseIpv6(text, words)).toBe(false));
  it('parseIpv6 refuses `::` beside eight groups', () => {
    expect(parseIpv6('1:2:3:4::5:6:7:8', words)).toBe(false);
    expect(parseIpv6('1:2:3:4:5:6:7:8::', words)).toBe(false);
    expect(parseIpv6('::1:2:3:4:5:6:7:8', words)).toBe(false);
  });
});

describe('parseIp', () => {
  it('parseIp returns an IPv4-mapped address as IPv4 in any spelling', () => {
    expect(read('::ffff:203.0.113.7')).toBe('4 203.0.113.7');
    expect(read('::FFFF:cb00:7107')).toBe('4 203.0.113.7');
    expect(read('0:0:0:0:0:ffff:203.0.113.7')).toBe('4 203.0.113.7');
    expect(read('::fffe:203.0.113.7')).toBe('6 ::fffe:cb00:7107');
  });

  it('agrees with ipaddr.js but for its leniencies', () => {
    fc.assert(
      fc.property(addressLike, (text) => {
        expect(read(text)).toBe(oracle(text));
      }),
      { numRuns: 4_000 },
    );
  });

  it('reads its own canonical text back', () => {
    fc.assert(
      fc.property(fc.uint32Array({ minLength: 4, maxLength: 4 }), fc.nat({ max: 15 }), (value, zeros) => {
        for (let index = 0; index < 4; index++) if ((zeros >> index) & 1) value[index] = 0;
        expect(parseIpv6(formatIp(6, value), words)).toBe(true);
        expect([...words]).toEqual([...value]);
        expect(parseIpv4(formatIp(4, value))).toBe(value[0]);
      }),
    );
  });
});

describe('formatIp', () => {
  it.each([
    ['2001:db8:0:0:0:0:2:1', '2001:db8::2:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
    ['0001:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
    ['ABCD:EF01::1', 'abcd:ef01::1'],
  ])('writes %s as RFC 5952 does', (text, canonical) => {
    parseIpv6(text, words);
    expect(formatIp(6, words)).toBe(canonical);
  });
});

describe('parseIpEntry', () => {
  it.each([
    ['192.0.2.1', 4, '192.0.2.1'],
    ['192.0.2.77/24', 4, '192.0.2.0/24'],
    ['192.0.2.77/32', 4, '192.0.2.77/32'],
    ['0.0.0.0/0', 4, '0.0.0.0/0'],
    ['10.9.9.9-10.0.0.1', 4, '10.0.0.1-10.9.9.9'],
    ['2001:DB8::1', 6, '2001:db8::1'],
    ['2001:db8:ffff::1/33', 6, '2001:db8:8000::/33'],
    ['::/0', 6, '::/0'],
    ['2001:db8::2-2001:db8::1', 6, '2001:db8::1-2001:db8::2'],
    ['::ffff:10.1.2.3', 4, '10.1.2.3'],
    ['::ffff:10.1.2.3/104', 4, '10.0.0.0/8'],
    ['::ffff:10.1.2.3/96', 4, '0.0.0.0/0'],
    ['::ffff:10.1.2.3/128', 4, '10.1.2.3/32'],
    ['::ffff:10.1.2.3-10.1.2.9', 4, '10.1.2.3-10.1.2.9'],
  ])('reads %s', (text, family, canonical) => {
    const entry = parseIpEntry(text);
    expect(entry).toMatchObject({ ok: true, family, canonical });
  });

  it.each([
    ['', /missing/],
    ['banana', /must be an IPv4 or IPv6 address/],
    ['010.0.0.1', /without leading zeros/],
    ['300.0.0.1', /0 to 255/],
    ['10.0.0.0/33', /0 to 32/],
    ['10.0.0.0/', /0 to 32/],
    ['10.0.0.0/08', /0 to 32/],
    ['10.0.0.0/-1', /0 to 32/],
    ['::/129', /0 to 128/],
    ['::ffff:10.0.0.0/129', /0 to 128/],
    ['::ffff:10.0.0.0/95', /at least \/96/],
    ['10.0.0.1-2001:db8::1', /must not mix/],
    ['::-::ffff:1.2.3.4', /must not mix/],
    ['10.0.0.1-', /missing/],
    ['10.0.0.1 - 10.0.0.9', /without spaces/],
    ['[::1]', /without brackets/],
    ['fe80::1%eth0', /without a zone id/],
    ['10.0.0.0/8-10.0.0.9', /0 to 32/],
  ])('refuses `%s`', (text, reason) => {
    expect(parseIpEntry(text)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });

  it('masks prefixes as ipaddr.js does, and its canonical text is a fixed point', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat({ max: 128 }), (address, length) => {
        const four = !address.includes(':');
        const text = `${address}/${four ? length % 33 : length}`;
        const entry = parseIpEntry(text);
        const mapped = !four && ipaddr.IPv6.parse(address).isIPv4MappedAddress();
        if (mapped) return;
        if (!entry.ok) throw new Error(`${text}: ${entry.reason}`);
        const kind = four ? ipaddr.IPv4 : ipaddr.IPv6;
        const low = kind.networkAddressFromCIDR(text).toByteArray();
        const high = four
          ? ipaddr.IPv4.broadcastAddressFromCIDR(text).toByteArray()
          : ipaddr.IPv6.broadcastAddressFromCIDR(text).toByteArray();
        expect(bytesOf(entry.first)).toEqual(low);
        expect(bytesOf(entry.last)).toEqual(high);
        expect(parseIpEntry(entry.canonical)).toEqual(entry);
      }),
    );
  });

  it('never puts first above last, and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          addressLike,
          fc.tuple(addressLike, addressLike).map((pair) => pair.join('-')),
        ),
        (text) => {
          const entry = parseIpEntry(text);
          if (entry.ok) expect(compareIp(entry.first, entry.last)).toBeLessThanOrEqual(0);
          else expect(entry.reason).not.toBe('');
        },
      ),
    );
  });
});

function bytesOf(value: Uint32Array): number[] {
  return [...value].flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
}
