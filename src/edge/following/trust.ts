/**
 * Verifies what a control plane signs (Ed25519, RFC 8032): pages of the manifest, purges, the answer about a node,
 * transitions to a new key. In: texts and the trusted key. Out: checked values, or TrustFault.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { normalizeName } from '../../base/addresses/host.ts';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_CHALLENGES } from '../../base/vocabulary/limits.ts';
import { DEFAULT_GROUP, readGroups } from '../../base/vocabulary/node-groups.ts';
import {
  isHttpChallenge,
  MANIFEST_FORMAT,
  type ManifestEntry,
  type ManifestPage,
  manifestText,
  type NodeSelf,
  type SignedPage,
  type SignedSelf,
  type SignedTransition,
  selfText,
  TOMBSTONES,
  TRANSITION_FORMAT,
  transitionText,
} from '../../engine/plan/manifest.ts';
import {
  PURGES_FORMAT,
  type PurgeAnswer,
  purgesText,
  readPurgeList,
  type SignedPurges,
} from '../../engine/plan/purges.ts';
import { MAX_MANIFEST_ENTRIES, MAX_TRANSITIONS } from './limits.ts';
import { readClearance } from './secrets.ts';

/** A page or a control plane that is not trusted. */
export class TrustFault extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TrustFault';
  }
}

/** A trusted key and its checks. */
export interface Trust {
  /** SubjectPublicKeyInfo (RFC 8410) in base64. */
  readonly publicKey: string;
  /** First 16 hex digits of the SHA-256 of the SubjectPublicKeyInfo. */
  readonly keyId: string;
  /**
   * Reads a signed page from JSON.
   * @throws TrustFault with what is wrong with it
   */
  read(text: string): TrustedPage;
  /**
   * Reads signed purges from JSON.
   * @throws TrustFault with what is wrong with them
   */
  readPurges(text: string): PurgeAnswer;
  /** Checks the answer about this node. @throws TrustFault unless the key has signed it */
  check(self: Pick<SignedSelf, 'signature'> & NodeSelf): void;
  /** Follows transitions from this key. @throws TrustFault when one on the way is not signed by the key before it */
  succeed(transitions: readonly SignedTransition[]): Succession;
}

/** A page whose signature is right, and the transitions sent with it, unchecked. */
export interface TrustedPage {
  readonly page: ManifestPage;
  readonly transitions: readonly SignedTransition[];
}

/** The result of transitions. */
export interface Succession {
  /** The last key; the first one if no transition starts at it. */
  readonly trust: Trust;
  /** Public keys on the way, the first one included, the last one not. */
  readonly passed: readonly string[];
}

/** @param publicKey SubjectPublicKeyInfo in base64 @throws TrustFault when it is no Ed25519 key */
export function createTrust(publicKey: string): Trust {
  const spki = Buffer.from(publicKey, 'base64');
  const key = openKey(spki);
  const keyId = sha256Hex(spki).slice(0, 16);
  const trust: Trust = {
    publicKey,
    keyId,
    read: (text) => readSigned(text, { key, keyId }),
    readPurges: (text) => readSignedPurges(text, { key, keyId }),
    // PERF: each page of the manifest has its transitions followed, and most have none: no key is opened then.
    succeed: (transitions) => succession(trust, transitions),
    check(self) {
      if (isVerified(selfText(self), { key, signature: self.signature })) return;
      throw new TrustFault("the signature of the control plane's answer about this node is wrong");
    },
  };
  return trust;
}

/** Follows transitions one by one, at most as many as there are, so that a circle ends too. */
function succession(first: Trust, transitions: readonly SignedTransition[]): Succession {
  const passed: string[] = [];
  let trust = first;
  for (let steps = 0; steps < transitions.length; steps++) {
    const next = transitions.find(({ from }) => from === trust.keyId);
    if (next === undefined) break;
    const { signature } = next;
    const key = openKey(Buffer.from(trust.publicKey, 'base64'));
    if (next.format !== TRANSITION_FORMAT || !isVerified(transitionText(next), { key, signature })) {
      throw new TrustFault(
        `the transition from the key \`${trust.keyId}\` is not signed by it, so it is not trusted; an attacker between this node and its control plane may have made it`,
      );
    }
    passed.push(trust.publicKey);
    trust = createTrust(next.public_key);
  }
  return { trust, passed };
}

/**
 * Reads the transitions of an answer; absent: none.
 * @throws TrustFault when one has a wrong form, or there are more than `MAX_TRANSITIONS`
 */
export function readTransitions(value: unknown): readonly SignedTransition[] {
  if (value === undefined) return [];
  const whole =
    Array.isArray(value) &&
    value.length <= MAX_TRANSITIONS &&
    value.every((item) => isObject(item) && TRANSITION_TEXTS.every((name) => typeof item[name] === 'string'));
  if (whole) return value;
  throw new TrustFault(`the transitions of keys cannot be read, or are more than ${MAX_TRANSITIONS}`);
}

const TRANSITION_TEXTS = ['format', 'from', 'public_key', 'signature'] as const;

function openKey(spki: Buffer): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new TrustFault('the public key is not a SubjectPublicKeyInfo in base64', { cause });
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new TrustFault(
    `the public key is of type \`${key.asymmetricKeyType}\`, manifests are signed with ed25519`,
  );
}

interface Signing {
  readonly key: KeyObject;
  readonly keyId: string;
}

