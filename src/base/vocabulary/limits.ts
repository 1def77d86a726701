/**
 * Every bound on what a customer may write and on what a request may hold, each with its reason. Numbers that the API
 * document or semantics.md fixes are marked "Fixed by"; the others are ours.
 */

// Lists and texts

/** Maximum length of a regular expression, in characters. Fixed by semantics §3. */
export const MAX_PATTERN_CHARACTERS = 1_024;
/**
 * Maximum number of entries of a host, path or other list without a bound of its own. Fixed by the API document and
 * semantics §3.
 */
export const MAX_LIST_ENTRIES = 200;
/** Maximum length, in characters, of a list entry that is not a regular expression. Fixed by semantics §3. */
export const MAX_ENTRY_CHARACTERS = 2_048;
/** Maximum number of address entries per drop rule. Fixed by the API document. */
export const MAX_IPS = 256;
/** Maximum number of conditions on headers, query parameters and cookies per rule. Fixed by semantics §12. */
export const MAX_VALUE_CONDITIONS = 16;
/** Maximum number of values of one such condition. Fixed by semantics §12. */
export const MAX_CONDITION_VALUES = 50;
/** Octets of a header, query parameter or cookie that conditions read. Fixed by semantics §12. */
export const MAX_VALUE_OCTETS = 8_192;
/** Maximum length, in characters, of the name of a header, query parameter or cookie in a condition. */
export const MAX_VALUE_NAME_CHARACTERS = 256;
/** Maximum length, in characters, of an HTTP method: the longest registered one has 17 (IANA, HTTP Method Registry). */
export const MAX_METHOD_CHARACTERS = 32;
/** Maximum number of an autonomous system (RFC 6793). */
export const MAX_ASN = 4_294_967_295;
/** Maximum number of countries per drop rule: as many as ISO 3166-1 assigns, so that any set of them can be written. */
export const MAX_COUNTRIES = 249;
/**
 * Maximum length, in characters, of the label of an origin pool. Fixed by the API document. An origin route's label has
 * the same bound.
 */
export const MAX_NAME_CHARACTERS = 64;
/** Maximum length, in characters, of a record's comment: a remark, not a document. */
export const MAX_COMMENT_CHARACTERS = 1_000;
/**
 * Maximum length, in characters, of a record's destination: a TXT record's data is at most 65,535 octets, but no known
 * use needs more than 16 KiB.
 */
export const MAX_DESTINATION_CHARACTERS = 4_096;

/** Maximum number of URLs, prefixes or tags of one purge: as many as Cloudflare takes, so that its clients work unchanged. */
export const MAX_PURGE_VALUES = 30;
/** Maximum length, in characters, of a cache tag: that of Fastly's surrogate keys. */
export const MAX_TAG_CHARACTERS = 1_024;
/**
 * Maximum number of purged values per domain that nodes compare cached responses with. Responses from before the oldest of
 * them count as purged. Compared at lookups, a thousand take some microseconds and 100 KB.
 */
export const MAX_PURGES = 1_000;
/** Maximum size, in octets, of these values per domain: 250 octets each, and room for the longest request. */
export const MAX_PURGES_OCTETS = 262_144;
/** Maximum number of domains of one report of a cache: a node with more of them reports those first that it reported longest ago. */
export const MAX_REPORTED_DOMAINS = 500;
/** Maximum number of URLs of a domain in a report: as many as a survey of the cache lists. */
export const MAX_REPORTED_URLS = 1_000;
/**
 * Maximum size, in octets of JSON, of all URLs of a report. Domains share it: one with many URLs gets what the others leave,
 * so that none crowds out another.
 */
export const MAX_REPORTED_OCTETS = 262_144;
/** Maximum size, in octets of JSON, of the URLs of one domain in a report: some 400 of them. */
export const MAX_DOMAIN_REPORT_OCTETS = 65_536;

/** Maximum number of entries of a named list. Fixed by semantics §13. */
export const MAX_NAMED_ENTRIES = 100_000;
/** Maximum length, in characters, of the name of a list. Fixed by semantics §13. */
export const MAX_LIST_NAME_CHARACTERS = 64;
/** Maximum length, in characters, of the comment of an entry: a remark, such as the number of a ticket. */
export const MAX_ENTRY_COMMENT_CHARACTERS = 200;
/**
 * Maximum number of entries of a list with a star elsewhere than at one end. They are found by a literal that they contain,
 * which takes a table of 20 octets a character.
 */
