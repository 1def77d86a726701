import { describe, expect, it } from 'vitest';
import type { ZoneRecord } from '../../../../src/control/dns/zone-file/parse.ts';
import { type ZoneContentInput, zoneContent } from '../../../../src/control/zones/make-zone.ts';
import { zoneLines } from '../../../support/zone-text.ts';

/** `<name> <type> <destination>`; `!` before the name: proxied. */
function stored(line: string): ZoneRecord {
  const [name = '', type, ...data] = line.split(' ');
  return {
    name: name.replace('!', ''),
    type: type as ZoneRecord['type'],
    destination: data.join(' '),
    mx_priority: type === 'MX' ? 10 : null,
    proxied: name.startsWith('!'),
  };
}

/** The content without the NS records of the apex, problems as `<name> <type> <message>`. */
function content(lines: readonly string[], more: Partial<ZoneContentInput> = {}) {
  const { records, problems, targets } = zoneContent({
    domain: 'example.com',
    records: lines.map(stored),
    nameservers: ['ns1.edge.test', 'ns2.edge.test'],
    edgeAddresses: ['192.0.2.200', '2001:db8::200'],
    caaIssuers: ['letsencrypt.org'],
    addressesOf: () => null,
    ...more,
  });
  return {
    lines: zoneLines(records).filter((line) => !/^example.com 300 NS ns[12].edge.test$/.test(line)),
    problems: problems.map(({ name, type, message }) => `${name} ${type} ${message}`),
    targets,
  };
}

const nothing = { problems: [], targets: [] };

describe('the content of a zone', () => {
  it('has the nameserver set at the apex, not the NS records stored there', () => {
    const { records, problems } = zoneContent({
      domain: 'example.com',
      records: [stored('@ NS ns.old.test'), stored('sub NS ns.sub.test')],
      nameservers: ['ns1.edge.test', 'ns2.edge.test', 'ns1.edge.test'],
      edgeAddresses: [],
      caaIssuers: [],
      addressesOf: () => null,
    });
    expect(zoneLines(records)).toEqual([
      'example.com 300 NS ns1.edge.test',
      'example.com 300 NS ns2.edge.test',
      'sub.example.com 300 NS ns.sub.test',
    ]);
    expect(problems).toEqual([
      {
        name: 'example.com',
        type: 'NS',
        message: 'the NS records of the domain itself are those of its nameserver set',
      },
    ]);
  });

  it('has no NS records of a wildcard, for which name servers refuse the whole zone', () => {
    const { records, problems } = zoneContent({
      domain: 'example.com',
      records: [stored('*.a NS ns.old.test'), stored('*.a TXT "x"')],
      ...{ nameservers: [], edgeAddresses: [], caaIssuers: [], addressesOf: () => null },
    });
    expect(zoneLines(records)).toEqual(['*.a.example.com 300 TXT "x"']);
    expect(problems).toEqual([
      { name: '*.a.example.com', type: 'NS', message: 'a wildcard cannot be delegated (RFC 4592 §4.2)' },
    ]);
  });

  it('has un-proxied records of all types as they are stored, with one TTL', () => {
    expect(
      content([
        '@ A 192.0.2.1',
        'www.example.com AAAA 2001:db8::1',
        'shop CNAME www.example.com',
        '@ MX mail.example.com',
        '@ TXT v=spf1 -all',
        '_sip._tcp SRV 1 2 5060 sip.example.net',
        '*.dev PTR a.test',
        '_443._tcp TLSA 3 1 1 abcd',
        'svc SVCB 1 . port=8443',
      ]),
    ).toEqual({
      ...nothing,
      lines: [
        '*.dev.example.com 300 PTR a.test',
        '_443._tcp.example.com 300 TLSA 3 1 1 abcd',
        '_sip._tcp.example.com 300 SRV 1 2 5060 sip.example.net',
        'example.com 300 A 192.0.2.1',
        'example.com 300 MX 10 mail.example.com',
        'example.com 300 TXT "v=spf1 -all"',
        'shop.example.com 300 CNAME www.example.com',
        'svc.example.com 300 UNKNOWN_64 0001000003000220fb',
        'www.example.com 300 AAAA 2001:db8::1',
      ],
    });
  });

  it('has the edge’s addresses at a name with one proxied record, in place of all its addresses and aliases', () => {
    const found = content([
      '!www A 203.0.113.1',
      'www A 203.0.113.2',
      'www AAAA 2001:db8::2',
      'www CNAME origin.test',
      'www ALIAS origin.test',
      'www TXT hi',
      '!*.dev CNAME origin.test',
      '!@ ALIAS origin.test',
    ]);
    expect(found).toEqual({
      ...nothing,
      lines: [
        '*.dev.example.com 300 A 192.0.2.200',
        '*.dev.example.com 300 AAAA 2001:db8::200',
        'example.com 300 A 192.0.2.200',
        'example.com 300 AAAA 2001:db8::200',
        'www.example.com 300 A 192.0.2.200',
        'www.example.com 300 AAAA 2001:db8::200',
        'www.example.com 300 TXT "hi"',
      ],
    });
  });

  it('has each record once, whatever the spelling of its name and data', () => {
    const { lines } = content([
      'grün A 192.0.2.1',
      'xn--grn-ioa A 192.0.2.1',
      'XN--GRN-IOA.example.com. A 192.0.2.1',
      'a AAAA 2001:db8::1',
      'a AAAA 2001:DB8:0::1',
      'c CNAME a.example.com',
      'c.example.com CNAME A.example.com.',
    ]);
    expect(lines).toEqual([
      'a.example.com 300 AAAA 2001:db8::1',
      'c.example.com 300 CNAME a.example.com',
      'xn--grn-ioa.example.com 300 A 192.0.2.1',
    ]);
  });

  it('lists records that cannot be encoded as problems and has the others', () => {
    expect(
      content(['a A 1.2.3', 'b.example.org. A 192.0.2.1', 'c TXT "open', 'd ALIAS a b', 'e A 192.0.2.1']),
    ).toEqual({
      lines: ['e.example.com 300 A 192.0.2.1'],
      problems: [
        'b.example.org. A the name is not inside the domain',
        'a.example.com A type `A` takes an IPv4 address',
        'c.example.com TXT type `TXT` takes strings of at most 255 octets, each in quotes',
        'd.example.com ALIAS type `ALIAS` takes a host name',
      ],
      targets: [],
    });
  });
});

