import { describe, expect, test } from 'vitest';
import type { DropRule } from '../../src/rules/model/types.ts';
import { decide, rule } from '../support/sample-rules.ts';
import { parseAddress } from './ip.ts';

function dropped(fields: Partial<DropRule>, sent: Parameters<typeof decide>[1]): boolean {
  return decide({ rules: [rule('drop', 1, fields)] }, sent).action === 'block';
}

describe('host filter', () => {
  const host = (name: string) => ({ host: name });
  test('a wildcard covers subdomains of any depth and not the name itself', () => {
    const fields: Partial<DropRule> = { host_match_type: 'wildcard', host_includes: ['*.example.com'] };
    expect(dropped(fields, host('a.example.com'))).toBe(true);
    expect(dropped(fields, host('b.a.example.com'))).toBe(true);
    expect(dropped(fields, host('example.com'))).toBe(false);
    expect(dropped({ ...fields, host_includes: ['*'] }, host('example.com'))).toBe(true);
    expect(dropped({ ...fields, host_includes: ['W*.Example.com.'] }, host('www.example.com'))).toBe(true);
    expect(dropped({ ...fields, host_includes: ['w*w.example.com'] }, host('w.example.com'))).toBe(false);
  });

  test('exact entries are normalised like hosts', () => {
    const fields: Partial<DropRule> = { host_match_type: 'exact', host_includes: ['MÜNCHEN.example.com.'] };
    expect(dropped(fields, host('xn--mnchen-3ya.example.com'))).toBe(true);
    expect(dropped({ ...fields, host_includes: ['*.example.com'] }, host('a.example.com'))).toBe(false);
  });

  test('a regex is unanchored and ignores case', () => {
    const fields: Partial<DropRule> = { host_match_type: 'regex', host_includes: ['^WW'] };
    expect(dropped(fields, host('www.example.com'))).toBe(true);
    expect(dropped(fields, host('a.example.com'))).toBe(false);
    expect(dropped({ ...fields, host_includes: ['MPLE'] }, host('a.example.com'))).toBe(true);
  });

  test('host_pattern is one more include; excludes win; nothing listed is every host', () => {
    const fields: Partial<DropRule> = {
      host_match_type: 'exact',
      host_pattern: 'www.example.com',
      host_includes: ['example.com'],
    };
    expect(dropped(fields, host('www.example.com'))).toBe(true);
    expect(dropped(fields, host('example.com'))).toBe(true);
    expect(dropped(fields, host('a.example.com'))).toBe(false);
    expect(dropped({ ...fields, host_excludes: ['example.com'] }, host('example.com'))).toBe(false);
    expect(dropped({ host_match_type: 'exact', host_excludes: ['example.com'] }, host('a.example.com'))).toBe(
      true,
    );
    expect(dropped({}, host('a.example.com'))).toBe(true);
  });
});

