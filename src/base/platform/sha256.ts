/** SHA-256 (FIPS 180-4) of octets or of a text's UTF-8, for every room that runs on Node. */
import { hash } from 'node:crypto';

/** SHA-256 as 64 lower-case hex digits. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex');
}

/** SHA-256 as 43 characters of unpadded base64url (RFC 4648 §5); 22 of them are 132 bits, enough for an entity tag. */
export function sha256Base64Url(data: Uint8Array | string): string {
  return hash('sha256', data, 'base64url');
}
