/**
 * Judges a certificate that a customer uploads. In: the texts of chain and key, the domain, the time. Out: what the
 * certificate is, chain and key in the form that is stored, and diagnostics: an error refuses the upload, each names which
 * certificate is wrong and what would be right. No diagnostic repeats anything of a key.
 */
import { createPrivateKey, type KeyObject, randomBytes, sign, verify, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type Diagnostic, hasErrors, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import {
  EXPIRING_MS,
  MAX_CHAIN,
  MAX_CHAIN_CHARACTERS,
  MAX_ISSUER_CHARACTERS,
  MAX_KEY_CHARACTERS,
  MAX_NAMES,
} from './limits.ts';
import { describeKey, isNameOf, judgeChain, readNames, readPem } from './read-certificate.ts';

/** The input. */
export interface UploadedPem {
  readonly certificate: string;
  /** `null`: it was not sent, as `parse` allows. */
  readonly key: string | null;
}

/** What a certificate is. Times in milliseconds since the epoch. */
export interface DescribedCertificate {
  readonly names: readonly string[];
  readonly issuer: string;
  readonly not_before: number;
  readonly not_after: number;
  readonly key_type: string;
  /** SHA-256 of the DER octets, lower-case hex. */
  readonly sha256: string;
  /** Certificates of the chain, without a root. */
  readonly chain: number;
}

/** A certificate that can be stored. */
export interface UsableCertificate extends DescribedCertificate {
  /** PEM, the leaf first. */
  readonly chainPem: string;
  /** PEM, PKCS #8. */
  readonly keyPem: string;
}

/** The result. */
export interface JudgedUpload {
  /** `null`: it cannot be read. */
  readonly certificate: DescribedCertificate | null;
  /** The type of the private key, and whether it belongs to the certificate; `null`: none was sent or can be read. */
  readonly key: { readonly key_type: string; readonly fits: boolean } | null;
  readonly diagnostics: readonly Diagnostic[];
  /** `null`: there are errors, or no key was sent. */
  readonly usable: UsableCertificate | null;
}

/** The domain that the certificate is for, and the time in milliseconds since the epoch. */
export interface JudgedFor {
  readonly domain: string;
  readonly now: number;
}

/** Judges chain and key. */
export function judgeUpload(uploaded: UploadedPem, target: JudgedFor): JudgedUpload {
  const diagnostics: Diagnostic[] = [];
  const read = readChain(uploaded.certificate, diagnostics);
  const key = uploaded.key === null ? null : readKey(uploaded.key, diagnostics);
  if (read === null) {
    const shown = key === null ? null : { key_type: describeKey(key).text, fits: false };
    return { certificate: null, key: shown, diagnostics, usable: null };
  }
  const chain = judgeChain(read, { now: target.now, diagnostics });
  const leaf = chain[0]!;
  const certificate = describe(leaf, chain.length);
  judgeLeaf(leaf, { ...target, certificate, diagnostics });
  if (key === null) return { certificate, key: null, diagnostics, usable: null };
  const fits = belongsTo(key, leaf);
  if (!fits)
    diagnostics.push({
      ...{ code: 'key_mismatch', severity: 'error', path: ['key'] },
      message: `the private key (${describeKey(key).text}) does not belong to the first certificate (${certificate.key_type})`,
      remedy: 'send the key that the certificate was requested with',
    });
  const shown = { key_type: describeKey(key).text, fits };
  if (hasErrors(diagnostics)) return { certificate, key: shown, diagnostics, usable: null };
  const chainPem = chain
    .map((one) => one.toString().trimEnd())
    .join('\n')
    .concat('\n');
  const keyPem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
  const usable = { ...certificate, chainPem, keyPem };
  if (isLoadable(usable)) return { certificate, key: shown, diagnostics, usable };
  diagnostics.push({
    ...{ code: 'certificate_unusable', severity: 'error', path: ['certificate'] },
    message: 'nodes cannot load the certificate: its signature or its key is below what TLS accepts',
    remedy: 'request one that is signed with SHA-256 or better',
  });
  return { certificate, key: shown, diagnostics, usable: null };
}

function wrongPem(message: string): Diagnostic {
  const remedy = 'send the text of a PEM file, such as `fullchain.pem`';
  return { code: 'certificate_pem', severity: 'error', path: ['certificate'], message, remedy };
}

/** The certificates of a text; `null`: it has no certificate, or one that cannot be read. */
function readChain(text: string, diagnostics: Diagnostic[]): readonly X509Certificate[] | null {
  if (text.length > MAX_CHAIN_CHARACTERS) {
    diagnostics.push(wrongPem(`has more than ${MAX_CHAIN_CHARACTERS} characters`));
    return null;
  }
  const blocks = readPem(text);
  if (blocks === null || blocks.length === 0) {
    diagnostics.push(wrongPem(blocks === null ? 'has a PEM block that is damaged' : 'has no PEM block'));
    return null;
  }
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) {
    const message = 'has a private key, which belongs into `key` alone';
    diagnostics.push({ ...wrongPem(message), remedy: 'send the certificates without the key' });
    return null;
  }
  if (blocks.length > MAX_CHAIN) {
    diagnostics.push({
      ...{ code: 'certificate_count', severity: 'error', path: ['certificate'] },
      message: `has ${blocks.length} certificates, and a chain has at most ${MAX_CHAIN}`,
      remedy: 'send the certificate and its issuers alone',
    });
    return null;
  }
  const chain: X509Certificate[] = [];
  for (const [index, { label, der }] of blocks.entries()) {
    const one = label === 'CERTIFICATE' || label === 'X509 CERTIFICATE' ? parse(der) : null;
    if (one === null) {
      diagnostics.push(wrongPem(`PEM block ${index + 1} is no X.509 certificate`));
      return null;
    }
    chain.push(one);
  }
  return chain;
}

