/** The bounds of certificates, each with its reason. */

/** Certificates of one domain: a set with their chains and keys has at most 2 MB, which a node reads in one answer. */
export const MAX_CERTIFICATES = 50;
/** Characters of an uploaded chain, and of a key: an RSA certificate of 100 names has about 6 KB, a key of 8,192 bits 6.4 KB. */
export const MAX_CHAIN_CHARACTERS = 65_536;
export const MAX_KEY_CHARACTERS = 16_384;
/** Certificates of an uploaded chain: the public CAs issue under one to three. */
export const MAX_CHAIN = 10;
/** Names of a certificate, as the largest public CAs issue. */
export const MAX_NAMES = 250;
/** Characters of the name of an issuer in answers and notifications; longer ones are cut. */
export const MAX_ISSUER_CHARACTERS = 200;
/** Bits of an RSA key (CA/Browser Forum, Baseline Requirements §6.1.5), and the most that a handshake should cost. */
export const LEAST_RSA_BITS = 2_048;
export const MOST_RSA_BITS = 8_192;
/** Milliseconds before its end from which a certificate is `expiring` (semantics §8: 14 days). */
export const EXPIRING_MS = 14 * 86_400_000;
/** Milliseconds that the clock of a CA may be ahead of ours: a certificate that was issued just now is in force. */
export const CLOCK_SKEW_MS = 300_000;
/** Certificates that one step of a rotation, or of the check at the start, reads: some 500 KB. */
export const KEYS_AT_ONCE = 50;
