/**
 * Signs manifest pages and purges with every key in force, and stores these keys. The signed octets are defined in
 * `plan/`.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import {
  type ManifestPage,
  manifestText,
  type NodeSelf,
  SELF_FORMAT,
  type SignedPage,
  type SignedSelf,
  type SignedTransition,
  selfText,
  TRANSITION_FORMAT,
  transitionText,
} from '../../engine/plan/manifest.ts';
import { type PurgeAnswer, purgesText, type SignedPurges } from '../../engine/plan/purges.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import { MAX_RETIRING_KEYS, MAX_TRANSITIONS } from './limits.ts';

export interface Signer {
  /** Of the current key when the signer was opened. */
  readonly keyId: string;
  /** Likewise; SubjectPublicKeyInfo (RFC 8410) in base64: what a node is given to believe manifests by. */
  readonly publicKey: string;
  sign(page: ManifestPage): Promise<SignedPage>;
  /** Signs the purges of a domain as a page is. */
  signPurges(purges: PurgeAnswer): Promise<SignedPurges>;
  /** The public key and the other facts about a node that the feed sends it, signed. */
  signSelf(self: Omit<NodeSelf, 'format' | 'public_key'>): Promise<SignedSelf>;
}

/** Opened once for each text that the store has of them. */
interface OpenKeys {
  readonly of: string;
  readonly current: SigningKey;
  readonly retiring: readonly { readonly key: SigningKey; readonly until: number }[];
  readonly transitions: readonly SignedTransition[];
}

/** The keys that sign at a time. */
interface InForce {
  /** The oldest: nodes of releases without transitions look at its signature alone. */
  readonly first: SigningKey;
  /** The newest last. */
  readonly others: readonly SigningKey[];
  readonly transitions: readonly SignedTransition[];
}

/** Signs with the store's keys, also with those that it gets later; creates the first key of an empty store. */
export async function openSigner(store: Store, clock: () => number): Promise<Signer> {
  if ((await readKeys(store.latest)) === null) {
    await store.write((tx) => tx.secrets.putOnce('signing_key', newKey(), clock()));
  }
  let open: OpenKeys | null = null;

  async function inForce(): Promise<InForce> {
    const stored = (await readKeys(store.latest))!;
    const of = JSON.stringify(stored);
    if (open?.of !== of) open = openAll(stored, of);
    const { current, retiring, transitions } = open;
    const now = clock();
    const all = [...retiring.filter(({ until }) => now < until).map(({ key }) => key), current];
    return { first: all[0]!, others: all.slice(1), transitions };
  }

  const { first, others } = await inForce();
  const { keyId, publicKey } = others.at(-1) ?? first;
  return {
    keyId,
    publicKey,
    sign: async (manifest) => ({ manifest, ...signaturesOf(manifestText(manifest), await inForce()) }),
    signPurges: async (purges) => ({ purges, ...signaturesOf(purgesText(purges), await inForce()) }),
    async signSelf(self) {
      const { first, others, transitions } = await inForce();
      const whole: NodeSelf = { ...self, format: SELF_FORMAT, public_key: first.publicKey };
      const signatureOf = (key: SigningKey): string =>
        key.sign(selfText({ ...whole, public_key: key.publicKey }));
      const also = others.map((key) => ({
        public_key: key.publicKey,
        key_id: key.keyId,
        signature: signatureOf(key),
      }));
      return { ...whole, key_id: first.keyId, signature: signatureOf(first), also, transitions };
    },
  };
}

/** The signatures of a text by all keys in force. */
function signaturesOf(text: string, { first, others, transitions }: InForce): Omit<SignedPage, 'manifest'> {
  const own = { key_id: first.keyId, signature: first.sign(text) };
  if (others.length === 0) return own;
  const signing = new Set([first, ...others].map((key) => key.keyId));
  const also = others.map((key) => ({ key_id: key.keyId, signature: key.sign(text) }));
  return { ...own, also, transitions: transitions.filter(({ from }) => signing.has(from)) };
}

function openAll({ current, retiring, transitions }: StoredKeys, of: string): OpenKeys {
  return {
    of,
    current: openKey(current),
    retiring: retiring.map(({ key, until }) => ({ key: openKey(key), until })),
    transitions,
  };
}

// The Ed25519 keys that sign manifests: the current one, those before it that sign too while a rotation overlaps, and the
// transitions by which a node comes from any of the last keys to the current one.
//
// While a rotation overlaps each page is signed by both keys, rather than by the old one until all nodes have changed:
// a node that is set up meanwhile trusts the new key alone, one of a release without transitions the old key alone, and
// neither has to wait for nodes that are off.

interface SigningKey {
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
