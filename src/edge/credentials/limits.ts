/** Limits of credentials, each with its reason. */

/** Maximum length of an API key; those that the control plane issues have a tenth of it. */
export const MAX_KEY_OCTETS = 512;
/**
 * Maximum length of a token. Those of identity providers that list groups reach 8 KiB; servers accept heads of 8 to 16 KiB,
 * which a longer one does not fit into.
 */
export const MAX_TOKEN_OCTETS = 16 * 1024;
/**
 * Maximum number of keys that a signature is verified with, where the token's header names none: an issuer that replaces a key
 * has two of one kind. Each costs a tenth of a millisecond.
 */
export const MAX_TRIED_KEYS = 4;
/**
 * Milliseconds for which a verified token is not verified again, within its lifetime. Key and consumer are of one registry, a
 * changed one has no cached tokens.
 */
export const VERIFIED_MS = 5 * 60_000;
/** Milliseconds for which a refused token is refused again unverified; a clock that is behind has caught up by then. */
export const REFUSED_MS = 5_000;
/** Octets of payloads of verified tokens that are cached: some ten thousand tokens in a small part of a Worker's 128 MB. */
export const VERIFIED_OCTETS = 8 * 1024 * 1024;
/** Octets that a cached token takes beyond its payload: its entry, the objects of its claims. */
export const TOKEN_OVERHEAD = 1_024;
/** Number of refused tokens that are cached, 200 octets each, apart from verified ones: a flood of them evicts none of those. */
export const MAX_REFUSED = 4_096;
/**
 * Certificates of a client and its issuers at most. Public authorities have one intermediate certificate, companies up to three; TLS
 * takes 100 KB of them (OpenSSL, SSL_CTX_set_max_cert_list).
 */
export const MAX_CLIENT_CHAIN = 10;
/** Signatures verified at most in search of a path: a chain in order takes as many as it has certificates. */
export const MAX_PATH_SIGNATURES = 16;
/** Names of a certificate that are looked up among the consumers, at most. */
export const MAX_CERTIFICATE_NAMES = 32;
/** Characters of such a name at most: consumers have none with more. */
export const MAX_NAME_LENGTH = 256;