function parse(der: Buffer): X509Certificate | null {
  try {
    const certificate = new X509Certificate(der);
    const { validFrom, validTo, publicKey } = certificate;
    // Times and key are decoded at their first use; a certificate without valid ones is refused here.
    if (Number.isNaN(Date.parse(validFrom)) || Number.isNaN(Date.parse(validTo))) return null;
    return publicKey.type === 'public' ? certificate : null;
  } catch {
    return null;
  }
}

function wrongKey(message: string, remedy = 'send the private key of the certificate as PEM'): Diagnostic {
  return { code: 'key_pem', severity: 'error', path: ['key'], message, remedy };
}

/** The formats of private keys in DER, by their PEM labels. */
const KEY_TYPES = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
} as const;

/** The private key of a text; `null`: there is not exactly one that can be read. */
function readKey(text: string, diagnostics: Diagnostic[]): KeyObject | null {
  const problem = (one: Diagnostic): null => {
    diagnostics.push(one);
    return null;
  };
  if (text.length > MAX_KEY_CHARACTERS)
    return problem(wrongKey(`has more than ${MAX_KEY_CHARACTERS} characters`));
  // openssl writes the parameters of a curve before its key; the key has them too.
  const blocks = readPem(text)?.filter(({ label }) => label !== 'EC PARAMETERS') ?? null;
  if (blocks === null) return problem(wrongKey('has a PEM block that is damaged'));
  const keys = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'));
  if (keys.length !== 1 || blocks.length !== 1) {
    const found = `${keys.length} private keys and ${blocks.length - keys.length} other PEM blocks`;
    return problem(wrongKey(`must have one private key and nothing else, found ${found}`));
  }
  const { label, der, isEncrypted } = keys[0]!;
  if (isEncrypted)
    return problem({
      ...{ code: 'key_encrypted', severity: 'error', path: ['key'] },
      message: 'the private key is encrypted',
      remedy: 'decrypt it: openssl pkey -in key.pem -out plain.pem',
    });
  if (!Object.hasOwn(KEY_TYPES, label))
    return problem(
      wrongKey('the private key is not in PKCS #8, PKCS #1 or SEC 1', 'openssl pkey -in key.pem converts it'),
    );
  try {
    return createPrivateKey({ key: der, format: 'der', type: KEY_TYPES[label as keyof typeof KEY_TYPES] });
  } catch {
    // INVARIANT: OpenSSL's error is dropped, so that nothing of a key reaches a log.
    return problem(wrongKey('the private key cannot be read'));
  }
}