describe('path filter', () => {
  test.each([
    ['/api/*', '/api', false],
    ['/api/*', '/api/', true],
    ['/api/*', '/api/a/b', true],
    ['/a*c', '/abc', true],
    ['/a*c', '/ac', true],
    ['/a*c', '/a', false],
    ['*.php', '/x/y.php', true],
    ['*a*b*', '/xaxbx', true],
    ['*a*b*', '/b/a', false],
    ['/ab*ba', '/aba', false],
    ['/?', '/x', false],
    ['/[ab]', '/a', false],
    ['/{a,b}', '/a', false],
    ['!/a', '/b', false],
    ['/API', '/api', false],
    ['/%61dmin', '/admin', true],
    ['/%2A', '/%2a', true],
    ['/%2A', '/x', false],
    ['/a%20b', '/a%20b', true],
    ['/é', '/%C3%A9', true],
    ['/%ff', '/%FF', true],
    ['*', '/anything', true],
  ])('the wildcard %s on %s: %s', (entry, target, expected) => {
    expect(dropped({ path_includes: [entry] }, { target })).toBe(expected);
  });

  test.each([
    ['dmi', '/admin', true],
    ['^/admin$', '/admin/', false],
    ['ADMIN', '/admin', false],
    ['(?i)ADMIN', '/admin', true],
    ['a.b', '/a%0Ab', true],
    ['^/%61dmin$', '/admin', false],
  ])('the regex %s on %s: %s', (entry, target, expected) => {
    expect(dropped({ path_match_type: 'regex', path_includes: [entry] }, { target })).toBe(expected);
  });

  test('excludes win, and no includes is every path under either type', () => {
    expect(dropped({ path_includes: ['/a*'], path_excludes: ['/ab'] }, { target: '/ab' })).toBe(false);
    expect(dropped({ path_includes: ['/a*'], path_excludes: ['/ab'] }, { target: '/ac' })).toBe(true);
    expect(dropped({ path_includes: [] }, { target: '/x' })).toBe(true);
    expect(dropped({ path_match_type: 'regex', path_includes: [] }, { target: '/x' })).toBe(true);
  });
});

