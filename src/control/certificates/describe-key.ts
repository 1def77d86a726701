/** What kind of key a certificate or a private key has, and whether it is accepted. */
import type { KeyObject } from 'node:crypto';
import { LEAST_RSA_BITS, MOST_RSA_BITS } from './limits.ts';

/** The curves that are accepted, by their names in OpenSSL. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384' };

/** A kind of key. */
export interface KeyKind {
  /** Such as `RSA 2048` or `P-256`. */
  readonly text: string;
  readonly isAccepted: boolean;
}

/** The kind of a key (semantics §8: RSA from 2,048 bits, P-256, P-384, Ed25519). */
export function describeKey(key: KeyObject): KeyKind {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    return { text: `RSA ${bits}`, isAccepted: bits >= LEAST_RSA_BITS && bits <= MOST_RSA_BITS };
  }
  if (type === 'ec') {
    const curve = details?.namedCurve ?? '';
    const known = Object.hasOwn(CURVES, curve) ? CURVES[curve]! : null;
    return { text: known ?? `EC ${curve}`.trim(), isAccepted: known !== null };
  }
  if (type === 'ed25519') return { text: 'Ed25519', isAccepted: true };
  return { text: type ?? 'unknown', isAccepted: false };
}
