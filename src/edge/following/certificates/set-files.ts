/**
 * The certificate sets of a node as sealed boxes: the key pair that opens them, the check of their content, and their
 * files beside the plans. A node serves TLS after a restart without a control plane.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { boxKeyOctets, openBox, sha256Hex } from '../../../base/platform/cryptography.ts';
import {
  makeFolder,
  removeUnfinished,
  syncFolder,
  writeDurably,
} from '../../../base/platform/durable-file.ts';
import { isObject } from '../../../base/text/json-object.ts';
import {
  CERTIFICATE_SET_FORMAT,
  type CertificateSet,
  certificateSetContext,
  type SetCertificate,
} from '../../../engine/plan/manifest.ts';
import { MAX_BOX_OCTETS, MAX_SET_CERTIFICATES } from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';

/** A set as it is stored. */
export interface StoredSet {
  readonly domain: string;
  /** SHA-256 of the set's JSON text; `null`: the domain has no set any more. */
  readonly digest: string | null;
  /** The position of the manifest entry that named the set. */
  readonly position: number;
  /** The history that the position belongs to, as `JournaledPlan.keyId`. */
  readonly keyId: string;
  /** Empty if `digest` is `null`. */
  readonly box: Uint8Array;
}

const FORMAT = 'edgeplan.stored-set/v1';
const NEWLINE = 10;
/** Characters of a SHA-256 in hex. */
const SUM_LENGTH = 64;
/** Octets of a file besides the box: the digest, and a line with a name of at most 253 characters. */
const HEAD_OCTETS = 1_024;

/** The stored sets of a folder. */
export interface SetFiles {
  /** All files in turn; `set` is `null` for one that is damaged or cannot be read. */
  read(): AsyncGenerator<{ readonly file: string; readonly set: StoredSet | null }>;
  /** Replaces the file of a domain; it is durable when this resolves. */
  write(set: StoredSet): Promise<void>;
  /** Removes the file of a domain. */
  remove(domain: string): Promise<void>;
  /** Removes a file that `read` named. */
  drop(file: string): Promise<void>;
}

/** Opens the folder of sets in the node's folder, or creates it. @throws the system's error when it cannot be used */
export async function openSetFiles(directory: string): Promise<SetFiles> {
  const folder = folderOf(directory);
  makeFolder(folder, { mode: 0o700 });
  await removeUnfinished(folder);
  const drop = async (file: string): Promise<void> => {
    await rm(join(folder, file), { force: true });
    await syncFolder(folder);
  };
  return {
    async *read() {
      for (const file of await readdir(folder)) yield { file, set: await readSet(folder, file) };
    },
    write: (set) => writeDurably(join(folder, fileOf(set.domain)), contentOf(set)),
    remove: (domain) => drop(fileOf(domain)),
    drop,
  };
}

/** Removes all stored sets: a node without TLS stores no keys. */
export async function removeSetFiles(directory: string): Promise<void> {
  await rm(folderOf(directory), { recursive: true, force: true });
}

function folderOf(directory: string): string {
  return join(directory, 'certificates');
}

/** The file of a domain: a name of 253 characters with the ending of a draft is too long for file systems. */
function fileOf(domain: string): string {
  return sha256Hex(domain);
}