function readSigned(text: string, signing: Signing): TrustedPage {
  const page = parse(text);
  if (!isObject(page) || !isObject(page['manifest']) || typeof page['signature'] !== 'string') {
    throw new TrustFault('the page is not a signed page of a manifest');
  }
  const signed = page as unknown as SignedPage;
  checkSignature(() => manifestText(signed.manifest), signed, signing);
  const wrong = faultOf(signed.manifest);
  if (wrong !== null) throw new TrustFault(`the page is signed and cannot be read: ${wrong}`);
  return { page: signed.manifest, transitions: readTransitions(signed.transitions) };
}

function readSignedPurges(text: string, signing: Signing): PurgeAnswer {
  const answer = parse(text);
  if (!isObject(answer) || !isObject(answer['purges']) || typeof answer['signature'] !== 'string') {
    throw new TrustFault('the answer is not a signed list of purges');
  }
  const { purges, ...signed } = answer as unknown as SignedPurges;
  checkSignature(() => purgesText(purges), signed, signing);
  const list = readPurgeList(purges);
  const { format, epoch, domain, since } = purges;
  if (format !== PURGES_FORMAT || list === null || !isCount(epoch) || !isCount(since)) {
    throw new TrustFault('the list of purges is signed and cannot be read');
  }
  return { format, epoch, domain, since, ...list };
}

/** @throws TrustFault unless the key has signed the text */
function checkSignature(
  text: () => string,
  signed: Omit<SignedPage, 'manifest'>,
  { key, keyId }: Signing,
): void {
  const signature = signatureBy(keyId, signed);
  if (signature === null) {
    const found = typeof signed.key_id === 'string' ? signed.key_id.slice(0, 16) : typeof signed.key_id;
    throw new TrustFault(`the page is signed with the key \`${found}\`, this node trusts \`${keyId}\``);
  }
  if (!isSigned(text, { key, signature })) throw new TrustFault('the signature of the page is wrong');
}

/** The signature of a key among those of a page; `null`: the key has not signed it. */
function signatureBy(
  keyId: string,
  { key_id, signature, also }: Omit<SignedPage, 'manifest'>,
): string | null {
  if (key_id === keyId) return signature;
  const others = Array.isArray(also) ? (also as SignedPage['also'])! : [];
  const other = others.find((item) => isObject(item) && item['key_id'] === keyId);
  return typeof other?.signature === 'string' ? other.signature : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TrustFault('the page is not JSON', { cause });
  }
}

function isSigned(text: () => string, by: SignatureBy): boolean {
  try {
    return isVerified(text(), by);
  } catch {
    // Nested so deeply that it has no canonical text: no control plane signs that.
    return false;
  }
}

interface SignatureBy {
  readonly key: KeyObject;
  /** Base64. */
  readonly signature: string;
}

function isVerified(text: string, { key, signature }: SignatureBy): boolean {
  return verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(signature, 'base64'));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The groups of a page or of the answer about a node, as `base/vocabulary/node-groups.ts` writes them; `null`: they cannot be read.
 * Servers of releases without groups send none; their groups are `default`.
 */
export function groupsIn({ groups }: Pick<ManifestPage, 'groups'>): string | null {
  if (groups === undefined) return DEFAULT_GROUP;
  return Array.isArray(groups) ? readGroups(groups.join(',')) : null;
}

/** What is wrong with a page, as a noun phrase; `null`: nothing. */
function faultOf(page: ManifestPage): string | null {
  if (page.format !== MANIFEST_FORMAT) return `its format is not \`${MANIFEST_FORMAT}\``;
  if (page.epoch !== undefined && !isCount(page.epoch)) return 'its epoch';
  if (groupsIn(page) === null) return 'its groups';
  if (!isCount(page.since) || !isCount(page.through) || page.through < page.since) return 'its positions';
  if (typeof page.complete !== 'boolean' || !Array.isArray(page.entries)) return 'its fields';
  if (page.entries.length > MAX_MANIFEST_ENTRIES) {
    return `it has ${page.entries.length} entries, the limit is ${MAX_MANIFEST_ENTRIES}`;
  }
  if (!page.complete && page.through === page.since) return 'it leads nowhere';
  const wrong = page.entries.find((entry) => !isEntry(entry));
  return wrong === undefined ? null : `the entry \`${entryText(wrong)}\``;
}

/** An entry for the log, without its secrets. */
function entryText(entry: ManifestEntry): string {
  const shown = isObject(entry) ? { ...entry, clearance: undefined } : entry;
  return String(JSON.stringify(shown)).slice(0, 200);
}

function isEntry(entry: ManifestEntry): boolean {
  if (!isObject(entry)) return false;
  const { domain, revision, digest, tombstone, purge_epoch, position, purges } = entry;
  const { clearance, certificates, challenges } = entry;
  if (typeof domain !== 'string' || normalizeName(domain) !== domain) return false;
  if (!isCount(revision) || !isCount(purge_epoch) || !isCount(position)) return false;
  if (purges !== undefined && !isCount(purges)) return false;
  if (clearance !== undefined && readClearance(clearance) === null) return false;
  if (certificates !== undefined && !isDigest(certificates)) return false;
  if (challenges !== undefined && !areChallenges(challenges)) return false;
  if (digest === null) return tombstone !== null && TOMBSTONES.includes(tombstone);
  return tombstone === null && isDigest(digest);
}

/** Whether a value is a list of HTTP-01 challenges within the bounds. */
function areChallenges(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MAX_CHALLENGES) return false;
  return value.every((item) => isObject(item) && isHttpChallenge(item));
}

/** Whether a value is a SHA-256 in 64 lower-case hex digits. */
function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
