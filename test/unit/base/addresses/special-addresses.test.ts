/** Special addresses against the ranges of ipaddr.js, which come from the same registries. */
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { createSpecialJudge, specialKind } from '../../../../src/base/addresses/special-addresses.ts';

const LISTED = [
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:a00:1::1', 'private'],
  ['::127.0.0.1', 'reserved'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved'],
  ['64:ff9b:1::1', 'reserved'],
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['10.1.2.3', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.0.1', 'private'],
  ['fc00::1', 'unique-local'],
  ['169.254.169.254', 'metadata'],
  ['100.100.100.200', 'metadata'],
  ['fd00:ec2::254', 'metadata'],
  ['169.254.1.1', 'link-local'],
  ['fe80::1', 'link-local'],
  ['100.64.0.1', 'shared'],
  ['198.19.255.255', 'benchmarking'],
  ['192.0.0.8', 'reserved'],
  ['192.0.2.1', 'documentation'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['2001:db8::1', 'documentation'],
  ['239.1.1.1', 'multicast'],
  ['ff02::1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
] as const;

describe('a special address', () => {
  test.each(LISTED)('%s is %s', (address, kind) => {
    expect(specialKind(address)).toBe(kind);
  });

  test('no special address is a public one', () => {
    const open = [
      '1.1.1.1',
      '172.32.0.1',
      '100.128.0.1',
      '2606:4700::1111',
      '2002:808:808::',
      '64:ff9b::808:808',
    ];
    expect(open.map(specialKind)).toEqual(open.map(() => null));
  });

  test('an address is special wherever ipaddr.js classifies it so, at each edge of each /16 of IPv4', () => {
    /** Given back to AS112 and AMT, and Azure's, by IANA's registry or the operator. */
    const apart = /^(?:192\.31\.196|192\.52\.193|192\.175\.48|168\.63\.129)\./;
    const wrong: string[] = [];
    for (let high = 0; high < 65_536; high++) {
      for (const low of ['0.0', '255.255']) {
        const address = `${high >> 8}.${high & 255}.${low}`;
        const isOpen = ipaddr.parse(address).range() === 'unicast';
        if (!apart.test(address) && isOpen !== (specialKind(address) === null)) wrong.push(address);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('an address in an allowed prefix is allowed, and allowing local ones never allows cloud metadata', () => {
    const loopback = createSpecialJudge({ prefixes: ['127.0.0.0/8'], local: false });
    expect([loopback('127.0.0.1'), loopback('10.0.0.1'), loopback('::1')]).toEqual([
      null,
      'private',
      'loopback',
    ]);
    const local = createSpecialJudge({ prefixes: [], local: true });
    expect(['127.0.0.1', '10.0.0.1', 'fd12::1', 'fd00:ec2::254', '169.254.169.254'].map(local)).toEqual([
      null,
      null,
      null,
      'metadata',
      'metadata',
    ]);
  });
});
