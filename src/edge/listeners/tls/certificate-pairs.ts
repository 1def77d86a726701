/**
 * Certificates with their keys. In: files in the layouts of common tools, or checked pairs of the control plane's feed.
 * Out: pairs with a TLS context each, made at the first use and cached.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { normalizeName } from '../../../base/addresses/host.ts';
import { fileMark } from '../../../base/platform/watched-file.ts';
import { MAX_CERTIFICATE_OCTETS, MAX_TLS_CONTEXTS } from '../../proxy/limits.ts';

/** A certificate with its key, as read at one time. */
export interface CertificatePair {
  /** Host names, canonical; `*.` in front of one covers one label. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM, the certificate first, then its issuers. */
  readonly cert: string;
  readonly key: string;
  context(): SecureContext;
}

/** The TLS contexts of the most recently used certificates. */
export type ContextCache = LRUCache<CertificatePair, SecureContext>;

/** A cache of at most `MAX_TLS_CONTEXTS`. */
export function createContextCache(): ContextCache {
  return new LRUCache({ max: MAX_TLS_CONTEXTS });
}

/** Makes pairs; those of one store share the texts of their issuers. */
export interface PairStore {
  /** A pair with further fields. */
  add<More extends object>(read: ReadPair, more: More): CertificatePair & More;
  /** Drops what is cached for a pair that was replaced or removed; connections that use it go on. */
  remove(pair: CertificatePair): void;
}

/** @param contexts shared by the stores of a process; absent: the store has its own */
export function createPairs(contexts: ContextCache = createContextCache()): PairStore {
  /** PEM texts of issuers, each once: few issuers sign most certificates. */
  const chains = new Map<string, string>();
  let pairs = 0;
  return {
    add({ leaf, key, chain, names, notBefore, notAfter }, more) {
      pairs++;
      // Used or not, when there are far more than pairs: at two for each pair this runs next to never.
      if (chains.size > 2 * pairs + 16) chains.clear();
      const issuers = sharedChain(chains, chain);
      const pair = {
        ...more,
        names,
        notBefore,
        notAfter,
        key,
        get cert() {
          return leaf + issuers;
        },
        context() {
          const context = contexts.get(pair) ?? createSecureContext({ cert: pair.cert, key });
          contexts.set(pair, context);
          return context;
        },
      };
      return pair;
    },
    remove(pair) {
      pairs--;
      contexts.delete(pair);
    },
  };
}

/** Whether a certificate is valid at a time. */
export function isValid(pair: Pick<CertificatePair, 'notBefore' | 'notAfter'>, now: number): boolean {
  return pair.notBefore <= now && now < pair.notAfter;
}

function sharedChain(chains: Map<string, string>, chain: string): string {
  const before = chains.get(chain);
  if (before !== undefined) return before;
  chains.set(chain, chain);
  return chain;
}

// Reads certificates in the layouts of common tools: `<anything>.crt`, `.cer` or `.pem` with the key beside it as
// `<anything>.key` or `<anything>-key.pem`, or in the same file; and `<name>/fullchain.pem` with `privkey.pem` (certbot).

/** The paths of a certificate and its key. */
export interface PairFiles {
  readonly cert: string;
  /** The same path if one file contains both. */
  readonly key: string;
}

/** A certificate and its key, checked. */
interface ReadPair {
  /** Host names, canonical; `*.` in front of one covers one label. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM of the certificate, and of its issuers. */
  readonly leaf: string;
  readonly chain: string;
  readonly key: string;
}

/** A certificate of the control plane's feed. */
export interface FeedPair extends ReadPair {
  /** An uploaded one precedes an obtained one for the same name (semantics §8). */
  readonly source: 'acme' | 'custom';
}

const KEY_ENDINGS = ['.key', '-key.pem', '.key.pem'];
const CERT_ENDINGS = ['.crt', '.cer', '.pem'];

/**
 * The pairs of a folder, in the order of their names. Skips names that begin with a dot, as files being written do.
 * @throws Error when the folder cannot be read
 */
export async function findPairs(folder: string): Promise<readonly PairFiles[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  const pairs: PairFiles[] = [];
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (name.startsWith('.') || KEY_ENDINGS.some((ending) => name.endsWith(ending))) continue;
    const ending = CERT_ENDINGS.find((one) => name.endsWith(one));
    const path = join(folder, name);
    if (ending === undefined) {
      const pair = { cert: join(path, 'fullchain.pem'), key: join(path, 'privkey.pem') };
      if (await exists(pair.cert)) pairs.push(pair);
      continue;
    }
    const base = name.slice(0, -ending.length);
    const key = KEY_ENDINGS.map((one) => base + one).find((one) => names.has(one));
    pairs.push({ cert: path, key: key === undefined ? path : join(folder, key) });
  }
  return pairs;
}

