/**
 * Reads what a certificate consists of, for its judgement: PEM blocks (RFC 7468), found by a scan of one pass, the kind
 * of key, the DNS names, the order of the chain. Text between blocks is ignored, as openssl writes it.
 */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { normalizeName } from '../../base/addresses/host.ts';
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import { CLOCK_SKEW_MS, LEAST_RSA_BITS, MOST_RSA_BITS } from './limits.ts';

/** A block of a PEM text. */
export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly label: string;
  readonly der: Buffer;
  /** It has headers of RFC 1421 with encryption (`Proc-Type: 4,ENCRYPTED`). */
  readonly isEncrypted: boolean;
}

const BEGIN = '-----BEGIN ';
const DASHES = '-----';
/** Characters of a label: the longest known one has 22. */
const MAX_LABEL = 40;

/** The blocks in their order; `null`: one has no end, or is not Base64. */
export function readPem(text: string): readonly PemBlock[] | null {
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    const labelAt = at + BEGIN.length;
    const labelEnd = text.indexOf(DASHES, labelAt);
    if (labelEnd < 0 || labelEnd - labelAt > MAX_LABEL) return null;
    const label = text.slice(labelAt, labelEnd);
    const bodyAt = labelEnd + DASHES.length;
    const bodyEnd = text.indexOf(`${DASHES}END ${label}${DASHES}`, bodyAt);
    if (bodyEnd < 0) return null;
    const block = readBody(label, text.slice(bodyAt, bodyEnd));
    if (block === null) return null;
    blocks.push(block);
    at = text.indexOf(BEGIN, bodyEnd);
  }
  return blocks;
}

function readBody(label: string, body: string): PemBlock | null {
  const lines = body.split('\n').map((line) => line.trim());
  const headers = lines.filter((line) => line.includes(':'));
  const isEncrypted = label.startsWith('ENCRYPTED') || headers.some((line) => line.includes('ENCRYPTED'));
  const base64 = lines.filter((line) => !line.includes(':')).join('');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  return { label, der: Buffer.from(base64, 'base64'), isEncrypted };
}

// What kind of key a certificate or a private key has, and whether it is accepted.

/** The curves that are accepted, by their names in OpenSSL. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384' };

/** A kind of key. */
export interface KeyKind {
  /** Such as `RSA 2048` or `P-256`. */
  readonly text: string;
  readonly isAccepted: boolean;
}

/** The kind of a key (semantics §8: RSA from 2,048 bits, P-256, P-384, Ed25519). */
export function describeKey(key: KeyObject): KeyKind {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    return { text: `RSA ${bits}`, isAccepted: bits >= LEAST_RSA_BITS && bits <= MOST_RSA_BITS };
  }
  if (type === 'ec') {
    const curve = details?.namedCurve ?? '';
    const known = Object.hasOwn(CURVES, curve) ? CURVES[curve]! : null;
    return { text: known ?? `EC ${curve}`.trim(), isAccepted: known !== null };
  }
  if (type === 'ed25519') return { text: 'Ed25519', isAccepted: true };
  return { text: type ?? 'unknown', isAccepted: false };
}

// The DNS names of a certificate, in canonical form, and whether they are names of a domain.

/**
 * The DNS names of subjectAltName, each once, in their order; those that are no host names are left out. Node writes the
 * entries as `DNS:a, DNS:b` and those with unusual characters as JSON strings (CVE-2021-44532).
 */
export function readNames(certificate: X509Certificate): readonly string[] {
  const text = certificate.subjectAltName ?? '';
  const names = new Set<string>();
  for (const entry of text.split(', ')) {
    if (!entry.startsWith('DNS:') || entry.startsWith('DNS:"')) continue;
    const name = canonical(entry.slice(4));
    if (name !== null) names.add(name);
  }
  return [...names];
}

function canonical(text: string): string | null {
  const isWildcard = text.startsWith('*.');
  const name = normalizeName(isWildcard ? text.slice(2) : text);
  if (name === null) return null;
  return isWildcard ? `*.${name}` : name;
}

/** Whether a name of a certificate is the domain, below it, or a wildcard that covers it. */
export function isNameOf(domain: string, name: string): boolean {
  const bare = name.startsWith('*.') ? name.slice(2) : name;
  if (bare === domain || bare.endsWith(`.${domain}`)) return true;
  return name.startsWith('*.') && domain.slice(domain.indexOf('.') + 1) === bare;
}