describe('flattening', () => {
  const addressesOf = (target: string): readonly string[] => [`198.51.100.${target.length}`, '2001:db8::5'];

  it('replaces an ALIAS, a CNAME at the apex and a CNAME beside other data by the addresses of their targets', () => {
    const found = content(
      [
        '@ CNAME one.test',
        'alias ALIAS three.test',
        'beside CNAME seven.test',
        'beside TXT hi',
        'two CNAME a.test',
        'two CNAME bb.test',
      ],
      { addressesOf },
    );
    expect(found).toEqual({
      lines: [
        'alias.example.com 60 A 198.51.100.10',
        'alias.example.com 60 AAAA 2001:db8::5',
        'beside.example.com 300 TXT "hi"',
        'beside.example.com 60 A 198.51.100.10',
        'beside.example.com 60 AAAA 2001:db8::5',
        'example.com 60 A 198.51.100.8',
        'example.com 60 AAAA 2001:db8::5',
        'two.example.com 60 A 198.51.100.6',
        'two.example.com 60 A 198.51.100.7',
        'two.example.com 60 AAAA 2001:db8::5',
      ],
      problems: [],
      targets: ['one.test', 'three.test', 'seven.test', 'a.test', 'bb.test'],
    });
  });

  it('gives all addresses of a name one TTL (RFC 2181 §5.2)', () => {
    expect(
      content(['a A 192.0.2.1', 'a ALIAS x.test'], { addressesOf: () => ['192.0.2.1', '192.0.2.2'] }).lines,
    ).toEqual(['a.example.com 60 A 192.0.2.1', 'a.example.com 60 A 192.0.2.2']);
  });

  it('answers a target inside the zone from the zone’s records: wildcards, aliases, proxied names', () => {
    const { lines, problems, targets } = content([
      'edge ALIAS www.example.com',
      '!www A 203.0.113.1',
      'wild ALIAS a.b.dev.example.com',
      '*.dev CNAME host.example.com',
      'host A 192.0.2.7',
      'far ALIAS c1.example.com',
      'c1 CNAME c2.example.com',
      'c2 ALIAS host.example.com',
    ]);
    expect(lines.filter((line) => /^(edge|wild|far|c2)/.test(line))).toEqual([
      'c2.example.com 300 A 192.0.2.7',
      'edge.example.com 300 A 192.0.2.200',
      'edge.example.com 300 AAAA 2001:db8::200',
      'far.example.com 300 A 192.0.2.7',
      'wild.example.com 300 A 192.0.2.7',
    ]);
    expect({ problems, targets }).toEqual(nothing);
  });

  it('finds the wildcard at the closest encloser only (RFC 4592)', () => {
    const { lines, problems } = content([
      '*.example.com A 192.0.2.1',
      'x.b A 192.0.2.2',
      'one ALIAS c.example.com',
      'two ALIAS c.b.example.com',
      'three ALIAS b.example.com',
      'four ALIAS *.example.com',
    ]);
    expect(lines.filter((line) => /^(one|two|three|four)/.test(line))).toEqual([
      'four.example.com 300 A 192.0.2.1',
      'one.example.com 300 A 192.0.2.1',
    ]);
    expect(problems).toEqual([
      'two.example.com ALIAS `c.b.example.com` does not exist',
      'three.example.com ALIAS `b.example.com` does not exist',
    ]);
  });

  it('resolves a target below a delegation outside the zone', () => {
    const found = content(
      [
        'sub NS ns.sub.test',
        'a.sub NS ns.sub.test',
        'z ALIAS b.sub.example.com',
        'y ALIAS sub.example.com',
        'x ALIAS subb.example.com',
        'subb A 192.0.2.1',
      ],
      { addressesOf },
    );
    expect(found.targets).toEqual(['b.sub.example.com', 'sub.example.com']);
    expect(found.lines).toContain('x.example.com 300 A 192.0.2.1');
  });

  it('follows aliases inside the zone for eight steps', () => {
    const chain = (length: number): readonly string[] => [
      ...Array.from({ length }, (_, at) => `c${at} ALIAS c${at + 1}.example.com`),
      `c${length} A 192.0.2.1`,
    ];
    expect(content(chain(9)).problems).toEqual([]);
    expect(content(chain(10)).problems).toEqual([
      'c0.example.com ALIAS more than 8 aliases lead on from the target',
    ]);
    expect(content(['a ALIAS b.example.com', 'b ALIAS a.example.com']).problems).toHaveLength(2);
  });

  it('resolves at most 50 targets of a domain', () => {
    const lines = Array.from({ length: 52 }, (_, at) => `a${at} ALIAS t${at}.test`);
    const { targets, problems } = content([...lines, 'again ALIAS t3.test'], { addressesOf });
    expect(targets).toHaveLength(50);
    expect(problems).toEqual([
      'a50.example.com ALIAS only 50 targets outside the domain are resolved',
      'a51.example.com ALIAS only 50 targets outside the domain are resolved',
    ]);
  });

  it('has no addresses of a target without an answer, or without addresses, and says so', () => {
    const none = content(['a ALIAS x.test', 'b ALIAS y.test'], {
      addressesOf: (target) => (target === 'x.test' ? null : []),
    });
    expect(none).toEqual({
      lines: [],
      problems: [
        'a.example.com ALIAS `x.test` is not resolved yet',
        'b.example.com ALIAS `y.test` has no address',
      ],
      targets: ['x.test', 'y.test'],
    });
  });

  it('takes at most 20 addresses of each family from a target', () => {
    const many = Array.from({ length: 25 }, (_, at) => `192.0.2.${at}`);
    const inside = many.map((address) => `host A ${address}`);
    expect(content(['a ALIAS x.test'], { addressesOf: () => many }).lines).toHaveLength(20);
    const { lines } = content([...inside, 'a ALIAS host.example.com']);
    expect(lines.filter((line) => line.startsWith('a.'))).toHaveLength(20);
    expect(lines.filter((line) => line.startsWith('host.'))).toHaveLength(25);
  });

  it('does not depend on the order of records, apart from the choice of targets', () => {
    const lines = ['a ALIAS b.example.com', 'b A 192.0.2.1', 'b A 192.0.2.2', '* TXT x', 'b ALIAS x.test'];
    expect(content(lines, { addressesOf }).lines).toEqual(content(lines.toReversed(), { addressesOf }).lines);
  });
});

describe('CAA', () => {
  it('permits the edge’s issuers where the customer restricts issuing, for the same tags', () => {
    const { lines } = content(
      [
        '@ CAA 0 issue ";"',
        'a CAA 0 issuewild "x.test"',
        'b CAA 0 iodef "mailto:a@b.test"',
        'c CAA 0 issue "one.test"',
        'd A 192.0.2.1',
      ],
      { caaIssuers: ['one.test', 'two.test'] },
    );
    expect(lines).toEqual([
      'a.example.com 300 CAA 0 issuewild one.test',
      'a.example.com 300 CAA 0 issuewild two.test',
      'a.example.com 300 CAA 0 issuewild x.test',
      'b.example.com 300 CAA 0 iodef mailto:a@b.test',
      'c.example.com 300 CAA 0 issue one.test',
      'c.example.com 300 CAA 0 issue two.test',
      'd.example.com 300 A 192.0.2.1',
      'example.com 300 CAA 0 issue ;',
      'example.com 300 CAA 0 issue one.test',
      'example.com 300 CAA 0 issue two.test',
    ]);
  });
});
