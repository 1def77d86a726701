/** SHA-256, which platforms compute at once or aside: its form here, and the one of WebCrypto for those without Node's. */

/** SHA-256 of the UTF-8 form of a text, 32 octets; a promise where the platform computes it aside. */
export type Sha256 = (text: string) => Uint8Array | Promise<Uint8Array>;

/** SHA-256 by WebCrypto. */
export async function webSha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}
