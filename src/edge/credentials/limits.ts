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
 * Maximum number of different certificates that a client may send. A path has one intermediate certificate of a public authority, up to
 * three of a company; some clients send a bundle of several paths. TLS takes 100 KB of them (OpenSSL, SSL_CTX_set_max_cert_list).
 */
export const MAX_CLIENT_CERTIFICATES = 32;
/** Maximum number of signatures verified in the search of a path: one for each certificate of a path, and of each one that ends elsewhere. */
export const MAX_PATH_SIGNATURES = 16;
/** Maximum number of names in a certificate, each of which is searched among the consumers. */
export const MAX_CERTIFICATE_NAMES = 32;
/** Maximum length of such a name in characters, which is that of a consumer's. */
export const MAX_NAME_LENGTH = 256;