export const MAX_SCANNED_ENTRIES = 10_000;
/** Maximum size, in octets, that the entries of a list take once it is compiled: 100,000 of 100 characters fit. */
export const MAX_LIST_OCTETS = 25_165_824;
/** Maximum size, in octets, of a sealed list, with its tables, which are powers of two. */
export const MAX_SEALED_LIST = 33_554_432;
/** Maximum size, in octets, of all lists of a domain's plan together: half of what a node has for opened plans by default. */
export const MAX_PLAN_LIST_OCTETS = 134_217_728;
/** Maximum number of lists of a domain, and of an account: as many rule sets name, and room for those being prepared. */
export const MAX_LISTS = 200;
/** Maximum number of lists that the rules of a domain name, since a request may ask each of them. */
export const MAX_RULE_LISTS = 100;

/**
 * Maximum number of address entries of all rules per domain, those of conditions among them. Each is stored three times (as listed, merged, in the
 * index): so many single addresses, 256 a rule, compiled in 2.1 s on one core of an AMD EPYC and took 36 octets each, 7
 * MB.
 */
export const MAX_DOMAIN_IPS = 200_000;

/**
 * Maximum size, in octets, of all rules per domain, their pages among them: with tables and addresses at their own
 * bounds a plan stays below the 64 MiB that nodes accept.
 */
export const MAX_DOMAIN_TEXT = 20_971_520;

// Gateways (semantics §15)

/** Maximum number of operations per gateway: GitHub's document has some 1,100. */
export const MAX_OPERATIONS = 2_000;
/** Maximum length, in characters, of the id of an operation, of a scope and of a tag. */
export const MAX_OPERATION_NAME = 128;
/** Maximum number of scopes, and of tags, per operation. */
export const MAX_OPERATION_NAMES = 32;
/** Maximum number of methods per operation: as many as IANA registers for safe and unsafe requests of APIs, with room. */
export const MAX_OPERATION_METHODS = 16;
/** Maximum number of media types that the body of an operation may have. */
export const MAX_BODY_TYPES = 16;
/** Maximum size, in octets of JSON, of the schema of one body, and of all bodies of a gateway: those of GitHub's document have 700 KB. */
export const MAX_BODY_SCHEMA = 131_072;
export const MAX_GATEWAY_SCHEMAS = 2_097_152;
/** Maximum nesting depth of such a schema: those of public documents have some 30. */
export const MAX_BODY_SCHEMA_DEPTH = 48;
/** Maximum number of different patterns in the schemas of a gateway, and of octets of their automata: one takes up to 64 KiB. */
export const MAX_SCHEMA_PATTERNS = 128;
export const MAX_SCHEMA_TABLES = 1_048_576;
/** Maximum number of places that a gateway reads API keys from. */
export const MAX_KEY_SOURCES = 8;
/** Maximum number of token issuers of a domain, and of a gateway. */
export const MAX_ISSUERS = 20;
/** Maximum number of authorities of client certificates of a gateway: each certificate of a client is compared with all. */
export const MAX_CA_CERTIFICATES = 16;
/** Maximum length, in characters, of their PEM text: 16 certificates with RSA keys of 8,192 bits have some 45,000. */
export const MAX_CA_CHARACTERS = 65_536;
/** Maximum number of origins, methods or headers in a list of `cors`. */
export const MAX_CORS_ENTRIES = 64;
/** Maximum number of seconds for which browsers store the answer to a preflight: browsers cut longer times to a day or less. */
export const MAX_CORS_AGE_SEC = 86_400;

// Regular expressions: matching costs at most program size × octets (semantics §3)

/**
 * Maximum number of instructions per pattern; ordinary ones have 20 to 60. Bounds the time it takes to build a pattern's
 * DFA and literals. The time to match does not depend on it.
 */
export const MAX_PATTERN_PROGRAM = 1_000;

