/** Which challenge proves a name. */
import { describe, expect, test } from 'vitest';
import { createSolver } from '../../../../../src/control/certificates/issuance/solver.ts';
import type { Store } from '../../../../../src/control/store/store.ts';
import type { RecordRow } from '../../../../../src/control/store/tables/rules.ts';

// `choose` reads no store.
const { choose } = createSolver({ store: {} as Store, nameservers: [], clock: Date.now });
const of = (name: string, records: readonly [string, RecordRow['type']][], zone = true) => {
  const rows = records.map(([record, type]) => ({ name: record, type }));
  return choose(name, { domain: { id: 1, name: 'example.com' }, records: rows, zone });
};

describe('a name of a zone of ours', () => {
  test.each(['example.com', 'www.example.com', '*.example.com', '*.b.example.com'])(
    '%s is proved in the zone',
    (name) => {
      expect(of(name, [])).toBe('dns-01');
      const records: [string, RecordRow['type']][] = [
        ['@', 'NS'],
        ['www', 'CNAME'],
        ['_acme-challenge', 'TXT'],
        ['_acme-challenge.other', 'CNAME'],
        ['other', 'NS'],
        ['challenge', 'NS'],
      ];
      expect(of(name, records)).toBe('dns-01');
    },
  );

  test.each<[string, string, RecordRow['type']]>([
    ['example.com', '_acme-challenge', 'CNAME'],
    ['example.com', '_acme-challenge.example.com', 'CNAME'],
    ['example.com', '_ACME-challenge', 'NS'],
    ['www.example.com', '_acme-challenge.www', 'CNAME'],
    ['www.example.com', 'www', 'NS'],
    ['a.b.example.com', 'b', 'NS'],
    ['a.b.example.com', 'a.b.example.com', 'NS'],
  ])('%s is proved by a node where %s is a %s', (name, record, type) => {
    expect(of(name, [[record, type]])).toBe('http-01');
  });

  test.each<[string, string, RecordRow['type']]>([
    ['*.example.com', '_acme-challenge', 'CNAME'],
    ['*.b.example.com', 'b', 'NS'],
  ])('%s cannot be proved where %s is a %s, and the reason names it', (name, record, type) => {
    const { reason } = of(name, [[record, type]]) as { readonly reason: string };
    expect(reason).toContain(`${type} record of ${record}.example.com`);
    expect(reason).toContain(`_acme-challenge.${name.slice(2)}`);
  });
});

test('without a zone of ours names are proved by nodes, and wildcards are not', () => {
  expect(of('www.example.com', [], false)).toBe('http-01');
  expect(of('*.example.com', [], false)).toMatchObject({ reason: expect.stringContaining('does not serve') });
});
