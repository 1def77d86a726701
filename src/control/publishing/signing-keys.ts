/**
 * The Ed25519 keys that sign manifests: the current one, those before it that sign too while a rotation overlaps, and the
 * transitions by which a node comes from any of the last keys to the current one.
 *
 * While a rotation overlaps each page is signed by both keys, rather than by the old one until all nodes have changed:
 * a node that is set up meanwhile trusts the new key alone, one of a release without transitions the old key alone, and
 * neither has to wait for nodes that are off.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { type SignedTransition, TRANSITION_FORMAT, transitionText } from '../../engine/plan/manifest.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import { MAX_RETIRING_KEYS, MAX_TRANSITIONS } from './limits.ts';

export interface SigningKey {
  /** First 16 hex digits of the SHA-256 of the public key's SubjectPublicKeyInfo. */
  readonly keyId: string;
  /** SubjectPublicKeyInfo (RFC 8410) in base64. */
  readonly publicKey: string;
  /** Ed25519 over a text's UTF-8, in base64. */
  sign(text: string): string;
}

/** As the store has them. */
export interface StoredKeys {
  /** PKCS #8 in PEM. */
  readonly current: string;
  /** The oldest first; those that sign no more may be among them. */
  readonly retiring: readonly StoredRetiring[];
  /** The oldest first, each from the key that the one before it leads to. */
  readonly transitions: readonly SignedTransition[];
}

export interface StoredRetiring {
  readonly key: string;
  /** Signs before this, milliseconds since the epoch. */
  readonly until: number;
}

const FORMAT = 'edgeplan.signing-keys/v1';

/** `null`: the store has no key yet. Stores that were never rotated have the key alone. */
export async function readKeys(tx: Pick<ReadTransaction, 'secrets'>): Promise<StoredKeys | null> {
  const text = await tx.secrets.get('signing_keys');
  if (text === null) {
    const current = await tx.secrets.get('signing_key');
    return current === null ? null : { current, retiring: [], transitions: [] };
  }
  const { format, ...keys } = JSON.parse(text) as StoredKeys & { readonly format: string };
  if (format === FORMAT) return keys;
  throw new Error(`the signing keys have the format \`${format}\`, this release reads \`${FORMAT}\``);
}

export interface RotateOptions {
  readonly now: number;
  /** Milliseconds for which the key before signs too. 0: it and those before it sign no more. */
  readonly overlapMs: number;
  /** Nothing that an earlier key signs leads to the new one: a key that others have would lead elsewhere just as well. */
  readonly compromised: boolean;
}

export type KeyRotation =
  | { readonly ok: true; readonly keys: StoredKeys }
  /** As many as can be sign still; `until`: the first of them does not from then on. */
  | { readonly ok: false; readonly until: number };

/** Makes a new key. @throws Error if there is no key yet */
export async function rotateKeys(
  tx: WriteTransaction,
  { now, overlapMs, compromised }: RotateOptions,
): Promise<KeyRotation> {
  const before = await readKeys(tx);
  if (before === null) throw new Error('bug: there is no signing key to rotate');
  const overlaps = overlapMs > 0 && !compromised;
  const signing = overlaps ? signingAt(before.retiring, now) : [];
  if (signing.length >= MAX_RETIRING_KEYS) {
    return { ok: false, until: Math.min(...signing.map(({ until }) => until)) };
  }
  const current = newKey();
  const until = now + overlapMs;
  const transition = transitionOf(openKey(before.current), { to: openKey(current), at: now, until });
  const keys: StoredKeys = {
    current,
    retiring: overlaps ? [...signing, { key: before.current, until }] : [],
    transitions: compromised ? [] : [...before.transitions, transition].slice(-MAX_TRANSITIONS),
  };
  await tx.secrets.put('signing_keys', JSON.stringify({ format: FORMAT, ...keys }), now);
  // For servers of the release before.
  await tx.secrets.put('signing_key', current, now);
  return { ok: true, keys };
}

export function signingAt(retiring: readonly StoredRetiring[], now: number): readonly StoredRetiring[] {
  return retiring.filter(({ until }) => now < until);
}

function transitionOf(
  from: SigningKey,
  { to, at, until }: { readonly to: SigningKey; readonly at: number; readonly until: number },
): SignedTransition {
  const transition = {
    format: TRANSITION_FORMAT,
    from: from.keyId,
    public_key: to.publicKey,
    at,
    until,
  } as const;
  return { ...transition, signature: from.sign(transitionText(transition)) };
}

/** Ed25519, PKCS #8 in PEM. */
export function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function openKey(pem: string): SigningKey {
  const key: KeyObject = createPrivateKey(pem);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    keyId: sha256Hex(spki).slice(0, 16),
    publicKey: spki.toString('base64'),
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), key).toString('base64'),
  };
}
