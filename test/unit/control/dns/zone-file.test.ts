import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseZone, type ZoneRecord } from '../../../../src/control/dns/zone-file/parse.ts';
import { printZone } from '../../../../src/control/dns/zone-file/print.ts';
import { canonicalData } from '../../../../src/control/dns/zone-file/rdata.ts';
import { parseRecord } from '../../../../src/rules/model/parse.ts';
import { judgeRecordName } from '../../../../src/rules/model/record-name.ts';

const DOMAIN = 'example.com';

function kept(text: string): readonly string[] {
  return parseZone(text, DOMAIN).records.map(({ name, type, destination, mx_priority }) =>
    [name, type, ...(mx_priority === null ? [] : [mx_priority]), destination].join(' '),
  );
}

function told(text: string): readonly string[] {
  return parseZone(text, DOMAIN).diagnostics.map(
    ({ at, severity, code }) => `${at?.line} ${severity} ${code}`,
  );
}

describe('reading a zone file', () => {
  it('reads what RFC 1035 §5 shows: origin, relative names, parentheses, comments, blank owners', () => {
    const text = `
$ORIGIN example.com.
$TTL 1h30m ; of everything
@   IN  SOA ns.old.net. hostmaster.old.net. (
        2024010101 ; serial
        1d 2h 4w 5m )
@       NS   ns.old.net.
        MX   10 mail
        MX   20 (
               backup.example.net. )
        3600 IN TXT "v=spf1 -all" ; mail
www  IN 300  A     192.0.2.1
     AAAA  2001:DB8:0::1
*.dev   CNAME  www
$ORIGIN sub
deep    CNAME  @
abs.example.com. PTR host
`;
    expect(kept(text)).toEqual([
      '@ MX 10 mail.example.com',
      '@ MX 20 backup.example.net',
      '@ TXT v=spf1 -all',
      'www A 192.0.2.1',
      'www AAAA 2001:db8::1',
      '*.dev CNAME www.example.com',
      'deep.sub CNAME sub.example.com',
      'abs PTR host.sub.example.com',
    ]);
    expect(told(text)).toEqual(['3 info ttl_dropped', '4 info soa_skipped', '7 warning apex_ns_skipped']);
  });

  it.each([
    ['a CNAME example.com', 1],
    ['a CNAME b.example.com', 1],
    ['@ MX 10 mx.example.com', 1],
    ['_sip._tcp SRV 10 5 5060 sip.example.com', 1],
    ['@ HTTPS 1 www.example.com alpn=h2', 1],
    ['@ HTTPS 1 . alpn=h2', 0],
    ['_x._tcp SVCB 0 h.example.com', 1],
    ['www.example.com A 192.0.2.1', 1],
    ['a.example.com CNAME b.example.com', 2],
    ['$ORIGIN sub.example.com.\na CNAME example.com', 1],
    ['a CNAME example.com.', 0],
    ['a CNAME notexample.com', 0],
    ['a TXT example.com', 0],
    ['a A 192.0.2.1', 0],
  ])('%j has %d hints about a missing dot', (text, expected) => {
    const { records, diagnostics, skipped } = parseZone(text, 'example.com');
    expect([records.length, skipped]).toEqual([1, 0]);
    expect(diagnostics.filter(({ code }) => code === 'missing_dot')).toHaveLength(expected);
  });

  it('reads every type of the model that has a zone file form', () => {
    const text = `
sub NS ns1.else.net.
_sip._tcp SRV 10 5 5060 sip.example.com.
@ CAA 0 issue "letsencrypt.org; validationmethods=dns-01"
_443._tcp TLSA 3 1 1 ( D2ABDE240D7CD3EE6B4B28C54DF034B9
                       7983A1D16E8A410E4561CB106618E971 )
@ HTTPS 1 . ipv4hint=192.0.2.1,192.0.2.2 alpn="h2,h3"
svc SVCB 0 other.example.net.
`;
    expect(kept(text)).toEqual([
      'sub NS ns1.else.net',
      '_sip._tcp SRV 10 5 5060 sip.example.com',
      '@ CAA 0 issue "letsencrypt.org; validationmethods=dns-01"',
      '_443._tcp TLSA 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971',
      '@ HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1,192.0.2.2',
      'svc SVCB 0 other.example.net',
    ]);
    expect(told(text)).toEqual([]);
  });

  it('joins the strings of a TXT record, and quotes those that plain text cannot express', () => {
    const long = 'k'.repeat(300);
    const text = [
      `long TXT "${long.slice(0, 255)}" "${long.slice(255)}"`,
      'two TXT "one" two',
      'quote TXT "say \\"hi\\" \\\\ \\; \\065"',
      'start TXT "\\"hi\\""',
      'empty TXT ""',
      'octet TXT "\\255"',
      'utf TXT "grün"',
    ].join('\n');
    expect(kept(text)).toEqual([
      `long TXT ${long}`,
      'two TXT "one" "two"',
      'quote TXT say "hi" \\ ; A',
      'start TXT "\\"hi\\""',
      'empty TXT ""',
      'octet TXT "\\255"',
      'utf TXT grün',
    ]);
  });

  it.each([
    ['@ A 192.0.2.256', '1 error invalid_data'],
    ['@ A', '1 error invalid_data'],
    ['@ A 192.0.2.1 192.0.2.2', '1 error invalid_data'],
    ['@ AAAA 192.0.2.1', '1 error invalid_data'],
    ['@ MX mail', '1 error invalid_data'],
    ['@ MX 65536 mail', '1 error invalid_data'],
    ['@ TXT "a', '1 error unclosed_quote'],
    ['@ TXT ( "a"\n"b"', '1 error unclosed_parenthesis'],
    ['@ A 192.0.2.1 )', '1 error stray_parenthesis'],
    ['@ TXT a\\', '1 error unfinished_escape'],
    ['@ TXT \\256', '1 error invalid_escape'],
    ['@ TXT \\25', '1 error invalid_escape'],
    [`@ TXT ${'a'.repeat(256)}`, '1 error invalid_data'],
    ['a\\.b A 192.0.2.1', '1 error invalid_name'],
    ['a*b A 192.0.2.1', '1 error invalid_name'],
    [`${'a'.repeat(64)} A 192.0.2.1`, '1 error invalid_name'],
    ['www.example.org. A 192.0.2.1', '1 error outside_zone'],
    ['. A 192.0.2.1', '1 error outside_zone'],
    [' A 192.0.2.1', '1 error missing_name'],
    ['@ CH A 192.0.2.1', '1 error unsupported_class'],
    ['@ IN', '1 error missing_type'],
    ['@ 3x A 192.0.2.1', '1 error invalid_ttl'],
    ['@ 2147483648 A 192.0.2.1', '1 error invalid_ttl'],
    ['$INCLUDE other', '1 error unsupported_directive'],
    ['$GENERATE 1-9 a$ A 192.0.2.$', '1 error unsupported_directive'],
    ['$TTL', '1 error invalid_directive'],
    ['$TTL soon', '1 error invalid_ttl'],
    ['$ORIGIN a..b', '1 error invalid_name'],
    ['@ HINFO a b', '1 warning unsupported_type'],
    ['@ ALIAS other.example.net.', '1 warning unsupported_type'],
    ['@ TYPE65 \\# 0', '1 warning unsupported_type'],
    ['@ A \\# 4 c0000201', '1 error invalid_data'],
    ['@ HTTPS 1 . alpn=h2 alpn=h3', '1 error invalid_data'],
    ['@ HTTPS 1 . colour=red', '1 error invalid_data'],
    ['@ HTTPS 1 . port=70000', '1 error invalid_data'],
    ['@ CAA 256 issue "x"', '1 error invalid_data'],
    ['@ TLSA 3 1 1 abc', '1 error invalid_data'],
    ['a CNAME 192.0.2.1.', '1 error invalid_name'],
  ])('refuses %j by its line', (text, problem) => {
    expect(told(text)).toEqual([problem]);
    expect(kept(text)).toEqual([]);
  });

  it('reads the lines after a syntax error, and reports the line of the error', () => {
    const text =
      'a A 192.0.2.1\r\nb A nonsense\r\n  AAAA 2001:db8::1\r\n\r\nc TXT "open\r\nd A 192.0.2.4\ra A 192.0.2.1';
    expect(kept(text)).toEqual(['a A 192.0.2.1', 'b AAAA 2001:db8::1', 'd A 192.0.2.4']);
    expect(told(text)).toEqual([
      '2 error invalid_data',
      '5 error unclosed_quote',
      '7 warning duplicate_record',
    ]);
  });

  it('does not give records the owner of a refused line', () => {
    expect(told('a A 192.0.2.1\na..b A 192.0.2.1\n TXT x')).toEqual([
      '2 error invalid_name',
      '3 error missing_name',
    ]);
  });

  it('stores a relative name that reads like an absolute one as a different name', () => {
    expect(kept('www.example.com A 192.0.2.1\nwww A 192.0.2.2')).toEqual([
      'www.example.com.example.com A 192.0.2.1',
      'www A 192.0.2.2',
    ]);
  });

  it('never throws, and returns only records that the model accepts', () => {
    const piece = fc.constantFrom(
      ...['@', 'www', '*', '$ORIGIN', '$TTL', 'IN', 'A', 'MX', 'TXT', 'SRV', 'CAA', 'HTTPS', 'TLSA', 'CNAME'],
      ...[
        '192.0.2.1',
        '10',
        '0',
        '1',
        '.',
        'issue',
        'alpn=h2',
        'a"',
        '"',
        '(',
        ')',
        ';',
        '\\',
        '\\"',
        '\\046',
      ],
      ...[' ', ' ', ' ', '\n', '\n', '\r\n', '\t', 'x.example.com.', 'ü', '\ud800', '\0', 'é.'],
    );
    const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (zone) => {
        for (const { line, ...record } of parseZone(zone, DOMAIN).records) {
          expect(parseRecord({ id: 1, ...record }, DOMAIN).diagnostics).toEqual([]);
          expect(judgeRecordName(record.name, DOMAIN)).toBeNull();
          expect(line).toBeGreaterThan(0);
          expect(record.destination).not.toBe('');
          expect(record.destination.length).toBeLessThanOrEqual(4_096);
          expect(canonicalData(record.type as 'A', record)).toEqual({
            destination: record.destination,
            mx_priority: record.mx_priority,
          });
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads at most 10,000 records and reports a bounded number of diagnostics', () => {
    const lines = Array.from({ length: 10_050 }, (_, index) => `h${index} A 192.0.2.1`).join('\n');
    const full = parseZone(lines, DOMAIN);
    expect(full.records).toHaveLength(10_000);
    expect(full.diagnostics.map(({ code }) => code)).toEqual(['too_many_records']);
    const wrong = parseZone('x A y\n'.repeat(2_000), DOMAIN);
    expect(wrong.diagnostics).toHaveLength(501);
    expect(parseZone(' '.repeat(4_194_305), DOMAIN).diagnostics[0]?.code).toBe('too_long');
  });
});

const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9-]{0,6}[a-z0-9])?$/);
const name = fc.oneof(
  fc.constant('@'),
  fc.constant('*'),
  label,
  fc.tuple(label, label).map((labels) => labels.join('.')),
  label.map((first) => `${first}.example.com.example.com`),
);
const host = fc.tuple(label, label, fc.constantFrom('net', 'org')).map((labels) => labels.join('.'));
const whole = fc.nat(65_535);
const octets = fc.stringMatching(/^[ -~äöü"\\;()]{1,300}$/);

function record(type: ZoneRecord['type'], destination: fc.Arbitrary<string>): fc.Arbitrary<ZoneRecord> {
  return fc.record({
    name,
    type: fc.constant(type),
    destination,
    mx_priority: type === 'MX' ? whole : fc.constant(null),
    proxied: ['A', 'AAAA', 'CNAME'].includes(type) ? fc.boolean() : fc.constant(false),
  });
}

const anyRecord = fc.oneof(
  record('A', fc.ipV4()),
  record('AAAA', fc.constantFrom('2001:db8::1', '::', '::ffff:192.0.2.1', 'fe80::1:2')),
  record('CNAME', host),
  record('MX', fc.oneof(host, fc.constant('.'))),
  record(
    'TXT',
    octets.filter((text) => !text.startsWith('"')),
  ),
  record('TXT', fc.constantFrom('""', '"a" "b"', '"\\000\\255"')),
  record(
    'SRV',
    fc.tuple(whole, whole, whole, host).map((parts) => parts.join(' ')),
  ),
  record('CAA', fc.constantFrom('0 issue "a.org"', '128 iodef "mailto:a@b.org"', '0 issue ";"')),
  record('PTR', host),
  record(
    'TLSA',
    fc
      .uint8Array({ minLength: 1, maxLength: 40 })
      .map((data) => `3 1 1 ${Buffer.from(data).toString('hex')}`),
  ),
  record(
    'HTTPS',
    fc.constantFrom('1 . alpn=h2,h3 port=8443', '0 a.net', '1 b.net no-default-alpn key9="a b"'),
  ),
  record('SVCB', fc.constantFrom('2 c.net ipv6hint=2001:db8::1 dohpath=/q{?dns}')),
);

describe('printing a zone file', () => {
  it('reads back as the same records', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 12 }), (records) => {
        const unique = new Map(
          records.map((entry) => [JSON.stringify({ ...entry, proxied: false }), entry] as const),
        );
        const wanted = [...unique.values()];
        const text = printZone(DOMAIN, wanted, { nameservers: ['ns1.edge.net', 'ns2.edge.net'] });
        const back = parseZone(text, DOMAIN);
        expect(back.records.map(({ line: _, ...rest }) => rest)).toEqual(wanted);
        expect(back.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        for (const entry of wanted) expect(parseRecord({ id: 1, ...entry }, DOMAIN).ok).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('prints a record without a zone file form as a comment of one line', () => {
    const text = printZone(DOMAIN, [
      { name: '@', type: 'ALIAS', destination: 'shop.example.net', mx_priority: null, proxied: true },
      { name: 'a', type: 'SRV', destination: 'odd\nb A 192.0.2.1', mx_priority: null, proxied: false },
      { name: '$a', type: 'A', destination: '192.0.2.1', mx_priority: null, proxied: false },
    ]);
    expect(text.split('\n').slice(2)).toEqual([
      '; ALIAS has no form in a zone file: @ shop.example.net',
      '; left out, must be priority, weight, port, target: a SRV odd b A 192.0.2.1',
      '\\$a IN A 192.0.2.1',
      '',
    ]);
    expect(kept(text)).toEqual(['$a A 192.0.2.1']);
  });
});
