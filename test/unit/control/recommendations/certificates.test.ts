/** Certificates and API keys that end, and names that no certificate covers. */
import { describe, expect, test } from 'vitest';
import { certificates } from '../../../../src/control/recommendations/certificates.ts';
import { expiringKeys } from '../../../../src/control/recommendations/recommend.ts';
import type { StoredFacts } from '../../../../src/control/recommendations/stored-facts.ts';
import type { KeyWithUse } from '../../../../src/control/store/tables/accounts.ts';
import { DAY, type FactParts, factsOf, HOUR, NOW } from '../../../support/stored-facts.ts';

const certificate = (
  id: number,
  names: readonly string[],
  days: number,
  parts: Partial<StoredFacts['certificates'][number]> = {},
): StoredFacts['certificates'][number] => ({
  id,
  names_json: JSON.stringify(names),
  not_after: NOW + days * DAY,
  renew_at: null,
  error: '',
  status: 'active',
  created_at: NOW - 7 * DAY,
  ...parts,
});

describe('certificates', () => {
  const found = (...list: readonly ReturnType<typeof certificate>[]) =>
    certificates(factsOf({ certificates: list }));

  test('a proxied name that no valid certificate covers is named', () => {
    const [one, ...others] = found(certificate(1, ['shop.example', 'api.shop.example'], 80));
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'uncovered_names',
      severity: 'warning',
      evidence: { names: ['shop.shop.example'], of: 1, certificates: 1 },
      change: null,
    });
  });

  test('a wildcard covers one label, and a name that is covered is not named', () => {
    expect(found(certificate(1, ['*.shop.example'], 80))).toEqual([]);
    expect(found(certificate(1, ['shop.shop.example'], 80))).toEqual([]);
    expect(found(certificate(1, ['*.example'], 80))).toHaveLength(1);
  });

  describe('a domain without a certificate', () => {
    const bare = (parts: FactParts) => certificates(factsOf({ certificates: [], overTls: false, ...parts }));

    test('is named once with its proxied names, and says that it has no HTTPS at all', () => {
      const [one, ...others] = bare({});
      expect(others).toEqual([]);
      expect(one).toMatchObject({
        kind: 'uncovered_names',
        severity: 'warning',
        evidence: { names: ['shop.shop.example'], of: 1, certificates: 0 },
      });
      expect(one!.message).toMatch(
        /^the domain has no certificate, and no request came over TLS: browsers get no HTTPS at `shop\.shop\.example`;/,
      );
    });

    test.each<[string, FactParts]>([
      ['its DNS is elsewhere, so that TLS may end elsewhere', { dnsMode: 'external' }],
      ['its requests come over TLS, by certificates of the nodes or in front of them', { overTls: true }],
      ['it has no proxied name', { records: [] }],
      ['it does not serve yet', { status: 'pending' }],
    ])('is not named if %s', (_, parts) => {
      expect(bare(parts)).toEqual([]);
    });

    test('is not named on the day of an order, and is if it fails or takes longer', () => {
      const order = (parts: Partial<StoredFacts['certificates'][number]>) =>
        bare({
          certificates: [
            certificate(1, ['*.shop.example'], 0, { not_after: 0, status: 'pending', ...parts }),
          ],
        });
      expect(order({ created_at: NOW - HOUR })).toEqual([]);
      expect(order({ created_at: NOW - DAY })).toHaveLength(1);
      expect(order({ created_at: NOW - HOUR, error: 'refused' })).toHaveLength(1);
      expect(order({ created_at: NOW - HOUR, status: 'failed', error: 'refused' })).toHaveLength(1);
    });
  });

  test('where the DNS is elsewhere, names are judged once the domain has a certificate', () => {
    const facts = { dnsMode: 'external', certificates: [certificate(1, ['shop.example'], 80)] } as const;
    expect(certificates(factsOf(facts))).toMatchObject([{ kind: 'uncovered_names' }]);
  });

  test('one that is renewed is named only where its renewal fails, and one that is not issued as a gap', () => {
    const names = ['*.shop.example'];
    expect(found(certificate(1, names, 3, { renew_at: NOW }))).toEqual([]);
    expect(found(certificate(1, names, 3, { renew_at: NOW, error: 'refused' }))).toHaveLength(1);
    const pending = certificate(2, names, 0, { not_after: 0, status: 'pending' });
    expect(found(pending, certificate(1, ['api.shop.example'], 80))).toMatchObject([
      { kind: 'uncovered_names', evidence: { certificates: 1 } },
    ]);
  });

  test('a certificate is named from 14 days before its end, as an error once it has expired', () => {
    expect(found(certificate(1, ['*.shop.example'], 14.01))).toEqual([]);
    expect(found(certificate(1, ['*.shop.example'], 14))).toMatchObject([
      { kind: 'expiring_certificate', subject: 'certificate/1', severity: 'warning' },
    ]);
    expect(
      found(certificate(1, ['*.shop.example'], 0)).map(({ kind, severity }) => [kind, severity]),
    ).toEqual([
      ['uncovered_names', 'warning'],
      ['expiring_certificate', 'error'],
    ]);
  });

  test('one whose names another one has for longer is not named', () => {
    expect(found(certificate(1, ['*.shop.example'], 3), certificate(2, ['*.shop.example'], 80))).toEqual([]);
    expect(
      found(certificate(1, ['*.shop.example', 'shop.example'], 3), certificate(2, ['*.shop.example'], 80)),
    ).toHaveLength(1);
  });
});

describe('keys', () => {
  const key = (parts: Partial<KeyWithUse>): KeyWithUse => ({
    id: 4,
    account_id: 1,
    hash: 'x',
    name: 'ci',
    read_only: false,
    created_at: 0,
    expires_at: NOW + 13 * DAY,
    revoked_at: null,
    last_used_at: NOW - DAY,
    ...parts,
  });

  test('a key that expires within 14 days is named without its hash', () => {
    const [one] = expiringKeys(factsOf({ keys: [key({})] }));
    expect(one).toMatchObject({ kind: 'expiring_key', subject: 'key/4', severity: 'warning', change: null });
    expect(one!.evidence).toEqual({
      key: 4,
      name: 'ci',
      expires_at: new Date(NOW + 13 * DAY).toISOString(),
      last_used_at: new Date(NOW - DAY).toISOString(),
    });
  });

  test.each<[string, Partial<KeyWithUse>]>([
    ['never expires', { expires_at: null }],
    ['expires later', { expires_at: NOW + 14 * DAY + 1 }],
    ['has expired', { expires_at: NOW }],
    ['is revoked', { revoked_at: NOW - 1 }],
  ])('a key that %s is not named', (_, parts) => {
    expect(expiringKeys(factsOf({ keys: [key(parts)] }))).toEqual([]);
  });
});
