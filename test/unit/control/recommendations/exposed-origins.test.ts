/** Public records that lead to an origin past the edge, from stored records alone. */
import { describe, expect, test } from 'vitest';
import { exposedOrigins } from '../../../../src/control/recommendations/exposed-origins.ts';
import { type FactParts, factsOf } from '../../../support/stored-facts.ts';

const SHOP = { id: 1, name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true };
const found = (others: readonly object[], parts: FactParts = {}) =>
  exposedOrigins(factsOf({ records: [SHOP, ...others], ...parts }));
const record = (name: string, type: string, destination: string, id = 2) => ({ id, name, type, destination });

describe('exposed origins', () => {
  test('an address that a proxied name is served from is named, and proxying it is proposed', () => {
    const [one, ...others] = found([
      record('direct', 'A', '198.51.100.20'),
      record('else', 'A', '198.51.100.99', 3),
    ]);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'exposed_origin',
      subject: 'record/2',
      severity: 'warning',
      evidence: {
        record: 2,
        name: 'direct',
        type: 'A',
        destination: '198.51.100.20',
        proxied_names: ['shop.shop.example'],
        needed_by: [],
      },
      change: { records: [{ id: 2, name: 'direct', proxied: true, destination: '198.51.100.20' }] },
    });
  });

  test('the same address in another spelling, and the same name, are the same origin', () => {
    const six = { ...SHOP, id: 5, type: 'AAAA', destination: '2001:db8:0::20' };
    const named = { ...SHOP, id: 6, name: 'app', type: 'CNAME', destination: 'Origin.Host.example' };
    const records = [
      six,
      named,
      record('a6', 'AAAA', '2001:db8::20'),
      record('b', 'CNAME', 'origin.host.example', 3),
    ];
    expect(found(records).map(({ subject }) => subject)).toEqual(['record/2', 'record/3']);
  });

  test('the origins of rules count too, those of disabled rules do not', () => {
    const rule = { id: 9, type: 'origin_pool', name: 'p', origins: [{ address: '198.51.100.30' }] };
    const records = [record('old', 'A', '198.51.100.30')];
    expect(found(records, { rules: [rule] })).toMatchObject([
      { evidence: { proxied_names: ['rule origin_pool/9'] } },
    ]);
    expect(found(records, { rules: [{ ...rule, enabled: false }] })).toEqual([]);
  });

  test.each<[string, object[], string[]]>([
    ['an MX record needs', [record('@', 'MX', 'host.shop.example', 3)], ['MX @']],
    [
      'an SRV record needs',
      [record('_sip._tcp', 'SRV', '10 5 5060 host.shop.example', 3)],
      ['SRV _sip._tcp'],
    ],
    [
      'a proxied record has as its origin',
      [{ ...record('www', 'CNAME', 'host.shop.example', 3), proxied: true }],
      ['CNAME www, proxied'],
    ],
  ])('a name that %s is not proposed to be proxied', (_, others, needed_by) => {
    const [one] = found([record('host', 'A', '198.51.100.20'), ...others]);
    expect(one).toMatchObject({ subject: 'record/2', evidence: { needed_by }, change: null });
    expect(one!.message).toContain('another address');
  });

  test.each(['mail', 'mx2', 'ftp', 'ns1', '_dmarc'])(
    '`%s` is a host of another service, and is not proposed to be proxied',
    (name) => {
      expect(found([record(name, 'A', '198.51.100.20')])).toMatchObject([{ change: null }]);
    },
  );

  test('the address of an origin that a name of the zone has is followed, in circles too', () => {
    const records = [
      { ...record('app', 'CNAME', 'origin.shop.example', 3), proxied: true },
      record('origin', 'CNAME', 'host.shop.example', 4),
      record('host', 'A', '198.51.100.77', 5),
      record('other', 'A', '198.51.100.77', 6),
      record('circle', 'CNAME', 'host2.shop.example', 7),
      record('host2', 'CNAME', 'circle.shop.example', 8),
      { ...record('loop', 'CNAME', 'circle.shop.example', 9), proxied: true },
    ];
    const ids = found(records).map(({ subject, severity, change }) => [subject, severity, change !== null]);
    expect(ids).toEqual([
      ['record/4', 'info', false],
      ['record/5', 'info', false],
      ['record/6', 'warning', true],
      ['record/7', 'info', false],
      ['record/8', 'info', false],
    ]);
  });

  test('text records and proxied records expose nothing', () => {
    const records = [
      record('t', 'TXT', '198.51.100.20'),
      { ...record('b', 'A', '198.51.100.20', 3), proxied: true },
    ];
    expect(found(records)).toEqual([]);
  });
});
