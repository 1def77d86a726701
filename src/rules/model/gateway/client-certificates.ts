/**
 * Client certificates of a gateway (semantics §15): the authorities whose certificates it takes. In: PEM. Out: the certificates as
 * DER, or what is wrong with one. No message has a part of the text, which may contain a private key by mistake.
 */
import type { z } from 'zod';
import {
  type CertificateParts,
  CLIENT_AUTH,
  hasUnknownLimits,
  isStrong,
  KEY_USAGE,
  octetsOfBase64,
  readCertificate,
} from '../../../base/platform/x509.ts';
import {
  MAX_CA_CERTIFICATES,
  MAX_CA_CHARACTERS,
  MAX_RSA_BITS,
  MIN_RSA_BITS,
} from '../../../base/vocabulary/limits.ts';
import { checked, filledText } from '../fields.ts';
import { crossCheck } from '../form.ts';
import type { Problem } from '../report.ts';

/** The certificate of an authority, valid for a century. */
export const EXAMPLE_AUTHORITY: string = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBNzCB6qADAgECAhRwlKqRhVXF+AU0O0RGE+vLN7mGFTAFBgMrZXAwGTEXMBUG',
  'A1UEAwwOT3JkZXJzIGNsaWVudHMwIBcNMjYxMjAxMDMxMTA4WhgPMjEyNjExMDcw',
  'MzExMDhaMBkxFzAVBgNVBAMMDk9yZGVycyBjbGllbnRzMCowBQYDK2VwAyEAdJkS',
  'f4iaSzM5uzQMCoKv+hJqI4Ik4Xw9EP8UM4YFNe6jQjBAMA8GA1UdEwEB/wQFMAMB',
  'Af8wDgYDVR0PAQH/BAQDAgIEMB0GA1UdDgQWBBTL4v/PU0EepkP3kZvWSrEqpEhV',
  '7jAFBgMrZXADQQDw62ErZFeUyRR1dEifGOrquwiYdDCmJBcCspKX7SA78ZK4Om8p',
  'XJsNqWr/Ckv7L5ZUI8lRVYLVrHg4mPQwpa8I',
  '-----END CERTIFICATE-----',
  '',
].join('\n');

/** The fields of `mtls`. */
export const MTLS_FIELDS: { readonly ca_pem: z.ZodString } = {
  ca_pem: checked(filledText(MAX_CA_CHARACTERS), judgeAuthorities)
    .describe(
      'certificates of the authorities that issue those of clients, as PEM; each is trusted by itself, a root or an intermediate one. Names of a certificate (DNS, URI, e-mail of `subjectAltName`, then the common name) name the consumer, by its `custom_id`, then its username',
    )
    .meta({ examples: [EXAMPLE_AUTHORITY] }),
};

const BEGIN = '-----BEGIN ';
const DASHES = '-----';

/** A certificate of a PEM text, in both forms. */
export interface AuthorityCertificate {
  /** DER in Base64, without line breaks. */
  readonly base64: string;
  readonly parts: CertificateParts;
}

/** The certificates of a PEM text (RFC 7468), or what is wrong with it. */
export function readAuthorities(pem: string): readonly AuthorityCertificate[] | Problem {
  const found: AuthorityCertificate[] = [];
  for (let at = pem.indexOf(BEGIN); at >= 0; ) {
    const labelEnd = pem.indexOf(DASHES, at + BEGIN.length);
    const label = labelEnd < 0 ? '' : pem.slice(at + BEGIN.length, labelEnd);
    if (label.endsWith('PRIVATE KEY')) return PRIVATE_KEY;
    const end = pem.indexOf(`${DASHES}END ${label}${DASHES}`, labelEnd);
    const which = found.length + 1;
    if (labelEnd < 0 || end < 0) return invalid(which, 'has no end');
    if (label !== 'CERTIFICATE') return invalid(which, 'is no certificate');
    if (which > MAX_CA_CERTIFICATES) return TOO_MANY;
    const base64 = pem.slice(labelEnd + DASHES.length, end).replace(/\s+/g, '');
    const der = octetsOfBase64(base64);
    const parts = der === null ? null : readCertificate(der);
    if (parts === null) return invalid(which, 'is no X.509 certificate');
    const problem = judgeAuthority(parts, which);
    if (problem !== null) return problem;
    found.push({ base64, parts });
    at = pem.indexOf(BEGIN, end);
  }
  return found.length === 0 ? NO_CERTIFICATE : found;
}

function judgeAuthorities(pem: string): Problem | null {
  const read = readAuthorities(pem);
  return 'code' in read ? read : null;
}

const REMEDY = 'write the certificates of the authorities as PEM, each from `-----BEGIN CERTIFICATE-----` on';

function invalid(which: number, what: string, remedy = REMEDY): Problem {
  return { code: 'client_authority', message: `PEM block ${which} ${what}`, found: null, remedy };
}

const NO_CERTIFICATE: Problem = {
  code: 'client_authority',
  message: 'has no certificate in PEM form',
  found: null,
  remedy: REMEDY,
};

const PRIVATE_KEY: Problem = {
  code: 'private_key',
  message: 'has a private key, with which each reader could issue certificates of clients',
  found: null,
  remedy: 'write the certificates alone, and replace the key, which was disclosed',
};

const TOO_MANY: Problem = {
  code: 'client_authority',
  message: `has more than ${MAX_CA_CERTIFICATES} certificates`,
  found: null,
  remedy: 'write the authorities that issue certificates of clients alone',
};

/** What no client's certificate could be valid with. */
function judgeAuthority(parts: CertificateParts, which: number): Problem | null {
  const { isAuthority, keyUsage, purposes, key } = parts;
  if (!isAuthority)
    return invalid(which, 'is no certificate of an authority (`basicConstraints` without `CA:TRUE`)');
  if (keyUsage !== null && (keyUsage & KEY_USAGE.keyCertSign) === 0)
    return invalid(which, 'must not issue certificates (`keyUsage` without `keyCertSign`)');
  if (purposes !== null && !purposes.includes(CLIENT_AUTH))
    return invalid(which, 'must not issue certificates of clients (`extendedKeyUsage` without `clientAuth`)');
  if (!isStrong(key))
    return invalid(
      which,
      'has a key that is not accepted',
      `use RSA of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits, P-256, P-384, P-521 or Ed25519`,
    );
  if (hasUnknownLimits(parts))
    return invalid(
      which,
      'limits what it issues by an extension that is not read, such as `nameConstraints`',
      'write the certificate of an authority without it',
    );
  return null;
}

/** The values that the check of times reads. */
interface MtlsValues {
  readonly auth: { readonly mtls?: { readonly ca_pem: string } | undefined };
}

/** Warns of authorities that have expired, whose certificates nodes refuse. */
export const authorityTimes = crossCheck<MtlsValues>(['auth'], ({ auth }, scope) => {
  const read = auth.mtls === undefined ? [] : readAuthorities(auth.mtls.ca_pem);
  if ('code' in read) return;
  const now = Date.now();
  for (const [index, { parts }] of read.entries()) {
    if (parts.notAfter > now) continue;
    const message = `PEM block ${index + 1} expired at ${new Date(parts.notAfter).toISOString()}: certificates that it issued are refused`;
    const remedy = 'remove it, or add the certificate that replaces it';
    scope.warn(['auth', 'mtls', 'ca_pem'], { code: 'expired_authority', message, found: null, remedy });
  }
});
