/**
 * Certificates as people and tools leave them in a folder: `<anything>.crt`, `.cer` or `.pem` with its key beside it as
 * `<anything>.key` or `<anything>-key.pem`, or in the same file; and `<name>/fullchain.pem` with `privkey.pem`.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { normalizeName } from '../../base/host.ts';
import { fileMark } from '../../platform/file-mark.ts';
import { MAX_CERTIFICATE_OCTETS } from '../limits.ts';

export interface PairFiles {
  readonly cert: string;
  /** The same file where it holds both. */
  readonly key: string;
}

/** A certificate and its key, checked. */
export interface ReadPair {
  /** Host names it is for, canonical; `*.` in front of one covers one label. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM of the certificate, then of those that sign it. */
  readonly leaf: string;
  readonly chain: string;
  readonly key: string;
}

const KEY_ENDINGS = ['.key', '-key.pem', '.key.pem'];
const CERT_ENDINGS = ['.crt', '.cer', '.pem'];

/**
 * The pairs of a folder, in the order of their names. Names that begin with a dot are left alone: files being written.
 * @throws the folder cannot be read
 */
export async function findPairs(folder: string): Promise<readonly PairFiles[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = new Set(entries.map(({ name }) => name));
  const found: PairFiles[] = [];
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (name.startsWith('.') || KEY_ENDINGS.some((ending) => name.endsWith(ending))) continue;
    const ending = CERT_ENDINGS.find((one) => name.endsWith(one));
    const path = join(folder, name);
    if (ending === undefined) {
      const pair = { cert: join(path, 'fullchain.pem'), key: join(path, 'privkey.pem') };
      if (await isThere(pair.cert)) found.push(pair);
      continue;
    }
    const base = name.slice(0, -ending.length);
    const key = KEY_ENDINGS.map((one) => base + one).find((one) => names.has(one));
    found.push({ cert: path, key: key === undefined ? path : join(folder, key) });
  }
  return found;
}

/** A file that is there and cannot be looked at is reported when it is read. */
async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

/** Tells a changed pair from an unchanged one without reading it. */
export async function markOf({ cert, key }: PairFiles): Promise<string> {
  return `${await fileMark(cert)} ${await fileMark(key)}`;
}

/**
 * Reads a pair and checks that it can be served.
 * @throws Error whose message says what is wrong with which file
 */
export async function readPair(files: PairFiles): Promise<ReadPair> {
  const certText = await readPem(files.cert);
  const keyText = files.key === files.cert ? certText : await readPem(files.key);
  const [leaf, ...signers] = blocks(certText, 'CERTIFICATE');
  if (leaf === undefined) throw new Error('the file holds no certificate in PEM form');
  const key = blocks(keyText, 'PRIVATE KEY')[0];
  if (key === undefined) throw new Error(noKey(files));
  const certificate = parsed(leaf);
  for (const signer of signers) parsed(signer);
  if (!certificate.checkPrivateKey(readKey(key))) {
    throw new Error(
      `the key in \`${files.key}\` does not belong to the first certificate; the server's own comes first`,
    );
  }
  const names = namesOf(certificate);
  if (names.length === 0) throw new Error('the certificate is for no host name (subjectAltName)');
  const chain = signers.join('');
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

/** PERF: a part of a text keeps the whole of it in memory; this is the part alone. */
function detached(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** The PEM blocks (RFC 7468) whose label ends with a word, each with a line end. */
function blocks(text: string, label: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf('-----BEGIN '); at >= 0; ) {
    const titleEnd = text.indexOf('-----', at + 11);
    if (titleEnd < 0) break;
    const title = text.slice(at + 11, titleEnd);
    const last = `-----END ${title}-----`;
    const end = text.indexOf(last, titleEnd);
    if (end < 0) break;
    if (title.endsWith(label)) found.push(`${text.slice(at, end + last.length)}\n`);
    at = text.indexOf('-----BEGIN ', end);
  }
  return found;
}

function parsed(pem: string): X509Certificate {
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

/** What a certificate's parts do not tell: keys too short and signatures too weak for the TLS library. */
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
  // Names that could be taken for several are quoted by Node and are no host names.
  for (const entry of (certificate.subjectAltName ?? '').split(', ')) {
    if (!entry.startsWith(DNS)) continue;
    const written = entry.slice(DNS.length);
    const wildcard = written.startsWith('*.');
    const name = normalizeName(wildcard ? written.slice(2) : written);
    if (name !== null) names.add(wildcard ? `*.${name}` : name);
  }
  return [...names];
}
