/**
 * The text of consumers' keys: `epk_` and 43 characters of base64url, which are 256 bits. Files and the control plane store
 * SHA-256 of the text alone, so no reader of them can use a key. Keys are made in `mint-key.ts`.
 */

/** How keys begin, so that scanners of secrets and redaction in logs recognise them. */
export const KEY_PREFIX = 'epk_';
/** Octets of a key: nobody guesses 256 bits, so a fast hash protects it. */
export const KEY_OCTETS = 32;
