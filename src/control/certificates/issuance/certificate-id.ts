/** The identifier of a certificate at its CA (RFC 9773 §4.1): key identifier of the issuer and serial number. */
import type { X509Certificate } from 'node:crypto';

/** The octets of the OID 2.5.29.35, authority key identifier (RFC 5280 §4.2.1.1), with tag and length. */
const AUTHORITY_KEY = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x23]);

/** `null`: the certificate names no key of its issuer. */
export function readCertificateId({ raw, serialNumber }: X509Certificate): string | null {
  const key = authorityKey(raw);
  if (key === null) return null;
  const serial = Buffer.from(serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`, 'hex');
  // DER writes a leading zero octet where the first bit is set, and the identifier has the octets of DER.
  const octets = serial[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${key.toString('base64url')}.${octets.toString('base64url')}`;
}

/** The keyIdentifier of the extension: an octet string that has a sequence whose first element has the tag 0x80. */
function authorityKey(der: Buffer): Buffer | null {
  for (let at = der.indexOf(AUTHORITY_KEY); at >= 0; at = der.indexOf(AUTHORITY_KEY, at + 1)) {
    const value = der.subarray(at + AUTHORITY_KEY.length);
    // All lengths are below 128: the key identifier has 20 or 32 octets, and other fields are rare and follow it.
    const [string, , sequence, , tag, length] = value;
    if (string !== 0x04 || sequence !== 0x30 || tag !== 0x80 || length === undefined) continue;
    if (6 + length <= value.length) return value.subarray(6, 6 + length);
  }
  return null;
}
