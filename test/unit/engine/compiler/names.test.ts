import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { createLoaded, findGroup } from '../../../../src/engine/evaluator/loaded.ts';
import { GROUP, META, NONE, RECORD } from '../../../../src/engine/plan/layout.ts';
import type { DnsRecord } from '../../../../src/rules/model/types.ts';
import { dnsRecord, ruleSet } from '../../../support/sample-rules.ts';

/** The ids of the records that serve a host, or `null`. */
function finder(records: readonly DnsRecord[]): (host: string) => readonly number[] | null {
  const { plan } = compile(ruleSet({ records }));
  const loaded = createLoaded(plan, 0);
  return (host) => {
    const group = findGroup(loaded, host);
    if (group === NONE) return null;
    const offset = plan.words[plan.meta[META.groups]! + group]!;
    const count = plan.words[offset + GROUP.count]!;
    return Array.from(
      { length: count },
      (_, at) => plan.words[offset + GROUP.records + at * RECORD.size + RECORD.id]!,
    );
  };
}

describe('the closest encloser (RFC 4592 §2.2.1 and §3.3.1)', () => {
  /** The zone of RFC 4592 §2.2.1, with everything but the TXT proxied. */
  const find = finder([
    dnsRecord(1, '*'),
    dnsRecord(2, '*', { type: 'MX', proxied: false }),
    dnsRecord(3, 'sub.*', { type: 'TXT', proxied: false }),
    dnsRecord(4, 'host1'),
    dnsRecord(5, '_ssh._tcp.host1', { type: 'SRV', proxied: false }),
    dnsRecord(6, '_ssh._tcp.host2', { type: 'SRV', proxied: false }),
    dnsRecord(7, 'subdel', { type: 'NS', proxied: false }),
    dnsRecord(8, 'host1', { type: 'AAAA' }),
    dnsRecord(9, '*.b'),
  ]);

  test.each<[string, number[] | null, string]>([
    ['host3', [1], 'synthesised from the wildcard'],
    ['foo.bar', [1], 'the wildcard covers several labels'],
    ['host1', [4, 8], 'the name itself, in id order'],
    ['sub.*', null, 'a name below the wildcard owns nothing proxied'],
    ['_telnet._tcp.host1', null, '_tcp.host1 exists and has no wildcard'],
    ['x.host1', null, 'host1 exists and has no wildcard'],
    ['host2', null, 'an empty non-terminal exists'],
    ['x.host2', null, 'below an empty non-terminal'],
    ['subdel', null, 'the name exists, unproxied'],
    ['host.subdel', null, 'below a name that exists'],
    ['ghost.*', null, '`*` itself exists as a name, so it is the closest encloser'],
    ['b', null, '*.b makes b exist'],
    ['a.b', [9], 'the closer wildcard'],
    ['x.a.b', [9], 'the closer wildcard, several labels'],
    ['', null, 'no record at the apex'],
  ])('%j: %j, %s', (label, ids, _why) =>
    expect(find(label === '' ? 'example.com' : `${label}.example.com`)).toEqual(ids),
  );

  test('agrees with a search label by label', () => {
    const label = fc.constantFrom('a', 'b', 'c', '*');
    const name = fc
      .array(label, { maxLength: 4 })
      .map((labels) => (labels.length === 0 ? '@' : labels.join('.')));
    const records = fc.array(fc.tuple(name, fc.boolean()), { minLength: 1, maxLength: 12 });
    const hosts = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', '*', 'd'), { maxLength: 5 }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(records, hosts, (drawn, asked) => {
        const list = drawn.map(([one, proxied], at) => dnsRecord(at + 1, one, { proxied }));
        const find = finder(list);
        for (const labels of asked) {
          const host = [...labels, 'example.com'].join('.');
          expect(find(host), host).toEqual(searched(list, host));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  function searched(records: readonly DnsRecord[], host: string): readonly number[] | null {
    const named = records.map((one) => ({
      one,
      name: one.name === '@' ? 'example.com' : `${one.name}.example.com`,
    }));
    const exists = (name: string): boolean =>
      named.some((entry) => entry.name === name || entry.name.endsWith(`.${name}`));
    const proxied = (name: string): readonly number[] | null => {
      const ids = named
        .filter((entry) => entry.name === name && entry.one.proxied)
        .map((entry) => entry.one.id);
      return ids.length === 0 ? null : ids;
    };
    if (exists(host)) return proxied(host);
    let encloser = host;
    while (encloser !== 'example.com' && !exists(encloser))
      encloser = encloser.slice(encloser.indexOf('.') + 1);
    return proxied(`*.${encloser}`);
  }

  test('10,000 names compile in proportionate time and size', () => {
    const records = Array.from({ length: 10_000 }, (_, at) => dnsRecord(at + 1, `h${at}`));
    const find = finder(records);
    for (let at = 0; at < 10_000; at += 37) expect(find(`h${at}.example.com`)).toEqual([at + 1]);
    expect(find('h10000.example.com')).toBeNull();
    expect(find('x.h1.example.com')).toBeNull();
  });
});
