/** Generates domains whose records collide: names that enclose each other, aliases to each other, several spellings. */
import fc from 'fast-check';
import type { ZoneRecord } from '../../src/control/dns/zone-file/parse.ts';
import type { NaiveRow } from '../oracle/zone-content.ts';

export const ZONE_DOMAIN = 'example.com';

/** A stored record and what it means. */
export interface GeneratedRow {
  readonly stored: ZoneRecord;
  readonly meaning: NaiveRow;
}

/** Names relative to the domain, with spellings beside the usual ones. */
const OWNERS: readonly (readonly [string, ...string[]])[] = [
  ['', '@', 'EXAMPLE.com', 'example.com.'],
  ['www', 'WWW'],
  ['a'],
  ['b.a'],
  ['c.b.a'],
  ['*', '*.Example.com.'],
  ['*.a'],
  ['*.b.a'],
  ['sub'],
  ['x.sub'],
  ['_dmarc'],
  ['_443._tcp.www'],
  ['xn--grn-ioa', 'grün', 'GRÜN', 'grün.example.com.'],
  ['xn--bcher-kva.a', 'bücher.a'],
  ['a-b', 'A-b'],
  [`${'l'.repeat(63)}.${'m'.repeat(63)}`],
];

const absolute = (relative: string): string => (relative === '' ? ZONE_DOMAIN : `${relative}.${ZONE_DOMAIN}`);

const owner = fc.constantFrom(...OWNERS).chain(([canonical, ...spellings]) =>
  fc.record({
    owner: fc.constant<string | null>(absolute(canonical)),
    name: fc.constantFrom(
      ...(canonical === '' ? [] : [canonical, canonical]),
      absolute(canonical),
      `${absolute(canonical)}.`,
      ...spellings,
    ),
  }),
);
const badOwner = fc.constantFrom('a..b', 'www.example.org.', '.').map((name) => ({ owner: null, name }));
const anyOwner = fc.oneof({ arbitrary: owner, weight: 60 }, { arbitrary: badOwner, weight: 1 });

/** Data as it is stored and as `zoneLines` writes it. */
interface Data {
  readonly type: ZoneRecord['type'];
  readonly destination: string;
  readonly mx_priority?: number | null;
  readonly data: string | null;
}

const TARGETS: readonly string[] = [
  ...OWNERS.map(([canonical]) => absolute(canonical)),
  'q.a.example.com',
  'q.q.b.a.example.com',
  'z.www.example.com',
  'nowhere.example.com',
  'y.sub.example.com',
  'notexample.com',
  'one.test',
  'two.test',
  'pending.test',
  'empty.test',
  'many.test',
];

const target = fc.oneof(
  fc
    .constantFrom(...TARGETS)
    .chain((name) =>
      fc
        .constantFrom(name, `${name}.`, name.toUpperCase())
        .map((destination) => ({ destination, data: name })),
    ),
  fc.constant({ destination: 'bücher.test', data: 'xn--bcher-kva.test' }),
);
const ipv4 = fc.integer({ min: 1, max: 6 }).map((last) => `192.0.2.${last}`);
const ipv6 = fc
  .integer({ min: 1, max: 6 })
  .chain((last) =>
    fc
      .constantFrom(`2001:db8::${last}`, `2001:DB8:0::${last}`, `2001:db8:0:0:0:0:0:${last}`)
      .map((destination) => ({ destination, data: `2001:db8::${last}` })),
  );
const txt = fc.oneof(
  fc.constantFrom(
    { destination: 'v=spf1 -all', data: '"v=spf1 -all"' },
    { destination: '"v=spf1 -all"', data: '"v=spf1 -all"' },
    { destination: '"one" "two"', data: '"one" "two"' },
    { destination: 'grün; \\x', data: '"grün; \\\\x"' },
  ),
  fc.integer({ min: 250, max: 800 }).map((length) => {
    const parts = 'k'.repeat(length).match(/.{1,255}/g)!;
    return { destination: 'k'.repeat(length), data: parts.map((part) => `"${part}"`).join(' ') };
  }),
);
const caa = fc
  .record({
    flags: fc.constantFrom(0, 128),
    tag: fc.constantFrom('issue', 'issuewild', 'iodef'),
    value: fc.constantFrom(';', 'ca.test', 'other.test', 'ca.test; validationmethods=dns-01'),
  })
  .map(({ flags, tag, value }) => ({
    destination: `${flags} ${tag.toUpperCase()} "${value}"`,
    data: `${flags} ${tag} ${value}`,
  }));
