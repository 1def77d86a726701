/**
 * Opens the box of a certificate set and checks what is in it. In: the node's key, the domain and the digest that the signed
 * manifest names, the box. Out: the certificates, or SetRefusal. Whether a key fits its certificate is checked by what
 * serves them (`CertificateSink`). Messages never have a part of the content, which has keys.
 */
import type { KeyObject } from 'node:crypto';
import { openBox, sha256Hex } from '../../../base/platform/cryptography.ts';
import { isObject } from '../../../base/text/json-object.ts';
import {
  CERTIFICATE_SET_FORMAT,
  type CertificateSet,
  certificateSetContext,
  type SetCertificate,
} from '../../../engine/plan/manifest.ts';
import { MAX_SET_CERTIFICATES } from '../limits.ts';

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
