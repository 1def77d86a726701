/** Certificates and API keys that end, and names that no certificate covers. */
import { describe, expect, test } from 'vitest';
import { certificates } from '../../../src/recommendations/certificates.ts';
import { expiringKeys } from '../../../src/recommendations/keys.ts';
import type { KeyWithUse } from '../../../src/store/rows.ts';
import { DAY, factsOf, NOW } from '../../support/stored-facts.ts';

const certificate = (
  id: number,
  names: readonly string[],
  days: number,
  { renew_at = null, error = '' }: { readonly renew_at?: number | null; readonly error?: string } = {},
) => ({ id, names_json: JSON.stringify(names), not_after: NOW + days * DAY, renew_at, error });

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

  test('a domain without a stored certificate gets no claim: its nodes may have their own', () => {
    expect(found()).toEqual([]);
  });

  test('one that is renewed is named only where its renewal fails, and one that is not issued as a gap', () => {
    const names = ['*.shop.example'];
    expect(found(certificate(1, names, 3, { renew_at: NOW }))).toEqual([]);
    expect(found(certificate(1, names, 3, { renew_at: NOW, error: 'refused' }))).toHaveLength(1);
    const pending = { ...certificate(2, names, 0), not_after: 0 };
    expect(found(pending)).toEqual([]);
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