const service = fc.constantFrom(
  { destination: '1 . alpn=h2', data: '0001000001000302' + '6832' },
  { destination: '1 . port=443 alpn="h2"', data: '0001000001000302' + '6832' + '0003000201bb' },
  { destination: '0 a.test', data: '00000161047465737400' },
);
const invalid = fc.constantFrom<readonly [ZoneRecord['type'], string]>(
  ['A', '192.0.2.999'],
  ['AAAA', '192.0.2.1'],
  ['TXT', '"open'],
  ['SRV', '1 2 a.test'],
  ['CAA', 'issue ca.test'],
  ['HTTPS', '1 . mandatory=alpn'],
  ['ALIAS', 'a..b'],
);

const aliasData: fc.Arbitrary<Data> = fc.oneof(
  // The model takes a host name, which has no `*`; of an ALIAS it was checked at the write alone.
  target.map(
    ({ destination, data }): Data => ({ type: 'CNAME', destination, data: data.includes('*') ? null : data }),
  ),
  target.map((data): Data => ({ type: 'ALIAS', ...data })),
);
const plainData: fc.Arbitrary<Data> = fc.oneof(
  ipv4.map((text): Data => ({ type: 'A', destination: text, data: text })),
  ipv6.map((data): Data => ({ type: 'AAAA', ...data })),
  fc
    .constantFrom('ns.test', 'other.test')
    .map((name): Data => ({ type: 'NS', destination: name, data: name })),
  fc.constant<Data>({ type: 'PTR', destination: 'a.test', data: 'a.test' }),
  fc.record({ mx_priority: fc.constantFrom(0, 10, null), name: fc.constantFrom('mail.test', '.') }).map(
    ({ mx_priority, name }): Data => ({
      type: 'MX',
      destination: name,
      mx_priority,
      data: `${mx_priority ?? 0} ${name}`,
    }),
  ),
  txt.map((data): Data => ({ type: 'TXT', ...data })),
  fc.constant<Data>({ type: 'SRV', destination: '1 2 443 a.test.', data: '1 2 443 a.test' }),
  caa.map((data): Data => ({ type: 'CAA', ...data })),
  fc.constant<Data>({ type: 'TLSA', destination: '3 1 1 AB cd', data: '3 1 1 abcd' }),
  service.map((data): Data => ({ type: 'HTTPS', ...data })),
  service.map((data): Data => ({ type: 'SVCB', ...data })),
  invalid.map(([type, destination]): Data => ({ type, destination, data: null })),
);

function rowOf(
  place: { readonly owner: string | null; readonly name: string },
  data: Data,
  proxied: boolean,
): GeneratedRow {
  const { type, destination, mx_priority = null } = data;
  return {
    stored: { name: place.name, type, destination, mx_priority, proxied },
    meaning: { owner: place.owner, type: TYPE_TEXT[type] ?? type, data: data.data, proxied },
  };
}

/** Types that dns-packet does not name. */
const TYPE_TEXT: Readonly<Record<string, string>> = { SVCB: 'UNKNOWN_64', HTTPS: 'UNKNOWN_65' };

const proxied = fc.boolean().chain((often) => (often ? fc.boolean() : fc.constant(false)));
const plainRow = fc
  .tuple(anyOwner, plainData, proxied)
  .map(([place, data, through]) => rowOf(place, data, through));
const aliasRow = fc
  .tuple(anyOwner, aliasData, fc.integer({ min: 0, max: 5 }))
  .map(([place, data, through]) => rowOf(place, data, through === 0));

/** A name with more addresses than a flattened name may have. */
const crowded = owner.map((place) =>
  Array.from({ length: 30 }, (_, at) => {
    const text = `203.0.113.${(at * 37) % 256}`;
    return rowOf(place, { type: 'A', destination: text, data: text }, false);
  }),
);
/** More targets than a domain may have. */
const greedy = fc
  .integer({ min: 45, max: 55 })
  .map((count) =>
    Array.from({ length: count }, (_, at) =>
      rowOf(
        { owner: `g${at}.example.com`, name: `g${at}` },
        { type: 'ALIAS', destination: `t${at % 53}.test`, data: `t${at % 53}.test` },
        false,
      ),
    ),
  );

/** Aliases of which each leads to the next, around the number that is followed. */
const chained = fc.integer({ min: 7, max: 11 }).map((count) => [
  ...Array.from({ length: count }, (_, at) => {
    const next = `k${at + 1}.example.com`;
    const place = { owner: `k${at}.example.com`, name: `k${at}` };
    return rowOf(place, { type: at % 2 === 0 ? 'ALIAS' : 'CNAME', destination: next, data: next }, false);
  }),
  rowOf(
    { owner: `k${count}.example.com`, name: `k${count}` },
    { type: 'A', destination: '192.0.2.9', data: '192.0.2.9' },
    false,
  ),
]);