// Judges the order of a chain: each certificate is issued by the next one. A root at its end is left out, since clients
// have it. Out: the chain without a root; problems as diagnostics.

/** The time, milliseconds since the epoch, and where diagnostics are added. */
export interface ChainJudging {
  readonly now: number;
  readonly diagnostics: Diagnostic[];
}

/** The chain to store. */
export function judgeChain(
  chain: readonly X509Certificate[],
  { now, diagnostics }: ChainJudging,
): readonly X509Certificate[] {
  for (const [index, one] of chain.entries()) judgeTime(one, { index, now, diagnostics });
  const wrong = chain.findIndex((one, index) => {
    const next = chain[index + 1];
    return next !== undefined && !isIssuedBy(one, next);
  });
  if (wrong >= 0) {
    diagnostics.push({
      ...{ code: 'certificate_order', severity: 'error', path: ['certificate'] },
      message: `certificate ${wrong + 1} (${subjectOf(chain[wrong]!)}) is not issued by certificate ${wrong + 2} (${subjectOf(chain[wrong + 1]!)})`,
      remedy: orderRemedy(chain),
    });
    return chain;
  }
  const last = chain.at(-1)!;
  if (!isIssuedBy(last, last)) {
    if (chain.length === 1)
      diagnostics.push({
        ...{ code: 'certificate_issuer_missing', severity: 'warning', path: ['certificate'] },
        message: 'the chain has no issuer of the certificate, which many clients cannot find on their own',
        remedy: 'send the whole chain, often called fullchain.pem',
      });
    return chain;
  }
  if (chain.length === 1) {
    diagnostics.push({
      ...{ code: 'certificate_self_signed', severity: 'warning', path: ['certificate'] },
      message: 'the certificate is issued by itself, so no browser trusts it',
      remedy: 'request one from a certificate authority, unless your clients have this one',
    });
    return chain;
  }
  diagnostics.push({
    ...{ code: 'certificate_root', severity: 'info', path: ['certificate'] },
    message: `certificate ${chain.length} (${subjectOf(last)}) is a root, which clients have; it is left out`,
  });
  return chain.slice(0, -1);
}

function judgeTime(
  one: X509Certificate,
  { index, now, diagnostics }: ChainJudging & { readonly index: number },
): void {
  const begins = Date.parse(one.validFrom);
  const ends = Date.parse(one.validTo);
  const which = `certificate ${index + 1} (${subjectOf(one)})`;
  if (ends <= now)
    diagnostics.push({
      ...{ code: 'certificate_expired', severity: 'error', path: ['certificate'] },
      message: `${which} expired at ${timeText(ends)}`,
      remedy: 'request a new certificate from its issuer',
    });
  else if (begins > now + CLOCK_SKEW_MS)
    diagnostics.push({
      ...{ code: 'certificate_not_yet_valid', severity: 'error', path: ['certificate'] },
      message: `${which} is valid from ${timeText(begins)} on`,
      remedy: 'upload it after that time',
    });
}

/** Whether name and signature say that `issuer`, which is a CA, has issued a certificate. */
function isIssuedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  try {
    if ((!issuer.ca && one !== issuer) || !one.checkIssued(issuer)) return false;
    const { publicKey } = issuer;
    // The work of a verification rises with the size of the key.
    if ((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) > MOST_RSA_BITS) return false;
    return one.verify(publicKey);
  } catch {
    return false;
  }
}

/** What would be right: the order in which the certificates form a chain by their names, if there is one. */
function orderRemedy(chain: readonly X509Certificate[]): string {
  const leaf = chain.findIndex((one) => !chain.some((other) => other !== one && other.checkIssued(one)));
  const order = [leaf];
  while (leaf >= 0 && order.length < chain.length) {
    const last = chain[order.at(-1)!]!;
    const next = chain.findIndex((one, index) => !order.includes(index) && last.checkIssued(one));
    if (next < 0) break;
    order.push(next);
  }
  if (order.length < chain.length)
    return "put the domain's certificate first, then each certificate's issuer";
  return `put them in the order ${order.map((index) => index + 1).join(', ')}`;
}

/** The common name of a certificate, quoted, or the whole of its name. */
function subjectOf({ subject }: X509Certificate): string {
  const parts = (subject ?? '').split('\n');
  const common = parts.find((part) => part.startsWith('CN='))?.slice(3);
  return quoteValue(common ?? parts.join(', '));
}