/**
 * Maximum number of scans of one path that the regexes of a domain cause (those on one chain of literal prefixes
 * together), so that all of them take at most 1 ms on a path of 2 KiB. A host is an eighth as long at most, so a host
 * regex counts an eighth.
 *
 * Measured with Node 20 on one core of an AMD EPYC at 2.6 GHz: a DFA takes 2.3 ns an octet, whatever the pattern is;
 * 400 different tables in turn (200 KB) take 2.6 ns. So a scan of 2,048 octets takes 5.3 µs, with
 * what lies around it 6 to 8; a path with `;params` is read in two forms, so 64 take a millisecond.
 *
 * There is no budget for patterns without a DFA, since none can be run in that time: they are refused. `re2js` is as
 * fast as ours on a text like one it has seen, but takes 20 to 270 ns an octet and instruction while it builds its own
 * DFA on a new one: 3 to 77 ms on 2,048 octets for patterns whose states multiply (`[ab]*a[ab]{12}`, `a[^/]{1,200}Z`,
 * `(?:.{20}a|.{21}b|.{22}c){3}Q`). A millisecond would buy 2 to 20 instructions for a whole domain.
 */
export const MAX_DOMAIN_SCANS = 64;

/**
 * Maximum size, in octets, of all automata per domain. An ordinary pattern's has 300 to 2,000, so some thousands fit,
 * and the plans of a node with many domains stay small.
 */
export const MAX_DOMAIN_TABLES = 4_194_304;

/**
 * Maximum sum, per domain, of the squares of its patterns' numbers of instructions: building an automaton takes up to
 * 0.18 µs for each (measured as above: 177 ms for a literal of 990 characters), so the patterns of one write take at
 * most 2 s. Eleven thousand ordinary ones of 30 instructions fit.
 */
export const MAX_DOMAIN_BUILD = 10_000_000;

/**
 * Maximum number of instructions that may be active at once (`captureWidth`) in a pattern whose groups a rewrite target
 * uses. Captures run through `re2js`: 2 to 20 ns an octet and active instruction, so 24 of them take 1 ms on 2 KiB. Size
 * says little about that: `^/products/([a-z0-9-]+)-(\d+)\.html$` has 28 instructions, of which 8 can be active, and
 * `(?:a?){10}(a{10})$` has 35, of which 34 can.
 */
export const MAX_CAPTURE_WIDTH = 24;

/**
 * Maximum number of instructions of a pattern whose groups a rewrite target uses. Up to 262,144 instructions × octets
 * `re2js` searches with a bit for each (instruction, octet), so 128 instructions on 2 KiB; beyond, it copies all groups
 * for each active instruction and takes ten times as long.
 */
export const MAX_CAPTURE_PROGRAM = 128;

// Hosts and targets

/** Maximum size, in octets, of a host name without its trailing dot (RFC 1035 §2.3.4; semantics §1). */
export const MAX_HOST_OCTETS = 253;
/** Maximum size, in octets, of one label of a host name (RFC 1035 §2.3.4). */
export const MAX_LABEL_OCTETS = 63;
/** Maximum size, in octets, of a request target in UTF-8; a longer one is refused with 414. Fixed by semantics §1.1. */
export const MAX_TARGET_OCTETS = 16_384;
/** Maximum length, in characters, of a redirect target, path target or query target: that of a request target. */
export const MAX_LOCATION_CHARACTERS = 16_384;
/** Maximum port number (RFC 9293 §3.1). */
export const MAX_PORT = 65_535;

// Rules

/**
 * Maximum number of rules per domain: the size the plan format and the benchmarks are made for (design, "Numbers to
 * reach").
 */
export const MAX_RULES = 10_000;
/** Maximum number of invariants per domain: each is proved on its own, in up to some seconds. */
export const MAX_INVARIANTS = 100;
/** Maximum number of records per domain: as many as rules; the whole zone is in every plan. */
export const MAX_RECORDS = 10_000;
/** Maximum id of a rule, record or node: plans keep ids in 32 unsigned bits. */
export const MAX_ID = 0xffff_ffff;
/** Maximum priority. Fixed by semantics §3. */
export const MAX_PRIORITY = 1_000_000;