/** The records of a domain. Few aliases, since the naive reading walks every path of them. */
export const zoneRows: fc.Arbitrary<readonly GeneratedRow[]> = fc
  .tuple(
    fc.array(plainRow, { maxLength: 20 }),
    fc.array(aliasRow, { maxLength: 6 }),
    fc.oneof({ arbitrary: fc.constant([]), weight: 6 }, { arbitrary: crowded, weight: 1 }),
    fc.oneof({ arbitrary: fc.constant([]), weight: 10 }, { arbitrary: greedy, weight: 1 }),
    fc.oneof({ arbitrary: fc.constant([]), weight: 10 }, { arbitrary: chained, weight: 1 }),
  )
  .chain((parts) => {
    const rows = parts.flat();
    return fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length });
  });

// Data that only real name servers read

const u16 = fc.integer({ min: 0, max: 65_535 });
const u8 = fc.integer({ min: 0, max: 255 });
const name = fc.constantFrom(
  'a.test',
  '.',
  '_x._y.test',
  `${'l'.repeat(63)}.test`,
  'xn--grn-ioa.test',
  '*.w.test',
);
const hex = fc
  .uint8Array({ minLength: 1, maxLength: 64 })
  .map((octets) => Buffer.from(octets).toString('hex'));
const escaped = (octets: Uint8Array): string =>
  [...octets].map((octet) => `\\${String(octet).padStart(3, '0')}`).join('');
const quoted = fc.oneof(
  fc.uint8Array({ maxLength: 255 }).map((octets) => `"${escaped(octets)}"`),
  fc.stringMatching(/^[ !#-[\]-~]{0,255}$/).map((text) => `"${text}"`),
);

type StoredData = Pick<ZoneRecord, 'type' | 'destination' | 'mx_priority'>;

function storedAs(type: ZoneRecord['type']): (destination: string) => StoredData {
  return (destination) => ({ type, destination, mx_priority: null });
}

/** Data of every type but HTTPS and SVCB, as it is stored. */
export const textData: fc.Arbitrary<StoredData> = fc.oneof(
  fc.ipV4().map(storedAs('A')),
  fc.ipV6().map(storedAs('AAAA')),
  fc.constantFrom('a.test', 'b.example.com', 'xn--grn-ioa.test').map(storedAs('CNAME')),
  name.filter((text) => text !== '.').map(storedAs('NS')),
  name.map(storedAs('PTR')),
  fc
    .tuple(u16, name)
    .map(([mx_priority, destination]): StoredData => ({ type: 'MX', destination, mx_priority })),
  fc.array(quoted, { minLength: 1, maxLength: 4 }).map((strings) => storedAs('TXT')(strings.join(' '))),
  fc.stringMatching(/^[ -~äß]{1,600}$/).map(storedAs('TXT')),
  fc.tuple(u16, u16, u16, name).map((parts) => storedAs('SRV')(parts.join(' '))),
  fc
    .tuple(u8, fc.stringMatching(/^[a-zA-Z0-9]{1,15}$/), quoted)
    .map((parts) => storedAs('CAA')(parts.join(' '))),
  fc.tuple(u8, u8, u8, hex).map((parts) => storedAs('TLSA')(parts.join(' '))),
);

const alpn = fc
  .array(fc.constantFrom('h2', 'h3', 'f\\\\\\\\oo', 'a\\\\,b', '\\200\\255', 'x'.repeat(255)), {
    minLength: 1,
    maxLength: 3,
  })
  .map((ids) => `alpn=${ids.join(',')}`);
const params: readonly fc.Arbitrary<string>[] = [
  alpn,
  fc.constant('no-default-alpn'),
  u16.map((port) => `port=${port}`),
  fc.array(fc.ipV4(), { minLength: 1, maxLength: 4 }).map((list) => `ipv4hint=${list.join(',')}`),
  fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((octets) => `ech=${Buffer.from(octets).toString('base64')}`),
  fc.array(fc.ipV6(), { minLength: 1, maxLength: 4 }).map((list) => `ipv6hint="${list.join(',')}"`),
  fc.constantFrom('dohpath=/q{?dns}', 'dohpath=/ä{?dns}', 'dohpath=q'),
  fc.tuple(fc.integer({ min: 8, max: 65_534 }), quoted).map(([key, value]) => `key${key}=${value}`),
  fc
    .subarray(['alpn', 'port', 'ipv4hint', 'ech'], { minLength: 1 })
    .map((keys) => `mandatory=${keys.join(',')}`),
];

/** Data of HTTPS and SVCB as it is stored; some of it is malformed. */
export const serviceData: fc.Arbitrary<StoredData> = fc
  .tuple(
    fc.constantFrom<'HTTPS' | 'SVCB'>('HTTPS', 'SVCB'),
    fc.integer({ min: 1, max: 65_535 }),
    name,
    fc.tuple(...params.map((param) => fc.option(param))),
  )
  .chain(([type, priority, host, list]) => {
    const given = list.filter((param) => param !== null);
    return fc
      .shuffledSubarray(given, { minLength: given.length, maxLength: given.length })
      .map((shuffled) => storedAs(type)([priority, host, ...shuffled].join(' ')));
  });