/** Whether a file exists. A file that cannot be examined counts as existing, and its reading reports why. */
async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

/** A text that changes whenever one of the files does. */
export async function markOf({ cert, key }: PairFiles): Promise<string> {
  return `${await fileMark(cert)} ${await fileMark(key)}`;
}

/**
 * Reads a pair and checks that TLS can use it.
 * @throws Error whose message names the file and the problem
 */
export async function readPair(files: PairFiles): Promise<ReadPair> {
  const cert = await readPem(files.cert);
  const key = files.key === files.cert ? cert : await readPem(files.key);
  return pairOf({ cert, key }, { cert: 'the file', key: `\`${files.key}\``, noKey: noKey(files) });
}

/** PEM texts: the certificate with its issuers, and the key. */
export interface PairTexts {
  readonly cert: string;
  readonly key: string;
}

/** How messages name the texts. */
export interface PairNames {
  readonly cert: string;
  readonly key: string;
  /** The sentence when there is no key. */
  readonly noKey: string;
}

/**
 * The pair of two texts, checked: the key is the first certificate's, and TLS can use both.
 * @throws Error whose message names the problem, and never has a part of the key
 */
export function pairOf(texts: PairTexts, called: PairNames): ReadPair {
  const [leaf, ...issuers] = blocks(texts.cert, 'CERTIFICATE');
  if (leaf === undefined) throw new Error(`${called.cert} holds no certificate in PEM form`);
  const key = blocks(texts.key, 'PRIVATE KEY')[0];
  if (key === undefined) throw new Error(called.noKey);
  const certificate = parseCertificate(leaf);
  for (const issuer of issuers) parseCertificate(issuer);
  if (!certificate.checkPrivateKey(readKey(key))) {
    throw new Error(
      `the key in ${called.key} does not belong to the first certificate; the server's own comes first`,
    );
  }
  const names = namesOf(certificate);
  if (names.length === 0) throw new Error('the certificate is for no host name (subjectAltName)');
  const chain = issuers.join('');
  checkUsable(leaf + chain, key);
  const notBefore = Date.parse(certificate.validFrom);
  const notAfter = Date.parse(certificate.validTo);
  return { names, notBefore, notAfter, leaf: detached(leaf), chain: detached(chain), key: detached(key) };
}

function noKey({ cert, key }: PairFiles): string {
  if (key !== cert) return `\`${key}\` holds no private key in PEM form`;
  return 'there is no key: put it beside the certificate under the same name with the ending .key, or into the same file';
}

async function readPem(path: string): Promise<string> {
  const { size } = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`\`${path}\` cannot be read (${error.code})`, { cause: error });
  });
  if (size > MAX_CERTIFICATE_OCTETS) {
    throw new Error(`\`${path}\` has ${size} octets; at most ${MAX_CERTIFICATE_OCTETS} are read`);
  }
  return readFile(path, 'latin1').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`\`${path}\` cannot be read (${error.code})`, { cause: error });
  });
}

/** A copy. PERF: V8 does not free a text while a part of it is referenced. */
function detached(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** The PEM blocks (RFC 7468) whose label ends with a word, each with a line end. */
function blocks(text: string, label: string): string[] {
  const list: string[] = [];
  for (let at = text.indexOf('-----BEGIN '); at >= 0; ) {
    const titleEnd = text.indexOf('-----', at + 11);
    if (titleEnd < 0) break;
    const title = text.slice(at + 11, titleEnd);
    const last = `-----END ${title}-----`;
    const end = text.indexOf(last, titleEnd);
    if (end < 0) break;
    if (title.endsWith(label)) list.push(`${text.slice(at, end + last.length)}\n`);
    at = text.indexOf('-----BEGIN ', end);
  }
  return list;
}

/** @throws Error when the PEM is no certificate */
function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new Error(`a certificate cannot be read (${(error as Error).message})`, { cause: error });
  }
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const locked = code === 'ERR_MISSING_PASSPHRASE';
    const reason = locked ? 'it is encrypted; store it without a passphrase' : message;
    throw new Error(`the private key cannot be read (${reason})`, { cause: error });
  }
}

/** Checks what the parts of a certificate do not show: whether its keys and signatures are strong enough for OpenSSL. */
function checkUsable(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(`TLS does not take the certificate (${(error as Error).message})`, { cause: error });
  }
}

const DNS = 'DNS:';

function namesOf(certificate: X509Certificate): readonly string[] {
  const names = new Set<string>();
  // Node quotes names that contain a separator; those are no host names.
  for (const entry of (certificate.subjectAltName ?? '').split(', ')) {
    if (!entry.startsWith(DNS)) continue;
    const written = entry.slice(DNS.length);
    const wildcard = written.startsWith('*.');
    const name = normalizeName(wildcard ? written.slice(2) : written);
    if (name !== null) names.add(wildcard ? `*.${name}` : name);
  }
  return [...names];
}
