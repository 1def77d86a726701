/** Bounds of challenges, each with its reason. */

/**
 * Rounds of PBKDF2 for one attempt, and what a key has to begin with: 256 attempts on average. Over https a browser's own
 * crypto does it: half a second on average in Chromium on a core of an AMD EPYC. On plain HTTP the page's script has to,
 * which takes four times as long. To check one takes 2 to 3 ms of a thread.
 */
export const COST = 5_000;
/** Hex digits that a key must begin with. */
export const KEY_PREFIX = '00';
/** Seconds from the challenge to the proof: slow phones in the background included. */
export const PROOF_SEC = 300;
/** Maximum number of used proofs that are stored: if more come within `PROOF_SEC`, the oldest is removed. */
export const MAX_USED_PROOFS = 100_000;
/**
 * Maximum number of signatures of clearance cookies checked per request, an even number: a visitor plausibly meets 16
 * challenges on one domain, and room is left for junk that other hosts of the site set. 64 took 2 to 4 ms in Node 20 on
 * a busy core, twice that while a secret is replaced; most of it is WebCrypto's way to its threads and back.
 */
export const MAX_CLEARANCES = 64;
/**
 * Maximum number of domains whose derived keys are cached, a kilobyte or two each; deriving them again takes a
 * millisecond.
 */
export const MAX_KEYRINGS = 1_000;
/**
 * Maximum length, in characters, of the address to return to after a challenge; if it is longer, the visitor returns to
 * the root. In the form each character may take three octets, and the proof next to it takes less than two thousand:
 * both stay within `MAX_PROOF_OCTETS`.
 */
export const MAX_BACK = 2_048;
/** Maximum size, in octets, of a proof posted to the challenge endpoint. */
export const MAX_PROOF_OCTETS = 8 * 1024;