describe('addresses', () => {
  test.each([
    ['1.2.3.4', { family: 4, bits: 0x01020304n }],
    ['::ffff:1.2.3.4', { family: 4, bits: 0x01020304n }],
    ['::FFFF:102:304', { family: 4, bits: 0x01020304n }],
    ['0:0:0:0:0:ffff:1.2.3.4', { family: 4, bits: 0x01020304n }],
    ['::', { family: 6, bits: 0n }],
    ['::1.2.3.4', { family: 6, bits: 0x01020304n }],
    ['2001:db8::1', { family: 6, bits: 0x20010db8_00000000_00000000_00000001n }],
    ['1:2:3:4:5:6:7::', { family: 6, bits: 0x00010002_00030004_00050006_00070000n }],
  ])('%s is an address', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  test.each([
    '010.0.0.1',
    '1',
    '0x7f.1',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4:80',
    ' 1.2.3.4',
    '1.2.3.4.',
    'fe80::1%eth0',
    '[::1]',
    '::1/128',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8::',
    '1:2:3:4:5:6:7',
    '1.2.3.4::',
    '12345::',
    '::ffff:01.2.3.4',
    '',
    null,
  ])('%j is an unknown address', (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});

describe('drop', () => {
  test('include drops the listed; unknown never matches', () => {
    const ips = { ips: ['192.0.2.0/24', '198.51.100.5-198.51.100.9', '2001:db8::/32', '203.0.113.1'] };
    expect(dropped(ips, { ip: '192.0.2.255' })).toBe(true);
    expect(dropped(ips, { ip: '192.0.3.0' })).toBe(false);
    expect(dropped(ips, { ip: '198.51.100.9' })).toBe(true);
    expect(dropped(ips, { ip: '198.51.100.10' })).toBe(false);
    expect(dropped(ips, { ip: '::ffff:203.0.113.1' })).toBe(true);
    expect(dropped(ips, { ip: '2001:db8:ffff::' })).toBe(true);
    expect(dropped(ips, { ip: '010.0.0.1' })).toBe(false);
    expect(dropped({ ips: ['::/0'] }, { ip: '1.2.3.4' })).toBe(false);
    expect(dropped({ ips: ['0.0.0.0/0'] }, { ip: '255.255.255.255' })).toBe(true);
    expect(dropped({ ips: ['::ffff:1.2.3.0/120'] }, { ip: '1.2.3.4' })).toBe(true);
    expect(dropped({ ips: ['::ffff:1.2.3.0/120'] }, { ip: '1.2.4.4' })).toBe(false);
    expect(dropped({ countries: ['DE'] }, { country: 'de' })).toBe(true);
    expect(dropped({ countries: ['DE'] }, { country: 'XX' })).toBe(false);
  });

  test('exclude drops everyone not listed, unknown included', () => {
    const ips: Partial<DropRule> = { ip_match_type: 'exclude', ips: ['192.0.2.0/24'] };
    expect(dropped(ips, { ip: '192.0.2.1' })).toBe(false);
    expect(dropped(ips, { ip: '192.0.3.1' })).toBe(true);
    expect(dropped(ips, { ip: undefined })).toBe(true);
    const countries: Partial<DropRule> = { country_match_type: 'exclude', countries: ['DE'] };
    expect(dropped(countries, { country: 'DE' })).toBe(false);
    for (const country of ['FR', 'XX', 'T1', '', null]) expect(dropped(countries, { country })).toBe(true);
  });

  test('both filters set: both must match; neither: path and host alone decide', () => {
    const both = { countries: ['DE'], ips: ['192.0.2.1'] };
    expect(dropped(both, { country: 'DE', ip: '192.0.2.1' })).toBe(true);
    expect(dropped(both, { country: 'DE', ip: '192.0.2.2' })).toBe(false);
    expect(dropped(both, { country: 'FR', ip: '192.0.2.1' })).toBe(false);
    expect(dropped({}, {})).toBe(true);
  });
});

describe('fingerprint and bot lists', () => {
  test('both lists set: both must match; inside a list any; a * at the end is a prefix', () => {
    const drops = (match_ja4: string[], match_ja4h: string[], sent: object) =>
      decide({ rules: [rule('fingerprint', 1, { match_ja4, match_ja4h })] }, sent).action === 'block';
    expect(drops(['t13a', 't13b'], [], { ja4: 't13b' })).toBe(true);
    expect(drops(['t13*'], [], { ja4: 't13b' })).toBe(true);
    expect(drops(['t1*b'], [], { ja4: 't13b' })).toBe(false);
    expect(drops(['t13*'], [], { ja4: 'T13b' })).toBe(false);
    expect(drops(['*'], [], {})).toBe(false);
    expect(drops(['t13*'], ['ge11'], { ja4: 't13b', ja4h: 'ge11' })).toBe(true);
    expect(drops(['t13*'], ['ge11'], { ja4: 't13b' })).toBe(false);
    expect(drops(['t13*'], ['ge11'], { ja4h: 'ge11' })).toBe(false);
  });

  test('the User-Agent names the bot only where none was given', () => {
    const drops = (bot_kinds: ('*' | 'gptbot' | 'googlebot' | 'claude-user')[], sent: object) =>
      decide({ rules: [rule('bot_route', 1, { bot_kinds })] }, sent).action === 'block';
    const agent = (text: unknown) => ({ headers: { 'user-agent': text } });
    expect(drops(['gptbot'], agent('Mozilla GPTBot/1.2'))).toBe(true);
    expect(drops(['gptbot'], agent('googlebot gptbot'))).toBe(true);
    expect(drops(['googlebot'], agent('googlebot gptbot'))).toBe(false);
    expect(drops(['*'], agent(['Claude-User', 'x']))).toBe(true);
    expect(drops(['*'], agent('Google-Extended generic-bot'))).toBe(false);
    expect(drops(['*'], agent('curl'))).toBe(false);
    expect(drops(['*'], { ...agent('gptbot'), bot: null })).toBe(false);
    expect(drops(['*'], { bot: { kind: 'generic-bot', verified: false } })).toBe(true);
    expect(drops(['googlebot'], { ...agent('gptbot'), bot: { kind: 'googlebot' } })).toBe(true);
  });

  test('require_verified asks for more than a declared name', () => {
    const drops = (bot: unknown) =>
      decide({ rules: [rule('bot_route', 1, { require_verified: true })] }, { bot }).action === 'block';
    expect(drops({ kind: 'gptbot', verified: false })).toBe(false);
    expect(drops({ kind: 'gptbot', verified: true })).toBe(true);
    expect(drops({ kind: 'gptbot', verified: 'yes' })).toBe(false);
  });
});