/** Maximum `limit` and maximum `burst`: counters keep 24-bit slices, which hold their sum eight times. */
export const MAX_RATE_COUNT = 1_000_000;
/** Maximum rate-limit window, in seconds: one day. Fixed by semantics §5. */
export const MAX_WINDOW_SEC = 86_400;
/**
 * Maximum number of paths counted separately per address under one `ip_path` rule, and of values under a rule whose
 * `key_parts` have some that visitors choose; the rest share a key. Fixed by semantics §5.
 */
export const MAX_RATE_PATHS = 1_024;
/** Maximum number of parts of the key of a rate limit. Fixed by semantics §14. */
export const MAX_RATE_PARTS = 3;
/** Maximum number of statuses that a rate limit counts. Fixed by semantics §14. */
export const MAX_COUNT_STATUSES = 16;
/** Maximum `limit + burst` of a window that is counted exactly. Fixed by semantics §5. */
export const MAX_EXACT_WINDOW = 128;
/** Number of slices a longer window is cut into. Fixed by semantics §5. */
export const WINDOW_SLICES = 16;

/**
 * Minimum time, in seconds, for which a solved challenge is valid: below, every page would challenge. Fixed by semantics
 * §5.
 */
export const MIN_CAPTCHA_TTL_SEC = 60;
/** Maximum time, in seconds, for which a solved challenge is valid: 30 days. Fixed by semantics §5. */
export const MAX_CAPTCHA_TTL_SEC = 2_592_000;
/** Time, in seconds, for which a solved challenge is valid by default. Fixed by semantics §5. */
export const DEFAULT_CAPTCHA_TTL_SEC = 1_800;

/** Maximum paranoia level, anomaly threshold and inspected part of a body of a waf rule. Fixed by the API document. */
export const MAX_PARANOIA = 4;
export const MAX_WAF_THRESHOLD = 100;
export const MAX_BODY_CAP_KB = 1_024;
/**
 * Maximum number of exclusions per waf rule: a false positive each, with room. Each costs a path match on every request
 * inspected.
 */
export const MAX_WAF_EXCLUSIONS = 100;
/** Maximum id of a signature, which is ModSecurity's own limit for rule ids. */
export const MAX_SIGNATURE_ID = 2_147_483_647;

/** The settable values of a domain's `cache_cap_mb`, in MB. Fixed by the API document. */
export const CACHE_CAPS_MB = [128, 256, 512, 2048, 4096] as const;
/** Maximum disk space for one domain on a node, in GB. */
export const MAX_DISK_GB = 100_000;
/** Maximum lifetime, in days, of an entry in the disk cache. Fixed by the API document. */
export const MAX_DISK_DAYS = 7;

/** Maximum number of origins per pool. Fixed by semantics §5. */
export const MAX_POOL_ORIGINS = 64;
/** Maximum weight of an origin: shares finer than one in a thousand make no visible difference, and sums stay small. */
export const MAX_WEIGHT = 1_000;
/** Maximum number of edge nodes listed per origin: a node's id costs four octets, and no edge has more sites than this. */
export const MAX_NODE_IDS = 1_000;
/** Maximum time, in seconds, between two probes: slower than hourly is not a health check. */
export const MAX_HEALTH_INTERVAL_SEC = 3_600;
/** Maximum time, in seconds, that a probe may take: a minute without an answer is an answer. */
export const MAX_HEALTH_TIMEOUT_SEC = 60;
/** Maximum number of consecutive probes that turn an origin down or up: more would take hours at the default interval. */
export const MAX_HEALTH_THRESHOLD = 100;
/** Maximum time, in seconds, that an origin may stay ejected: one day; a weight of 0 is the way to keep it out for good. */
export const MAX_EJECT_SEC = 86_400;

/**
 * Maximum time, in seconds, that a rule lets a response be cached: one year, the customary ceiling of `max-age` (RFC
 * 2616 §14.21).
 */
export const MAX_CACHE_TTL_SEC = 31_536_000;

/**
 * Maximum size, in octets of UTF-8, of one error page, and of the body of an `alt_content` answer. Fixed for pages by
 * semantics §5.
 */
export const MAX_PAGE_OCTETS = 65_536;
/** Maximum size, in octets of UTF-8, of all error pages per rule. Fixed by semantics §5. */
export const MAX_PAGES_OCTETS = 524_288;
/** The statuses an error page covers. Fixed by semantics §5. */
export const MIN_ERROR_CODE = 400;
export const MAX_ERROR_CODE = 599;
/** The statuses `alt_content` may answer with. Fixed by semantics §5. */
export const MIN_CONTENT_STATUS = 200;
export const MAX_CONTENT_STATUS = 599;

