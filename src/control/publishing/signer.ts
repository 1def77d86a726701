/** Signs manifest pages and purges with every key in force. The signed octets are defined in `plan/`. */
import {
  type ManifestPage,
  manifestText,
  type NodeSelf,
  SELF_FORMAT,
  type SignedPage,
  type SignedSelf,
  type SignedTransition,
  selfText,
} from '../../engine/plan/manifest.ts';
import { type PurgeAnswer, purgesText, type SignedPurges } from '../../engine/plan/purges.ts';
import type { Store } from '../store/store.ts';
import { newKey, openKey, readKeys, type SigningKey, type StoredKeys } from './signing-keys.ts';

export interface Signer {
  /** Of the current key when the signer was opened. */
  readonly keyId: string;
  /** Likewise; SubjectPublicKeyInfo (RFC 8410) in base64: what a node is given to believe manifests by. */
  readonly publicKey: string;
  sign(page: ManifestPage): Promise<SignedPage>;
  /** Signs the purges of a domain as a page is. */
  signPurges(purges: PurgeAnswer): Promise<SignedPurges>;
  /** The public key and the rest of what a node is told about itself, signed. */
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
