/** Private keys at rest: they open with their secrets key in their own row, and nowhere else. */
import { describe, expect, test } from 'vitest';
import {
  newKeyText,
  openKey,
  openKeyRing,
  parseKeys,
  SecretsKeyFault,
  sealedUnder,
  sealKey,
} from '../../../../src/control/certificates/key-ring.ts';

const PLACE = { domain_id: 7, sha256: 'a'.repeat(64) };
const PEM = '-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----\n';
const ringOf = (...keys: readonly string[]) => openKeyRing({ where: 'here', read: () => keys.join('\n') });

describe('a sealed key', () => {
  const [one, two] = [newKeyText(), newKeyText()];
  const sealed = sealKey(PEM, PLACE, ringOf(one).current());

  test('opens with its secrets key, current or the one before', () => {
    expect(openKey(sealed, PLACE, ringOf(one))).toBe(PEM);
    expect(openKey(sealed, PLACE, ringOf(two, one))).toBe(PEM);
    expect(sealedUnder(sealed)).toBe(ringOf(one).current().id);
  });

  test('does not open with another secrets key, in another row, or damaged', () => {
    expect(openKey(sealed, PLACE, ringOf(two))).toBeNull();
    expect(openKey(sealed, { ...PLACE, domain_id: 8 }, ringOf(one))).toBeNull();
    expect(openKey(sealed, { ...PLACE, sha256: 'b'.repeat(64) }, ringOf(one))).toBeNull();
    for (let at = 0; at < sealed.length; at += 1) {
      const damaged = Uint8Array.from(sealed);
      damaged[at] = damaged[at]! ^ 1;
      expect(openKey(damaged, PLACE, ringOf(one))).toBeNull();
    }
    for (let end = 0; end < sealed.length; end += 1)
      expect(openKey(sealed.slice(0, end), PLACE, ringOf(one))).toBeNull();
  });

  test('is another one each time', () => {
    const again = sealKey(PEM, PLACE, ringOf(one).current());
    expect(Buffer.from(again).equals(Buffer.from(sealed))).toBe(false);
  });
});

describe('secrets keys', () => {
  test('are one or two, each Base64 of 32 octets', () => {
    const key = newKeyText();
    expect(parseKeys(`${key}\n`)).toHaveLength(1);
    expect(parseKeys(`${key} ${newKeyText()}`)).toHaveLength(2);
    for (const wrong of ['', ' \n', 'x', `${key}x`, key.slice(0, 40), `${key} x`, `${key} `.repeat(3)]) {
      const found = parseKeys(wrong);
      expect(typeof found, wrong).toBe('string');
      expect(String(found)).not.toContain(key.slice(0, 20));
    }
  });

  test('are read again for each encryption, and for an unknown id', () => {
    const [one, two] = [newKeyText(), newKeyText()];
    let text = one;
    const ring = openKeyRing({ where: 'here', read: () => text });
    const under = ring.current().id;
    const other = ringOf(two).current().id;
    expect(ring.find(other)).toBeNull();
    text = `${two}\n${one}`;
    expect(ring.find(other)?.id).toBe(other);
    expect(ring.find(under)?.id).toBe(under);
    expect(ring.current().id).toBe(other);
    text = 'nonsense';
    expect(() => ring.current()).toThrow(SecretsKeyFault);
    expect(() => ring.current()).toThrow('the secrets key: here has a key 1 that is not Base64 of 32 octets');
  });
});