/** Maximum number of names per headers rule, of both sides together. Fixed by semantics §14. */
export const MAX_HEADER_NAMES = 32;
/**
 * Maximum length, in characters, of a value of a headers rule: a Content-Security-Policy of a large site, with room. Servers
 * refuse a header section of more than 8 to 16 KiB.
 */
export const MAX_HEADER_VALUE_CHARACTERS = 4_096;
/** Maximum length, in characters, of all names and values of a headers rule: what Node accepts as a whole header section. */
export const MAX_HEADERS_CHARACTERS = 16_384;
/**
 * Maximum length, in characters, of the names and values that the headers rules of one request add to one message. A
 * change beyond it is left out: nobody accepts such a section, and it would only fill the memory of the node.
 */
export const MAX_APPLIED_CHARACTERS = 16_384;

// Registries of gateways: consumers with their keys, usage plans, token issuers (semantics §15)

/** Maximum number of consumers per domain. Fixed by semantics §15. */
export const MAX_CONSUMERS = 10_000;
/** Maximum number of keys per domain: two for each consumer, so that every one can be replaced. Fixed by semantics §15. */
export const MAX_REGISTRY_KEYS = 20_000;
/** Maximum size, in octets, of a sealed registry: that of a list; 10,000 consumers of 3 KB each fit. */
export const MAX_SEALED_REGISTRY = 33_554_432;
/** Maximum number of usage plans per domain. Fixed by semantics §15. */
export const MAX_USAGE_PLANS = 100;
/** Maximum number of token issuers per domain. Fixed by semantics §15. */
export const MAX_TOKEN_ISSUERS = 20;
/** Maximum number of keys of a consumer that are valid at once: an old one and the one that replaces it. Fixed by semantics §15. */
export const MAX_LIVE_KEYS = 2;
/** Maximum number of keys that a file lists for a consumer, expired ones among them: a year of monthly ones. */
export const MAX_CONSUMER_KEYS = 12;
/** Maximum length, in characters, of a username, a group, a label, a scope, and the names of plans, issuers and keys. */
export const MAX_REGISTRY_NAME = 64;
/** Maximum length, in characters, of a consumer's `custom_id`: that of `sub` in OpenID Connect. */
export const MAX_CUSTOM_ID_CHARACTERS = 255;
/** Maximum number of labels of a consumer. Fixed by semantics §15. */
export const MAX_CONSUMER_LABELS = 32;
/** Maximum number of operations and tags that a consumer's `acl` lists: as of other lists of a rule. */
export const MAX_ACL_ENTRIES = 200;
/** Maximum number of scopes of a consumer: they are compared one by one. */
export const MAX_CONSUMER_SCOPES = 64;
/** Maximum number of values of a consumer's `metadata`, and of `required_claims` of a token issuer. */
export const MAX_METADATA = 32;
export const MAX_REQUIRED_CLAIMS = 16;
/** Maximum length, in characters, of such a value. */
export const MAX_METADATA_CHARACTERS = 512;
/** Maximum number of requests of a throttle, and of its burst: counters have 24-bit slices. */
export const MAX_THROTTLE_COUNT = 1_000_000;
/** Maximum number of requests in flight that a usage plan allows: more than the connections of one node. */
export const MAX_CONCURRENCY = 100_000;
/** Maximum number of requests of a quota: 380,000 a second for 30 days, and a sum of them is an exact number. */
export const MAX_QUOTA_REQUESTS = 1_000_000_000_000;
/** Maximum number of audiences, of keys, and of places of tokens of an issuer. */
export const MAX_AUDIENCES = 16;
export const MAX_ISSUER_KEYS = 16;
export const MAX_CREDENTIAL_SOURCES = 8;
/** Maximum difference, in seconds, of the clocks of an issuer and an edge. Fixed by semantics §15. */
export const MAX_CLOCK_SKEW_SEC = 300;
/**
 * Bounds, in bits, of RSA moduli: RFC 7518 §3.3 demands 2,048; a signature of 8,192 bits is checked in 0.5 ms, and the time
 * grows with the square.
 */