function contentOf({ box, ...facts }: StoredSet): Buffer {
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify({ format: FORMAT, ...facts })}\n`), box]);
  return Buffer.concat([Buffer.from(`${sha256Hex(rest)}\n`), rest]);
}

async function readSet(folder: string, file: string): Promise<StoredSet | null> {
  const octets = await readBounded(join(folder, file));
  if (octets === null) return null;
  const rest = octets.subarray(SUM_LENGTH + 1);
  if (octets.toString('latin1', 0, SUM_LENGTH) !== sha256Hex(rest)) return null;
  const end = rest.indexOf(NEWLINE);
  const facts = end < 0 ? null : parseFacts(rest.toString('utf8', 0, end));
  if (facts === null || fileOf(facts.domain) !== file) return null;
  return { ...facts, box: rest.subarray(end + 1) };
}

/** `null`: the file is too long, or cannot be read, as one with a bad sector. */
async function readBounded(path: string): Promise<Buffer | null> {
  try {
    return (await stat(path)).size > MAX_BOX_OCTETS + HEAD_OCTETS ? null : await readFile(path);
  } catch {
    // The caller reports the file; it is fetched again.
    return null;
  }
}

/** `null`: another program, or another release, wrote the line. */
function parseFacts(line: string): Omit<StoredSet, 'box'> | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(value) || value['format'] !== FORMAT) return null;
  const { domain, digest, position, keyId } = value;
  if (typeof domain !== 'string' || typeof keyId !== 'string' || typeof position !== 'number') return null;
  if (digest !== null && typeof digest !== 'string') return null;
  return { domain, digest, position, keyId };
}

// Opens the box of a certificate set and checks what is in it. In: the node's key, the domain and the digest that the signed
// manifest names, the box. Out: the certificates, or SetRefusal. Whether a key fits its certificate is checked by what
// serves them (`CertificateSink`). Messages never have a part of the content, which has keys.

/** A certificate set that must not be used. */
export class SetRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SetRefusal';
  }
}

/** A box, and what the manifest says of its content. */
export interface NamedBox {
  readonly domain: string;
  /** SHA-256 of the set's JSON text, 64 lower-case hex digits. */
  readonly digest: string;
  readonly box: Uint8Array;
}

/** @throws SetRefusal */
export function openSet(key: KeyObject, { domain, digest, box }: NamedBox): readonly SetCertificate[] {
  const octets = openBox(key, box, certificateSetContext(domain, digest));
  if (octets === null) {
    throw new SetRefusal('the box is damaged, or sealed for another node, domain or set');
  }
  const found = sha256Hex(octets);
  if (found !== digest) {
    throw new SetRefusal(`the digest of the set is \`${found}\`, the manifest says \`${digest}\``);
  }
  const set = parseSet(octets);
  if (set === null) throw new SetRefusal(`the box has no set of the format \`${CERTIFICATE_SET_FORMAT}\``);
  if (set.domain !== domain) throw new SetRefusal('the set is of another domain');
  const { certificates } = set;
  if (certificates.length > MAX_SET_CERTIFICATES) {
    throw new SetRefusal(
      `the set has ${certificates.length} certificates; a domain has at most ${MAX_SET_CERTIFICATES}`,
    );
  }
  return certificates;
}

/** `null`: the octets are no set. */
function parseSet(octets: Buffer): CertificateSet | null {
  let value: unknown;
  try {
    value = JSON.parse(octets.toString('utf8'));
  } catch {
    // The message of the parser has a part of the text.
    return null;
  }
  if (!isObject(value) || value['format'] !== CERTIFICATE_SET_FORMAT) return null;
  const { domain, certificates } = value as unknown as CertificateSet;
  if (typeof domain !== 'string' || !Array.isArray(certificates)) return null;
  return certificates.every(isCertificate) ? (value as unknown as CertificateSet) : null;
}

function isCertificate(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, source, chain, key } = value;
  if (!Number.isSafeInteger(id) || (source !== 'acme' && source !== 'custom')) return false;
  return typeof chain === 'string' && typeof key === 'string';
}

// The node's own key pair for sealed boxes (X25519), in the file `box.key` of the node's folder, made at the first start. The
// private key never leaves the node; the control plane gets the public one with each request for certificates.

/** The node's key pair. */
export interface BoxKeyPair {
  readonly privateKey: KeyObject;
  /** The 32 octets of the public key in base64. */
  readonly publicKey: string;
}

/**
 * Reads the key, or makes and stores one. A damaged key is replaced: boxes of the old one cannot be opened, and their sets
 * are fetched again. A key that cannot be stored is used until the node ends.
 * @throws the system's error when the file exists and cannot be read
 */
export async function openBoxKeyPair(directory: string, log: SyncLog): Promise<BoxKeyPair> {
  const file = join(directory, 'box.key');
  const text = readStored(file);
  const stored = text === null ? null : parseKey(text);
  if (stored !== null) return pairOf(stored);
  if (text !== null) {
    log.warn({ file }, "the node's key for certificates is damaged; a new one replaces it");
  }
  const { privateKey } = generateKeyPairSync('x25519');
  try {
    // The file has mode 0600.
    await writeDurably(file, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  } catch (error) {
    log.warn(
      { file, err: errorMessage(error) },
      "the node's key for certificates cannot be stored; the next start makes another one",
    );
  }
  return pairOf(privateKey);
}

function pairOf(privateKey: KeyObject): BoxKeyPair {
  return { privateKey, publicKey: boxKeyOctets(createPublicKey(privateKey)).toString('base64') };
}

/** `null`: there is no file. */
function readStored(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

/** `null`: the text is no private key of X25519. */
function parseKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'x25519' ? key : null;
  } catch {
    // The message of OpenSSL says nothing that the caller's does not.
    return null;
  }
}
