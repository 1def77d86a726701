/** Base64 without Node's Buffer: `btoa` and `atob` are everywhere, and take octets as Latin-1 text. */

/** base64url (RFC 4648 §5), without padding. */
export function toBase64url(octets: Uint8Array): string {
  return toBase64(octets).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Base64 (RFC 4648 §4), with padding. */
export function toBase64(octets: Uint8Array): string {
  return btoa(Array.from(octets, (octet) => String.fromCharCode(octet)).join(''));
}

/** Octets of base64 or base64url; `null`: it is neither. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}
