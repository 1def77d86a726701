/**
 * Limits of the body parsers, of the caches between requests, and of reports. The limits of an inspection's work are in
 * `base/vocabulary/limits.ts`.
 */

/**
 * Maximum size, in octets, of the cached values in one of two generations. The headers, cookies and argument names of a
 * site take about 100 KiB; a larger cache would only hold values that do not occur again.
 */
export const MAX_CACHED_VALUES = 2_097_152;

/** Octets of a cached value besides its text: three objects and their lists. */
export const CACHED_VALUE_OVERHEAD = 400;

/** Slots for hashes of values that occurred once: as many as some hundred requests have. */
export const ONCE_SLOTS = 8_192;

/**
 * Slots for the values of the current request: several times as many as ordinary requests have, and so few that a request
 * with thousands of values costs the garbage collector little.
 */
export const REQUEST_SLOTS = 1_024;

/** Maximum size, in octets, of a cached value: longer ones hardly occur again, and a few would evict all others. */
export const MAX_CACHED_VALUE = 2_048;

/**
 * Slots for schedules of exact kinds (`schedules.ts`), a power of two: several times as many as the requests of a site
 * need, and a few megabytes when an attacker fills them all.
 */
export const EXACT_SCHEDULES = 1_024;

/** Maximum number of names in one cache of classes or of selected TX variables; a full cache is cleared. */
export const MAX_CACHED_NAMES = 4_096;

/**
 * Maximum number of TX variables that rules write in an ordinary request: some are named after its headers and
 * arguments.
 */
export const MAX_ORDINARY_NAMES = 512;

/** Maximum length, in characters, of the excerpt around a match in a report. */
export const MAX_REPORTED_PIECE = 64;

/** Maximum length, in characters, of a signature's message in a report, which is one line. */
export const MAX_REPORTED_MESSAGE = 200;

/** Maximum number of matches reported per inspection, the first ones; the score includes all. */
export const MAX_REPORTED_MATCHES = 100;

// Limits of the body parsers. A body beyond a limit is inspected up to it, and the limit is reported as an error.

/**
 * Maximum number of members per body, for each of arguments, files, part headers and attribute values. ModSecurity's
 * recommended limit is 1,000 arguments, but large spreadsheets and imports send some thousands.
 */
export const MAX_BODY_ARGUMENTS = 10_000;

/** Maximum nesting depth of JSON containers: the limit of ModSecurity's recommended configuration. */
export const MAX_JSON_DEPTH = 512;

/**
 * Maximum size, in octets, of all argument names of a JSON body together. A name repeats the keys around its value, so
 * that 512 levels of long keys would turn one megabyte into hundreds; ten thousand ordinary names take a quarter of
 * this.
 */
export const MAX_JSON_NAME_OCTETS = 2_097_152;

/** Maximum nesting depth of XML elements: the limit of libxml2. */
export const MAX_XML_DEPTH = 256;

/** Maximum size, in octets, of a header of a part, folded lines included: the buffer of ModSecurity. */
export const MAX_PART_HEADER_OCTETS = 4_096;

/** Maximum size, in octets, of the `Content-Type` of a multipart body: the limit of ModSecurity. */
export const MAX_CONTENT_TYPE_OCTETS = 1_024;
