/** Signs manifest pages. What is signed, and how, stands in `plan/manifest.ts`. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import {
  type ManifestPage,
  manifestText,
  type NodeSelf,
  SELF_FORMAT,
  type SignedPage,
  type SignedSelf,
  selfText,
} from '../plan/manifest.ts';
import type { Store } from '../store/store.ts';

export interface Signer {
  /** First 16 hex digits of the SHA-256 of the public key's SubjectPublicKeyInfo. */
  readonly keyId: string;
  /** SubjectPublicKeyInfo (RFC 8410) in base64: what a node is given to believe manifests by. */
  readonly publicKey: string;
  sign(page: ManifestPage): SignedPage;
  /** The public key and the rest of what a node is told about itself, signed. */
  signSelf(self: Omit<NodeSelf, 'format' | 'public_key'>): SignedSelf;
}

/** The store's signing key; the first who asks makes it (Ed25519, PKCS #8 in PEM). */
export async function openSigner(store: Store, now: number): Promise<Signer> {
  const kept = await store.latest.secrets.get('signing_key');
  const pem = kept ?? (await store.write((tx) => tx.secrets.putOnce('signing_key', newKey(), now)));
  const key = createPrivateKey(pem);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const keyId = createHash('sha256').update(spki).digest('hex').slice(0, 16);
  const publicKey = spki.toString('base64');
  const signText = (text: string): string => sign(null, Buffer.from(text, 'utf8'), key).toString('base64');
  return {
    keyId,
    publicKey,
    sign: (manifest) => ({ manifest, key_id: keyId, signature: signText(manifestText(manifest)) }),
    signSelf(self) {
      const whole: NodeSelf = { ...self, format: SELF_FORMAT, public_key: publicKey };
      return { ...whole, key_id: keyId, signature: signText(selfText(whole)) };
    },
  };
}

function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
