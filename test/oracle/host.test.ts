import { describe, expect, test } from 'vitest';
import { decide, dnsRecord, rule } from '../support/sample-rules.ts';
import { nameRecords, parseAuthority, recordsOf } from './host.ts';

describe('host', () => {
  const label = 'a'.repeat(63);
  const long = `${label}.${label}.${label}.${'a'.repeat(61)}`;
  test.each([
    ['Example.COM', 'example.com', null],
    ['example.com.', 'example.com', null],
    ['example.com:8080', 'example.com', 8080],
    ['example.com.:8080', 'example.com', 8080],
    ['example.com:', 'example.com', null],
    ['example.com:065535', 'example.com', 65535],
    ['faß.de', 'xn--fa-hia.de', null],
    ['MÜNCHEN.example.com', 'xn--mnchen-3ya.example.com', null],
    ['ａ。example.com', 'a.example.com', null],
    ['_dmarc.*.example.com', '_dmarc.*.example.com', null],
    ['127.0.0.1', '127.0.0.1', null],
    ['[::1]:443', '[::1]', 443],
    [long, long, null],
  ])('%s is %s', (sent, host, port) => {
    expect(parseAuthority(sent)).toEqual({ host, port });
  });

  test.each([
    '',
    '.',
    ':80',
    'a..example.com',
    '.example.com',
    'example.com..',
    'exa%6dple.com',
    'a,b.example.com',
    'u@example.com',
    'a b.example.com',
    'a\x00.example.com',
    'a/b',
    'a\\b',
    'example.com:65536',
    'example.com:80:',
    'example.com:8x',
    `${'a'.repeat(64)}.example.com`,
    `a${long}`,
    '[::1',
    '[1.2.3.4]',
    '[fe80::1%25eth0]',
    '[::1]x',
    '::1',
    'a\ud800.example.com',
    'a％.example.com',
  ])('%j is refused with 400', (host) => {
    expect(parseAuthority(host)).toBeNull();
    expect(decide({}, { host })).toMatchObject({ action: 'refuse', status: 400 });
  });

  test('missing and doubled hosts are refused; one host in an array is that host', () => {
    expect(decide({}, { host: undefined }).status).toBe(400);
    expect(decide({}, { host: ['example.com', 'example.com'] }).status).toBe(400);
    expect(decide({}, { host: [] }).status).toBe(400);
    expect(decide({}, { host: ['example.com'] }).action).toBe('forward');
  });

  test('a host the domain does not own, an address literal included, is 421', () => {
    for (const host of ['other.com', 'notexample.com', 'com', '127.0.0.1', '[::1]', '[::1]:8443']) {
      expect(decide({}, { host })).toMatchObject({ action: 'refuse', status: 421 });
    }
  });
});

describe('the gate', () => {
  test('checks host, domain, path, status, record in this order', () => {
    const banned = { domain: { status: 'banned' } as const, records: [] };
    expect(decide(banned, { host: 'a b', target: '/%' }).status).toBe(400);
    expect(decide(banned, { host: 'other.com', target: '/%' }).status).toBe(421);
    expect(decide(banned, { target: '/%' }).status).toBe(400);
    expect(decide(banned).status).toBe(421);
    expect(decide({ records: [] }).status).toBe(421);
  });

  test('serves active and moved domains that are not suspended', () => {
    const status = (status: 'active' | 'moved' | 'disabled' | 'pending') =>
      decide({ domain: { status } }).status;
    expect([status('active'), status('moved'), status('disabled'), status('pending')]).toEqual([
      null,
      null,
      421,
      421,
    ]);
    expect(decide({ domain: { suspended: true } }).status).toBe(421);
  });

  test('survives garbage in every field', () => {
    for (const junk of [null, 7, {}, [], 'x', true, Number.NaN, () => 0]) {
      for (const field of [
        'scheme',
        'method',
        'headers',
        'ip',
        'country',
        'bot',
        'ja4',
        'ja4h',
        'body',
        'now',
        'cleared',
      ]) {
        expect(decide({}, { [field]: junk }).action).toBe('forward');
      }
    }
    expect(decide({}, { headers: { 'user-agent': [7] }, cleared: [7, null] }).action).toBe('forward');
  });
});

describe('records of a host', () => {
  const ids = (host: string, records: Parameters<typeof nameRecords>[1]) =>
    recordsOf(host, 'example.com', nameRecords('example.com', records)).map((record) => record.id);

  test('names are relative or absolute, @ is the apex; several records come by id', () => {
    const records = [
      dnsRecord(4, 'WWW'),
      dnsRecord(2, 'www.example.com'),
      dnsRecord(3, 'www.example.com.'),
      dnsRecord(1, '@'),
      dnsRecord(5, 'example.com'),
      dnsRecord(6, 'münchen'),
    ];
    expect(ids('www.example.com', records)).toEqual([2, 3, 4]);
    expect(ids('example.com', records)).toEqual([1, 5]);
    expect(ids('xn--mnchen-3ya.example.com', records)).toEqual([6]);
  });

  test('only proxied A, AAAA, CNAME and ALIAS carry traffic', () => {
    const records = [
      dnsRecord(1, 'a', { type: 'AAAA' }),
      dnsRecord(2, 'a', { type: 'TXT' }),
      dnsRecord(3, 'a', { proxied: false }),
      dnsRecord(4, 'a', { type: 'ALIAS' }),
      dnsRecord(5, 'a', { type: 'CNAME' }),
    ];
    expect(ids('a.example.com', records)).toEqual([1, 4, 5]);
  });

  test('*.b covers a.b and x.a.b, unless a name at or between exists', () => {
    const wild = dnsRecord(1, '*.b');
    const covered = (...others: ReturnType<typeof dnsRecord>[]) =>
      ids('x.a.b.example.com', [wild, ...others]);
    expect(ids('a.b.example.com', [wild])).toEqual([1]);
    expect(covered()).toEqual([1]);
    expect(ids('b.example.com', [wild])).toEqual([]);
    expect(covered(dnsRecord(2, 'x.a.b', { type: 'TXT', proxied: false }))).toEqual([]);
    expect(covered(dnsRecord(2, 'a.b', { proxied: false }))).toEqual([]);
    expect(covered(dnsRecord(2, 'z.a.b', { type: 'MX' }))).toEqual([]);
    expect(covered(dnsRecord(2, 'y.x.a.b', { type: 'MX' }))).toEqual([]);
    expect(covered(dnsRecord(2, 'z.b'))).toEqual([1]);
  });

  test('the closest encloser decides, and its wildcard may be unproxied', () => {
    const records = [dnsRecord(1, '*'), dnsRecord(2, '*.b', { proxied: false }), dnsRecord(3, 'www')];
    expect(ids('a.b.example.com', records)).toEqual([]);
    expect(ids('a.c.example.com', records)).toEqual([1]);
    expect(ids('a.www.example.com', records)).toEqual([]);
    expect(ids('*.example.com', records)).toEqual([1]);
    expect(ids('example.com', records)).toEqual([]);
  });

  test('a rule is in scope of its records, or of all when it names none', () => {
    const records = [dnsRecord(1, '@'), dnsRecord(2, 'www'), dnsRecord(3, 'www')];
    const action = (host: string, record_ids: number[]) =>
      decide({ records, rules: [rule('drop', 1, { record_ids })] }, { host }).action;
    expect(action('www.example.com', [3])).toBe('block');
    expect(action('www.example.com', [9, 2])).toBe('block');
    expect(action('example.com', [3])).toBe('forward');
    expect(action('example.com', [])).toBe('block');
  });
});
