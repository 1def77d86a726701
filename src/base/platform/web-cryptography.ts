/** Cryptography of the web platform, for rooms that run without Node; `cryptography.ts` is that of Node. */

/** SHA-256 of a text in UTF-8, 32 octets. */
export async function webSha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}