export const MIN_RSA_BITS = 2_048;
export const MAX_RSA_BITS = 8_192;
/** Maximum length, in bits, of RSA exponents: 65,537 is usual, and longer ones make every check slow. */
export const MAX_RSA_EXPONENT_BITS = 32;

// Records

/** Maximum time, in seconds, that the edge waits for a record's origin. Fixed by the API document. */
export const MAX_RECORD_TIMEOUT_SEC = 1_800;
/** Maximum MX preference (RFC 1035 §3.3.9). */
export const MAX_MX_PRIORITY = 65_535;

// Files and reports

/**
 * Maximum size, in octets, of an edge.yaml: 10,000 rules at a generous 400 octets each. Longer files are refused unread.
 */
export const MAX_FILE_OCTETS = 4_194_304;
/**
 * Maximum number of parts (`edge.d/*.yaml`) of a domain: a file for each rule type, or each team, many times over.
 * Together with the edge file they have at most `MAX_FILE_OCTETS`.
 */
export const MAX_EDGE_PARTS = 256;
/** Maximum size, in octets, of a file with the entries of a list: 100,000 of 160 octets. */
export const MAX_LIST_FILE_OCTETS = 16_777_216;
/** Maximum number of values in a file once its aliases are resolved: some fifty a rule. An alias bomb has more. */
export const MAX_FILE_VALUES = 500_000;
/**
 * Maximum number of commas and opening brackets in a file. The YAML package takes about a kilobyte for each, so they are
 * counted before it parses the text; an ordinary file of 10,000 rules has a tenth as many.
 */
export const MAX_FILE_MARKS = 500_000;
/** Maximum nesting depth of lists and mappings in a file: no form needs more than eight. */
export const MAX_FILE_DEPTH = 32;
/** Maximum length, in characters, of a rule's key in a file: a name that fits a line of a report. */
export const MAX_KEY_CHARACTERS = 64;
/**
 * Maximum number of diagnostics returned at once: more are not read, and a hostile input must not fill the memory with
 * them.
 */
export const MAX_DIAGNOSTICS = 500;

// Signatures: work is counted in steps of some 2 ns, so that the answer is the same on any machine (semantics §5 waf)

/**
 * Maximum number of steps per inspection, whatever the size of the request: 8 ms. Ordinary requests take 20,000 to
 * 200,000; documents of a few kilobytes that lead many patterns along come to half of this at paranoia level 1 of the
 * Core Rule Set, and to nine tenths at level 4, since what such a pattern meets first is counted as if nobody had met it
 * before.
 */
export const WAF_FIXED_STEPS = 4_000_000;
/**
 * Maximum number of steps per octet of an inspection, besides the fixed ones: 64 KiB are inspected in some 20 ms at
 * most. Under the Core Rule Set at paranoia level 1 prose takes some 40, a form of 900 fields 65, and JSON of thousands
 * of small values 85 to 95; at level 2 some 45, 75 and 95 to 110, at level 4 some 55, 95 and 115 to 150. Nearly ten
 * thousand numbers in 64 KiB, each with a name and a value to judge, take 150 at any level and may be too many.
 */
export const WAF_OCTET_STEPS = 95;

/** Maximum number of groups per node or domain: regions, classes of hardware and tenants of their own, some of each. */
export const MAX_NODE_GROUPS = 16;
/**
 * Maximum number of groups stored that a domain has left: the feed reports this to their nodes, however long they were
 * off.
 */
export const MAX_LEFT_GROUPS = 64;

// Challenges of certificate authorities (RFC 8555 §8.3)

/** Maximum number of HTTP-01 challenges per domain: four orders at once, each of 50 names. */
export const MAX_CHALLENGES = 200;
/** Milliseconds after which a challenge is removed: an order takes minutes, and a writer that crashes removes nothing. */
export const CHALLENGE_MS = 3_600_000;
/** Maximum length, in characters, of a challenge's token: authorities use 43, of 128 bits at least. */
export const MAX_CHALLENGE_TOKEN = 128;
/** Maximum length, in characters, of its answer, which is the token, a dot and 43 characters (RFC 8555 §8.1). */
export const MAX_CHALLENGE_ANSWER = 512;