/** Whether a key signs what the certificate verifies: the numbers of a damaged key can fit and its signatures fail. */
function belongsTo(key: KeyObject, leaf: X509Certificate): boolean {
  try {
    if (!leaf.checkPrivateKey(key)) return false;
    const kind = describeKey(key);
    // The work of a signature is bounded only where the size of the key is.
    if (!kind.isAccepted) return true;
    const data = randomBytes(32);
    const digest = kind.text === 'Ed25519' ? null : 'sha256';
    return verify(digest, data, leaf.publicKey, sign(digest, data, key));
  } catch {
    return false;
  }
}

function isLoadable({ chainPem, keyPem }: UsableCertificate): boolean {
  try {
    createSecureContext({ cert: chainPem, key: keyPem });
    return true;
  } catch {
    return false;
  }
}

function describe(leaf: X509Certificate, chain: number): DescribedCertificate {
  return {
    names: readNames(leaf),
    issuer: issuerOf(leaf),
    not_before: Date.parse(leaf.validFrom),
    not_after: Date.parse(leaf.validTo),
    key_type: describeKey(leaf.publicKey).text,
    sha256: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    chain,
  };
}

/** The common name of the issuer, else its organisation, else all of its name on one line. */
function issuerOf({ issuer }: X509Certificate): string {
  const parts = issuer.split('\n');
  const part = (name: string): string | undefined =>
    parts.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  const text = part('CN') ?? part('O') ?? parts.join(', ');
  return text
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .slice(0, MAX_ISSUER_CHARACTERS)
    .toWellFormed();
}

/** The object ids of `serverAuth` and `anyExtendedKeyUsage` (RFC 5280 §4.2.1.12). */
const FOR_SERVERS = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** Names, key and purpose of the leaf. */
function judgeLeaf(
  leaf: X509Certificate,
  {
    domain,
    now,
    certificate: { names, key_type, not_after },
    diagnostics,
  }: JudgedFor & { readonly certificate: DescribedCertificate; readonly diagnostics: Diagnostic[] },
): void {
  const at = { severity: 'error', path: ['certificate'] } as const;
  if (names.length > MAX_NAMES)
    diagnostics.push({
      ...{ ...at, code: 'certificate_names' },
      message: `has ${names.length} names, and at most ${MAX_NAMES} are read`,
      remedy: 'divide the names among several certificates',
    });
  else if (!names.some((name) => isNameOf(domain, name)))
    diagnostics.push({
      ...{ ...at, code: 'certificate_names' },
      message: `no name of the certificate is \`${domain}\` or below it`,
      found: names.length === 0 ? 'no names in subjectAltName' : names.slice(0, 3).map(quoteValue).join(', '),
      remedy: `request a certificate for \`${domain}\``,
    });
  if (!describeKey(leaf.publicKey).isAccepted)
    diagnostics.push({
      ...{ ...at, code: 'certificate_weak_key' },
      message: `the key of the certificate is ${key_type}`,
      remedy: 'use RSA of 2,048 to 8,192 bits, P-256, P-384 or Ed25519',
    });
  if (leaf.keyUsage !== undefined && !leaf.keyUsage.some((usage) => FOR_SERVERS.includes(usage)))
    diagnostics.push({
      ...{ ...at, code: 'certificate_unusable' },
      message: 'the certificate is not for servers: its extended key usage has no `serverAuth`',
      remedy: 'request a certificate for TLS servers',
    });
  if (not_after > now && not_after <= now + EXPIRING_MS)
    diagnostics.push({
      ...{ code: 'certificate_expiring', severity: 'warning', path: ['certificate'] },
      message: `the certificate expires at ${timeText(not_after)}`,
      remedy: 'upload its successor before then',
    });
}
