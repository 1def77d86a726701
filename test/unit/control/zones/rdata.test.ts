import { describe, expect, it } from 'vitest';
import type { ZoneType } from '../../../../src/base/vocabulary/record-types.ts';
import { encodeData } from '../../../../src/control/zones/rdata.ts';

function hex(type: ZoneType, destination: string, mx_priority: number | null = null): string {
  const octets = encodeData(type, { destination, mx_priority });
  return octets instanceof Uint8Array ? Buffer.from(octets).toString('hex') : octets.message;
}

describe('the RDATA of a stored record', () => {
  it.each<readonly [ZoneType, string, number | null, string]>([
    ['A', '192.0.2.255', null, 'c00002ff'],
    ['AAAA', '2001:DB8::1', null, '20010db8000000000000000000000001'],
    ['AAAA', '::ffff:192.0.2.1', null, '00000000000000000000ffffc0000201'],
    ['CNAME', 'a.example.com', null, '016107657861' + '6d706c6503636f6d00'],
    ['NS', 'A.b', null, '0161016200'],
    ['PTR', 'a.b.', null, '0161016200'],
    ['MX', 'a.b', 10, '000a0161016200'],
    ['MX', 'a.b', null, '00000161016200'],
    ['MX', '.', 0, '000000'],
    ['TXT', 'hi', null, '026869'],
    ['TXT', '"" "a\\"b" "\\255"', null, '000361226201ff'],
    ['TXT', 'k'.repeat(300), null, `ff${'6b'.repeat(255)}2d${'6b'.repeat(45)}`],
    ['TXT', 'ü', null, '02c3bc'],
    ['SRV', '1 256 65535 a.b', null, '00010100ffff0161016200'],
    ['SRV', '0 0 0 .', null, '00000000000000'],
    ['CAA', '128 ISSUE "a; b=\\"c"', null, '80056973737565613b20623d2263'],
    ['CAA', '0 issue ";"', null, '00056973737565' + '3b'],
    ['CAA', '0 iodef ""', null, '0005696f646566'],
    ['TLSA', '3 1 1 ABCD ef', null, '030101abcdef'],
  ])('of %s %s (%s) is %4$s', (type, destination, priority, octets) => {
    expect(hex(type, destination, priority)).toBe(octets);
  });

  it.each([
    // RFC 9460 appendix D.1 and D.2
    ['0 foo.example.com.', '000003666f6f076578616d706c6503636f6d00'],
    ['1 .', '000100'],
    ['16 foo.example.com. port=53', '001003666f6f076578616d706c6503636f6d00000300020035'],
    ['1 foo.example.com. key667=hello', '000103666f6f076578616d706c6503636f6d00029b000568656c6c6f'],
    [
      '1 foo.example.com. key667="hello\\210qoo"',
      '000103666f6f076578616d706c6503636f6d00029b000968656c6c6fd2716f6f',
    ],
    [
      '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
      '000103666f6f076578616d706c6503636f6d000006002020010db800000000000000000000000120010db8000000000000000000530001',
    ],
    [
      '16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1',
      '001003666f6f076578616d706c65036f72670000000004000100040001000902683205683' + '32d313900040004c0000201',
    ],
    [
      '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
      '001003666f6f076578616d706c65036f726700000100' + '0c08665c6f6f2c626172026832',
    ],
    // RFC 9461 §5; `ech` is any base64
    ['1 a. dohpath=/q{?dns} ech=AAEC', '000101610000050003000102000700082f717b3f646e737d'],
    ['1 a. no-default-alpn alpn=h2', '00010161000001000302683200020000'],
  ])('of HTTPS and SVCB %s has its parameters in ascending order', (destination, octets) => {
    expect(hex('SVCB', destination)).toBe(octets);
    expect(hex('HTTPS', destination)).toBe(octets);
  });

  it.each<readonly [ZoneType, string, string]>([
    ['A', '192.0.2.256', 'type `A` takes an IPv4 address'],
    ['AAAA', '192.0.2.1', 'type `AAAA` takes an IPv6 address'],
    ['MX', 'a b', 'type `MX` takes preference, name'],
    ['TXT', '"open', 'type `TXT` takes strings of at most 255 octets, each in quotes'],
    ['TXT', `"${'a'.repeat(256)}"`, 'type `TXT` takes strings of at most 255 octets, each in quotes'],
    ['CAA', '0 is-sue "a"', 'type `CAA` takes a tag of letters and digits'],
    ['TLSA', '3 1 1 abc', 'type `TLSA` takes data as pairs of hexadecimal digits'],
    ['SVCB', '1 a. alpn=h2,,h3', 'type `SVCB` takes another value for parameter `alpn`'],
    ['SVCB', `1 a. alpn=${'a'.repeat(256)}`, 'type `SVCB` takes another value for parameter `alpn`'],
    ['SVCB', '1 a. ech=A', 'type `SVCB` takes another value for parameter `ech`'],
    ['SVCB', '1 a. dohpath=q', 'type `SVCB` takes another value for parameter `dohpath`'],
    [
      'HTTPS',
      '1 . mandatory=alpn',
      'type `HTTPS` takes `mandatory` only with other parameters of the record, each once (RFC 9460 §8)',
    ],
    [
      'HTTPS',
      '1 . mandatory=alpn,alpn alpn=h2',
      'type `HTTPS` takes `mandatory` only with other parameters of the record, each once (RFC 9460 §8)',
    ],
    [
      'HTTPS',
      '1 . no-default-alpn',
      'type `HTTPS` takes `no-default-alpn` only beside `alpn` (RFC 9460 §7.1.1)',
    ],
  ])('is refused for %s %s', (type, destination, message) => {
    expect(hex(type, destination)).toBe(message);
  });
});
