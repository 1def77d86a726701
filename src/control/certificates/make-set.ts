/**
 * The set of a domain's certificates as nodes get it: with decrypted keys, then sealed to the key of the node that asks
 * (`base/platform/cryptography.ts`). In: stored rows and the secrets keys. Out: the JSON text of the set and its digest,
 * or the sealed box. The text exists while it is sealed for a node, and nothing stores or logs it.
 */
import { readBoxKey, sealBox, sha256Hex } from '../../base/platform/cryptography.ts';
import { shareGroup } from '../../base/vocabulary/node-groups.ts';
import {
  CERTIFICATE_SET_FORMAT,
  type CertificateSet,
  certificateSetContext,
} from '../../engine/plan/manifest.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import type { CertificateOnFile } from '../store/tables/certificates.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { NodeRow } from '../store/tables/nodes.ts';
import { type KeyRing, openKey, SecretsKeyFault } from './key-ring.ts';

/** A set in the form that nodes read. */
interface MadeSet {
  readonly text: string;
  /** SHA-256 of the UTF-8 of the text, lower-case hex. */
  readonly digest: string;
}

/**
 * The set of those certificates whose keys can be decrypted, expired ones too: what a node serves changes with an upload or
 * a removal, not with time. `null`: there are none. @throws SecretsKeyFault
 */
function makeSet(domain: string, rows: readonly CertificateOnFile[], ring: KeyRing): MadeSet | null {
  const certificates = rows.flatMap((row) => {
    const { id, source, chain, sealed_key: sealed, status } = row;
    if (chain === null || sealed === null || status === 'revoked') return [];
    const key = openKey(sealed, row, ring);
    return key === null ? [] : [{ id, source, chain, key }];
  });
  if (certificates.length === 0) return null;
  const set: CertificateSet = { format: CERTIFICATE_SET_FORMAT, domain, certificates };
  const text = JSON.stringify(set);
  return { text, digest: sha256Hex(text) };
}

/**
 * Gives nodes the certificates that a domain has now. Last in a transaction: publications of all domains wait from here to
 * the commit. @throws SecretsKeyFault
 */
export async function renewSet(
  tx: WriteTransaction,
  domain: Pick<DomainRow, 'id' | 'name'>,
  { ring, now }: { readonly ring: KeyRing; readonly now: number },
): Promise<void> {
  const set = makeSet(domain.name, await tx.certificates.onFile(domain.id), ring);
  if ((await tx.certificates.digest(domain.id)) === (set?.digest ?? null)) return;
  await tx.plans.setCertificates(domain, { digest: set?.digest ?? null, at: now });
}

// Certificates for nodes: the set of a domain, sealed to the key of the node that asks (`base/platform/cryptography.ts`), and the
// keys of nodes as the store has them.

/** The request header with a node's X25519 public key, and that of the answer with the digest of the set. */
export const BOX_KEY_HEADER = 'edgeplan-box-key';
export const DIGEST_HEADER = 'edgeplan-digest';

/** Base64 of 32 octets. */
const BOX_KEY_SHAPE = /^[A-Za-z0-9+/]{43}=$/;

/** Writes lines about keys of nodes. */
export interface BoxKeyLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** The octets of a node's key; `null`: the header has another form. */
export function readBoxKeyHeader(value: unknown): Buffer | null {
  return typeof value === 'string' && BOX_KEY_SHAPE.test(value) ? Buffer.from(value, 'base64') : null;
}

/** Stores the key of a node if it is another than before, and logs the change. @throws StoreFault */
export async function noteBoxKey(
  { store, log }: { readonly store: Store; readonly log: BoxKeyLog },
  { id, name, box_key: before }: Pick<NodeRow, 'id' | 'name' | 'box_key'>,
  key: Buffer,
): Promise<void> {
  const text = key.toString('base64');
  if (text === before) return;
  await store.write((tx) => tx.nodes.setBoxKey(id, text));
  if (before === null) log.info({ node: name }, 'a node has sent its key for certificates');
  else log.warn({ node: name, before, now: text }, 'a node has sent another key for certificates');
}

/** What a node gets for a domain. */
export type SetAnswer =
  /** The domain has no certificates, or is not in the groups of the node. */
  | { readonly kind: 'none' }
  /** The key of the node is no point that a secret can be shared with (RFC 7748 §6.1). */
  | { readonly kind: 'bad_key' }
  /** At least one private key cannot be decrypted now: its secrets key is not there. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'sealed'; readonly box: Buffer; readonly digest: string };

/** What sets are read and decrypted with. */
export interface SetSource {
  readonly store: Store;
  /** `null`: the server has no secrets key. */
  readonly ring: KeyRing | null;
  readonly log: BoxKeyLog;
}

/** The set of a domain as the manifest names it, sealed for a node. @throws StoreFault */
export async function sealSet(
  source: SetSource,
  node: Pick<NodeRow, 'node_groups'>,
  { domain, key }: { readonly domain: string; readonly key: Buffer },
): Promise<SetAnswer> {
  const found = await source.store.read(async (tx) => {
    const entry = await tx.plans.current(domain);
    if (entry?.certificates == null || !shareGroup(entry.node_groups, node.node_groups)) return null;
    // A name that is `gone` belongs to no domain that is served.
    if (entry.digest === null && (await tx.domains.byName(domain))?.ever_active !== true) return null;
    return { digest: entry.certificates, rows: await tx.certificates.onFile(entry.domain_id) };
  });
  if (found === null || found.rows.length === 0) return { kind: 'none' };
  const set = decryptSet(source, domain, found.rows);
  // INVARIANT: nodes get the set that the signed manifest names, or none.
  if (set === null || set.digest !== found.digest) return { kind: 'lost' };
  const recipient = readBoxKey(key);
  if (recipient === null) return { kind: 'bad_key' };
  const context = certificateSetContext(domain, set.digest);
  try {
    return {
      kind: 'sealed',
      box: sealBox(recipient, Buffer.from(set.text), context),
      digest: set.digest,
    };
  } catch {
    // OpenSSL refuses a shared secret of zeros.
    return { kind: 'bad_key' };
  }
}

/** The set of the rows; `null`: no private key can be decrypted. */
function decryptSet(
  { ring, log }: SetSource,
  domain: string,
  rows: readonly CertificateOnFile[],
): MadeSet | null {
  if (ring === null) return null;
  try {
    return makeSet(domain, rows, ring);
  } catch (error) {
    if (!(error instanceof SecretsKeyFault)) throw error;
    log.warn({ err: error, domain }, 'certificates for nodes cannot be decrypted');
    return null;
  }
}
