/**
 * The contract between compiler and evaluator: a plan is one flat run of bytes, a header and then sections, each an
 * array of 8-, 16- or 32-bit numbers in little-endian order at an 8-byte boundary. Opening one makes views; nothing
 * is decoded until a request needs it.
 *
 * Rules lie in `slots` in evaluation order: by phase, then priority, then id. Every list of rules anywhere in the
 * plan names slots in ascending order, so that "first match" is "smallest slot".
 *
 * `ruleKeys` has for each slot the string that the rule goes by across plans if its id is only its place in a file;
 * 0: it goes by its id. Empty if all rules go by their ids.
 *
 * `lists` has a row of LIST for each list that rules name, and `listData` those that the plan contains.
 */
import {
  HEADER_VARIABLES,
  RULE_TYPES,
  type RuleType,
  VALUE_COMPARISONS,
} from '../../base/vocabulary/vocabulary.ts';

/** Raised whenever the layout or the meaning of a field changes; `sectionsOf` below has the versions before it, others are refused. */
export const PLAN_VERSION = 8;
/**
 * The version of a plan without conditions and without what later versions have added: a plan is sealed in the oldest version
 * that has what it uses, so that nodes of earlier releases read it and its octets stay the same.
 */
export const PLAIN_VERSION = 3;
/** The version that added conditions. */
export const CONDITIONS_VERSION = 4;
/** The version that added lists, headers rules and small fields. */
export const LISTS_VERSION = 5;
/** The version that added gateways. */
export const GATEWAYS_VERSION = 6;
/** The version that added client certificates and bodies of gateways. */
export const WIDE_GATEWAYS_VERSION = 7;
/** `EPLN`, read as a little-endian number. */
export const MAGIC = 0x4e4c5045;

/** Words of the header, each 32 bits. */
export const HEADER = {
  magic: 0,
  version: 1,
  bytes: 2,
  checksum: 3,
  revisionLow: 4,
  revisionHigh: 5,
  sections: 6,
} as const;
/** Octets before the first section: seven header words, the directory (offset and octets per section), padding. */
export const DIRECTORY = 28;

export type SectionKind = 'u8' | 'u16' | 'u32';

/** The sections in their order. */
export const SECTIONS = [
  { name: 'meta', kind: 'u32' },
  { name: 'slots', kind: 'u32' },
  { name: 'words', kind: 'u32' },
  { name: 'patterns', kind: 'u32' },
  { name: 'strings', kind: 'u32' },
  { name: 'postings', kind: 'u32' },
  { name: 'postingSlots', kind: 'u32' },
  { name: 'nodes', kind: 'u32' },
  { name: 'literals', kind: 'u32' },
  { name: 'names', kind: 'u32' },
  { name: 'cidr4', kind: 'u32' },
  { name: 'cidr6', kind: 'u32' },
  { name: 'dfas', kind: 'u16' },
  { name: 'labels', kind: 'u16' },
  { name: 'text16', kind: 'u16' },
  { name: 'text8', kind: 'u8' },
  { name: 'ruleKeys', kind: 'u32' },
  { name: 'recordKeys', kind: 'u32' },
  { name: 'conditions', kind: 'u32' },
  { name: 'valueSources', kind: 'u32' },
  { name: 'valueTests', kind: 'u32' },
  { name: 'lists', kind: 'u32' },
  { name: 'listData', kind: 'u8' },
] as const satisfies readonly { name: string; kind: SectionKind }[];

type ArrayOf<K extends SectionKind> = K extends 'u8'
  ? Uint8Array
  : K extends 'u16'
    ? Uint16Array
    : Uint32Array;

/** The sections as arrays: what the compiler makes and what opening a sealed plan gives back. */
export type Plan = {
  readonly [S in (typeof SECTIONS)[number] as S['name']]: ArrayOf<S['kind']>;
};

/** Row of `recordKeys`: a record's id and the string of its key. Empty if no record has one. */
export const RECORD_KEY = { id: 0, key: 1, size: 2 } as const;

/**
 * How many words of `meta` the phases take, which come before the others: those of the types up to version 4, and one for the
 * end of the last of them, where `headers` begin (`phaseStart`).
 */
const TYPES = 12;

/** Fields of `meta`. */
export const META = {
  /** String: the domain's name. */
  domain: 0,
  /** Index into DOMAIN_STATUSES. */
  status: 1,
  suspended: 2,
  /** Developer mode's end in milliseconds, low and high word; 0 when off. */
  developerLow: 3,
  developerHigh: 4,
  slots: 5,
  /** `phases + i` is the first slot of the type with number i, up to the first of `headers`; read by `phaseStart`. */
  phases: 6,
  /** Roots in `nodes` of the trees, or NONE. */
  pathTree: 7 + TYPES,
  suffixTree: 8 + TYPES,
  hostTree: 9 + TYPES,
  ja4Tree: 10 + TYPES,
  ja4hTree: 11 + TYPES,
  /** 1 when `literals` holds a machine. */
  inner: 12 + TYPES,
  /** In `words`: posting of each inner literal. */
  innerPostings: 13 + TYPES,
  /** In `words`: posting of each country (26 × 26). NONE when no rule is filed there. */
  countries: 14 + TYPES,
  /** In `words`: posting of each bot kind, then of any other kind. NONE when no rule is filed there. */
  bots: 15 + TYPES,
  /** In `words`: groups, see GROUP. */
  groups: 16 + TYPES,
  groupCount: 17 + TYPES,
  /** In `names`: number of slots of the hash table, a power of two. */
  nameSlots: 18 + TYPES,
  /** Posting of the rules that no index narrows. */
  always: 19 + TYPES,
  /** Bits of SWITCH_LIST (`base/vocabulary/switches.ts`), MONITORED, EJECTIONS, RECENT: what the node adds to answers or takes from them. */
  switches: 20 + TYPES,
  /** Megabytes of the largest response body that is cached. */
  cacheCapMb: 21 + TYPES,
  /** Gigabytes and days of the disk cache. */
  diskMaxGb: 22 + TYPES,
  diskTtlDays: 23 + TYPES,
  size: 24 + TYPES,
  /** The first slot of `gateway`, whose rules lie before those of `waf`. From version 6 on alone, after the words of all plans. */
  gateways: 24 + TYPES,
} as const;

/**
 * The types in the order of their numbers in plans. It is that of RULE_TYPES, the order of phases, but for types that were added
 * between others: their numbers come last, so that the others stay as they were.
 */
const TYPES_BY_NUMBER: readonly RuleType[] = [...RULE_TYPES.filter((type) => type !== 'gateway'), 'gateway'];

/** The number of a type in the flags of a slot. */
export function typeNumber(type: RuleType): number {
  return TYPES_BY_NUMBER.indexOf(type);
}

/** The type of a rule, by the flags of its slot. */
export function ruleTypeOf(flags: number): RuleType {
  return TYPES_BY_NUMBER[flags & FLAG.type]!;
}

const GATEWAY = RULE_TYPES.indexOf('gateway');

/** The first slot of a type, by its index in RULE_TYPES; of one more than the last type: the number of all slots. */
export function phaseStart({ meta }: Pick<Plan, 'meta'>, type: number): number {
  if (type < GATEWAY) return meta[META.phases + type]!;
  // Without gateways, their phase is empty, before the first slot of the next type.
  if (type === GATEWAY && meta.length > META.gateways) return meta[META.gateways]!;
  const number = type === GATEWAY ? GATEWAY : type - 1;
  return number > TYPES ? meta[META.slots]! : meta[META.phases + number]!;
}

/**
 * Bit of `meta`'s `switches`: a proxied record has `monitor: true`. One word follows the records of each group then, 1: the
 * host is monitored. Readers of an earlier release ignore both.
 */
export const MONITORED = 1 << 8;
/**
 * Bit of `meta`'s `switches`: a pool without probes ejects origins otherwise than `DEFAULT_EJECTION`. A row of POOL_EJECTION
 * follows the origins of each pool then. Readers of an earlier release ignore both.
 */
export const EJECTIONS = 1 << 9;
/** Bit of `meta`'s `switches`: the plan has a field or type that version 5 added, which readers of an earlier release must refuse. */
export const RECENT = 1 << 10;
/**
 * Bit of `meta`'s `switches`: rows of gateways have the words from GATEWAY_FIELDS.validation on, which version 7 added; readers of an
 * earlier release must refuse such a plan.
 */
export const WIDE_GATEWAYS = 1 << 11;
/**
 * Bit of `meta`'s `switches`, beside WIDE_GATEWAYS alone: rows of gateways have the word GATEWAY_FIELDS.settings, which version 8 added;
 * readers of an earlier release must refuse such a plan.
 */
export const OPERATION_SETTINGS = 1 << 12;

/** Nothing there: no filter, no tree, no posting. */
export const NONE = 0xffffffff;

/** Fields of one slot. */
export const SLOT = {
  id: 0,
  priority: 1,
  flags: 2,
  /** In `words`: count, then group numbers ascending. NONE: zone-wide. */
  scope: 3,
  /** In `words`: a pattern filter, see FILTER. NONE: every host. */
  host: 4,
  /** As `host`, for the path. */
  path: 5,
  /** In `words`: count, country numbers as listed, then a bitset of 22 words. NONE: no country filter. */
  countries: 6,
  /** In `words`: an address filter, see ADDRESSES. NONE: no address filter. */
  addresses: 7,
  /** In `words`: for bot_route a mask, then count and kinds as listed; for fingerprint two string lists. */
  kinds: 8,
  /** Characters every matching path must hold, as bits of `characterBit`. */
  need: 9,
  /** In `words`: the type's own fields. */
  fields: 10,
  size: 11,
} as const;

export const FLAG = {
  type: 0xf,
  dryRun: 1 << 4,
  enabled: 1 << 5,
  excludeCountries: 1 << 6,
  excludeAddresses: 1 << 7,
  requireVerified: 1 << 8,
  /** A path with `;params` must match with and without them (cache rules), instead of in either form. */
  bothForms: 1 << 9,
  /** The last host include is the rule's `host_pattern`. */
  hostPattern: 1 << 10,
} as const;
/** Shift of the number of a rule's action or mode in its flags. */
export const FLAG_ACTION_SHIFT = 12;

/**
 * Instead of the first word of an address filter or a country list: some entries name lists. `[LISTED, offset of what the other
 * entries make or NONE, count of all entries, and for each the number of its list plus one, or 0]`.
 */
export const LISTED = 0xfffffffe;
export const LISTED_FILTER = { plain: 1, count: 2, entries: 3 } as const;

/**
 * A named list (semantics §13). `name`: a string; `kind`: index in LIST_KINDS. The sealed list (`lists.ts`) has `octets` octets
 * from `at` in `listData` on, or `at` is NONE and `digest` has its SHA-256 in eight words, the first octets the highest.
 * `posting`: the rules that are filed by it, or NONE.
 */
export const LIST = { name: 0, kind: 1, digest: 2, at: 10, octets: 11, posting: 12, size: 13 } as const;

/** The digest of a list that the plan refers to, 64 lower-case hex digits. `row`: where its row begins in `lists`. */
export function listDigest({ lists }: Pick<Plan, 'lists'>, row: number): string {
  const words = lists.subarray(row + LIST.digest, row + LIST.at);
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** Pattern filter: `[includes, excludes, pattern, pattern, …]`, includes first. */
export const FILTER = { includes: 0, excludes: 1, patterns: 2 } as const;

/**
 * Address filter: `[n4, n6, m4, m6, first/last pairs of the n4 entries, place in the list of each, then 8 words per
 * n6 entry and places, then the same intervals merged and sorted (m4 pairs, m6 eights)]`.
 */
export const ADDRESSES = { n4: 0, n6: 1, m4: 2, m6: 3, entries: 4 } as const;

// Conditions of rules (semantics §12). Empty sections: no rule has any.
//
// `conditions` has for each slot the offset in `words` of a count and rows of TERM, or NONE: all of them must hold. A test
// that several rules state is one row of `valueTests`, decided once a request; what tests read is a row of `valueSources`.

/**
 * A term of a rule: a test, and whether it must fail. `place`: where the customer wrote it, the member in the low `PLACE_BITS`
 * bits, and above them the place in a list of VALUE_MEMBERS, or 0 for `includes` and 1 for `excludes`.
 */
export const TERM = { test: 0, negated: 1, place: 2, size: 3 } as const;
export const PLACE_BITS = 8;
/** Members of `conditions` in the order in which a trace reports them; the number of a member is its index. */
export const CONDITION_MEMBERS = [
  'methods',
  'schemes',
  'ips',
  'countries',
  'asns',
  'bot_kinds',
  'verified_bot',
  'ja4',
  'user_agents',
  'tags',
  'headers',
  'query',
  'cookies',
  'except_methods',
] as const;
/** One of CONDITION_MEMBERS. */
export type ConditionMember = (typeof CONDITION_MEMBERS)[number];

/** What a source reads: its kind, its name (a string; empty for kinds without names), and trees of the rules filed by it. */
export const VALUE_SOURCE = { kind: 0, name: 1, tree: 2, foldedTree: 3, size: 4 } as const;
/** Kinds of sources. Those from `ip` on have at most one value. */
export const SOURCE_KINDS = [
  'header',
  'query',
  'cookie',
  'ip',
  'method',
  'scheme',
  'country',
  'asn',
  'bot',
  'verified',
  'ja4',
  'tag',
] as const;
/** One of SOURCE_KINDS. */
export type SourceKind = (typeof SOURCE_KINDS)[number];

/**
 * A test of the values of a source: whether one of them compares. `comparison`: index in TEST_COMPARISONS. `data`: in `words`;
 * of `addresses` an address filter (ADDRESSES), else a count and pattern numbers, of `tagged` slots. `ignoreCase`: 1 if ASCII
 * letters compare without case, or the regex ignores case.
 */
export const VALUE_TEST = { source: 0, comparison: 1, ignoreCase: 2, data: 3, size: 4 } as const;
/** `any`: there is a value. */
export const TEST_COMPARISONS = ['any', 'addresses', 'tagged', ...VALUE_COMPARISONS] as const;
/** One of TEST_COMPARISONS. */
export type TestComparison = (typeof TEST_COMPARISONS)[number];

/** Fields of one pattern; `need` as in SLOT, of every text it matches. */
export const PATTERN = { kind: 0, source: 1, data: 2, need: 3, size: 4 } as const;

export const PATTERN_KIND = {
  /** Every text. */
  any: 0,
  /** `data`: string. */
  exact: 1,
  prefix: 2,
  suffix: 3,
  contains: 4,
  /** `data` in `words`: count of pieces, then strings; first and last are anchored (and may be empty). */
  pieces: 5,
  /** `data`: offset of an automaton in `dfas`. */
  dfa: 6,
  /** An entry `@name`. `data`: the number of the list. */
  list: 7,
} as const;

/** Node of a tree: label (in `labels`), children (contiguous, by first character), postings (or NONE). */
export const NODE = {
  label: 0,
  length: 1,
  first: 2,
  children: 3,
  count: 4,
  exact: 5,
  prefix: 6,
  size: 7,
} as const;

/** Row of the hash table of names: string of the name (0: empty row), its group, the group of `*.name`. */
export const NAME = { string: 0, group: 1, wildcard: 2, size: 3 } as const;

/** A host's proxied records: `[posting, captcha record id or 0, count, then RECORD rows]` at `words[groups + i]`. */
export const GROUP = { posting: 0, captcha: 1, count: 2, records: 3 } as const;
export const RECORD = {
  id: 0,
  name: 1,
  destination: 2,
  port: 3,
  scheme: 4,
  hostHeader: 5,
  timeout: 6,
  size: 7,
} as const;

export const COUNTRIES = 26 * 26;
export const COUNTRY_WORDS = 22;

/** The bit of a character in a slot's `need`: letters without case, the rest by their low bits. */
export function characterBit(code: number): number {
  return 1 << (code & 31);
}

/** Hash of a name in the table of names (FNV-1a over its characters). */
export function nameHash(name: string, from: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** The place of a type in RULE_TYPES, the order of the phases. */
export function typeIndex(type: RuleType): number {
  return RULE_TYPES.indexOf(type);
}

// The layout of each type's own fields, as offsets from its slot's `fields` in `words`. Strings are string numbers.

export const BOT_FIELDS = { status: 0, body: 1, dest: 2, port: 3, scheme: 4 } as const;
/**
 * `options`: bits of RATE_OPTIONS. With `extended` two words more follow. `parts`: offset in `words` of a count and rows of
 * RATE_PART; NONE: the key is the address, or the address and the path. `statuses`: offset of a count and statuses of
 * responses; NONE: every request counts.
 */
export const RATE_FIELDS = { limit: 0, burst: 1, window: 2, options: 3, parts: 4, statuses: 5 } as const;
/** `perPath`: each path of an address has a count of its own. `headers`: forwarded responses have the fields of the limit. */
export const RATE_OPTIONS = { perPath: 1, extended: 2, headers: 4 } as const;
/** A part of a key: index in RATE_PARTS, and the source that is read (NONE: address and path). */
export const RATE_PART = { kind: 0, source: 1, size: 2 } as const;
/** `exclusions`: offset in `words` of a count and rows of WAF_EXCLUSION. `excludes`: a count, then strings. */
export const WAF_FIELDS = { paranoia: 0, threshold: 1, bodyCap: 2, exclusions: 3, excludes: 4 } as const;
/** `id`: NONE if a tag selects the rules; an empty `tag` or `target` is left out; `path` is a pattern's number. */
export const WAF_EXCLUSION = { id: 0, tag: 1, target: 2, path: 3, size: 4 } as const;
/** `target`: a string; under the action REDIRECT_LISTED the number of a list. */
export const REDIRECT_FIELDS = { status: 0, target: 1, preserveQuery: 2, preservePath: 3 } as const;
/** The number of the action of a redirect with a list of targets, after those of REDIRECT_TARGET_MODES. */
export const REDIRECT_LISTED = 2;
export const CAPTCHA_FIELDS = { ttl: 0 } as const;
export const REWRITE_FIELDS = { target: 0, query: 1, regex: 2 } as const;
/** Lifetimes are stored plus one; 0 follows the origin. */
export const CACHE_FIELDS = { edgeTtl: 0, browserTtl: 1, queryMode: 2, params: 3 } as const;
export const ROUTE_FIELDS = { address: 0, port: 1, scheme: 2, hostHeader: 3 } as const;
/** `health`: offset in `words` of a row of POOL_HEALTH, NONE when it is off. Then `count` rows of POOL_ORIGIN. */
export const POOL_FIELDS = { lbType: 0, hostHeader: 1, health: 2, count: 3, origins: 4 } as const;
/** Times in seconds; `path` and `host` are strings, an empty host is the pool's own. */
export const POOL_HEALTH = {
  path: 0,
  host: 1,
  interval: 2,
  timeout: 3,
  unhealthy: 4,
  healthy: 5,
  eject: 6,
} as const;
/** `nodes`: offset in `words` of a count and node ids. */
export const POOL_ORIGIN = { address: 0, port: 1, scheme: 2, weight: 3, nodes: 4, size: 5 } as const;
/** Consecutive failed requests that eject an origin, and seconds of the ejection; with the switch `EJECTIONS` alone. */
export const POOL_EJECTION = { failures: 0, seconds: 1, size: 2 } as const;
export const DEFAULT_EJECTION = { failures: 3, seconds: 30 } as const;
/** Then the codes, then a count and pairs of code and string. */
export const PAGE_FIELDS = { count: 0, codes: 1 } as const;
/**
 * Counts of the changes of requests and of responses, then `HEADER_CHANGE` rows, those of requests first. `op`: index in
 * HEADER_OPS; `value`: offset in `words` of a count and `VALUE_PIECE` rows, NONE under `remove`.
 */
export const HEADERS_FIELDS = { requests: 0, responses: 1, changes: 2 } as const;
export const HEADER_CHANGE = { op: 0, name: 1, value: 2, size: 3 } as const;
/**
 * `kind`: index in PIECE_KINDS; `text`: of `text` and `tag` a string, the tag as it was written; `slot`: of `tag` that of the rule
 * that tags, NONE if there is no such rule.
 */
export const VALUE_PIECE = { kind: 0, text: 1, slot: 2, size: 3 } as const;
export const PIECE_KINDS = ['text', 'tag', ...HEADER_VARIABLES, 'claim'] as const;

/**
 * A gateway. `name`, `base` (in canonical form, empty for `/`), `plan`: strings, empty: none. `options`: bits of GATEWAY_OPTIONS.
 * Offsets in `words`, NONE: none. `sources`: a count and rows of KEY_SOURCE. `issuers`: a count and strings. `cors`: a row of CORS.
 * `operations`: a count and rows of OPERATION. `headers`: as HEADERS_FIELDS, of requests alone.
 */
export const GATEWAY_FIELDS = {
  name: 0,
  base: 1,
  options: 2,
  plan: 3,
  sources: 4,
  issuers: 5,
  cors: 6,
  operations: 7,
  headers: 8,
  /** These in plans with WIDE_GATEWAYS alone; NONE: none. */
  validation: 9,
  clients: 10,
  /** In plans with OPERATION_SETTINGS alone: rows of OPERATION_SETTING, one for each operation; NONE: no operation has any. */
  settings: 11,
} as const;
/** `require`: index in AUTH_REQUIREMENTS. `unknown`: from `unknownShift` on, index in UNKNOWN_OPERATION_MODES. */
export const GATEWAY_OPTIONS = { require: 3, hide: 4, unknown: 24, unknownShift: 3 } as const;
/**
 * How a gateway validates bodies. `invalid`, `uninspected`: indexes in VALIDATION_MODES; `cap`: KiB. `bodies`: offset in `words` of a
 * word for each operation, an offset of a row of BODY or NONE.
 */
export const VALIDATION = { invalid: 0, uninspected: 1, cap: 2, bodies: 3, size: 4 } as const;
/**
 * What an operation has of its own. `throttle`: offset in `words` of a row of THROTTLE; `validation`: the same of the first three words
 * of VALIDATION; NONE: none.
 */
export const OPERATION_SETTING = { throttle: 0, validation: 1, size: 2 } as const;
/** `perSec` in seconds. */
export const THROTTLE = { rate: 0, perSec: 1, burst: 2 } as const;
/**
 * The body of an operation. `required`: 1 or 0. Then `count` rows of BODY_CONTENT: `type`, a media type or range in lower case, and
 * `schema`, the JSON of a SchemaProgram; strings, an empty schema: every value is valid.
 */
export const BODY = { required: 0, count: 1, content: 2 } as const;
export const BODY_CONTENT = { type: 0, schema: 1, size: 2 } as const;
/** `place`: index in CREDENTIAL_PLACES; `name`: a string. */
export const KEY_SOURCE = { place: 0, name: 1, size: 2 } as const;
/** Offsets of counts and strings; of `methods` and `allowed` NONE if the customer lists none. `credentials`: 1 or 0; `maxAge` in seconds. */
export const CORS = {
  origins: 0,
  methods: 1,
  allowed: 2,
  exposed: 3,
  credentials: 4,
  maxAge: 5,
  size: 6,
} as const;
/**
 * `id`, `path`: strings, the template as it was written. `methods`, `scopes`, `tags`: offsets of a count and strings. `open`: 1 if
 * it needs no credentials. `source`: index in OPERATION_SOURCES.
 */
export const OPERATION = {
  id: 0,
  path: 1,
  methods: 2,
  scopes: 3,
  tags: 4,
  open: 5,
  source: 6,
  size: 7,
} as const;

/** Scheme numbers of `ORIGIN_SCHEMES`. */
export const DEFAULT_PORTS = [80, 443] as const;

// Decodes strings of a plan.

/** Characters turned into a string at a time; more would overflow the stack of arguments. */
const CHUNK = 4096;

/** The entries of a filter that may be LISTED, in the order in which they were written; `plain`: those that name no list. */
export function listedEntries(
  plan: Plan,
  at: number,
  plain: (at: number) => readonly string[],
): readonly string[] {
  const { words, lists } = plan;
  if (words[at] !== LISTED) return plain(at);
  const rest = words[at + LISTED_FILTER.plain]!;
  const others = rest === NONE ? [] : [...plain(rest)];
  const from = at + LISTED_FILTER.entries;
  return [...words.subarray(from, from + words[at + LISTED_FILTER.count]!)].map((number) =>
    number === 0 ? others.shift()! : `@${decodeString(plan, lists[(number - 1) * LIST.size + LIST.name]!)}`,
  );
}

/** String `number` of the plan. */
export function decodeString(plan: Plan, number: number): string {
  const offset = plan.strings[number * 2]!;
  const tagged = plan.strings[number * 2 + 1]!;
  const units = (tagged & 1) === 1 ? plan.text16 : plan.text8;
  const end = offset + (tagged >>> 1);
  let text = '';
  for (let at = offset; at < end; at += CHUNK) {
    text += String.fromCharCode(...units.subarray(at, Math.min(end, at + CHUNK)));
  }
  return text;
}

// Reading plans of earlier versions, so that a node that was upgraded serves what it has on its disk. At the next raise of
// PLAN_VERSION this part is rewritten for what that one changes.

/** The oldest version this build reads. */
export const OLDEST_VERSION = 2;

/** The sections that a version has added. In a plan before it all rules and records go by ids, and no rule has conditions. */
const ADDED: { readonly [version: number]: readonly string[] } = {
  3: ['ruleKeys', 'recordKeys'],
  [CONDITIONS_VERSION]: ['conditions', 'valueSources', 'valueTests'],
  [LISTS_VERSION]: ['lists', 'listData'],
};

/** The names of the sections that a plan of `version` lacks. */
function lacking(version: number): readonly string[] {
  return Object.entries(ADDED).flatMap(([added, names]) => (Number(added) > version ? names : []));
}

/** The sections that a plan of `version` has, in their order. */
export function sectionsOf(version: number): readonly (typeof SECTIONS)[number][] {
  const absent = lacking(version);
  return SECTIONS.filter(({ name }) => !absent.includes(name));
}

/** What a plan of `version` lacks, as it means it: empty. */
export function absentSections(version: number): Readonly<Record<string, Uint8Array | Uint32Array>> {
  const empty = { u8: new Uint8Array(0), u16: new Uint32Array(0), u32: new Uint32Array(0) };
  const kinds = new Map<string, SectionKind>(SECTIONS.map(({ name, kind }) => [name, kind]));
  return Object.fromEntries(lacking(version).map((name) => [name, empty[kinds.get(name)!]]));
}

/** The version that a plan is sealed in. */
export function sealedVersion(plan: Plan): number {
  const switches = plan.meta[META.switches]!;
  if ((switches & OPERATION_SETTINGS) !== 0) return PLAN_VERSION;
  if ((switches & WIDE_GATEWAYS) !== 0) return WIDE_GATEWAYS_VERSION;
  if (plan.meta.length > META.size) return GATEWAYS_VERSION;
  if ((switches & RECENT) !== 0) return LISTS_VERSION;
  return plan.conditions.length === 0 ? PLAIN_VERSION : CONDITIONS_VERSION;
}

// Why bytes are not a plan this build can run.

export const PLAN_FAULTS = ['truncated', 'not_a_plan', 'version', 'checksum', 'layout', 'list'] as const;
/** One of PLAN_FAULTS. */
export type PlanFaultCode = (typeof PLAN_FAULTS)[number];

/** Marks faults of every copy of this module, also of another package's (`@edgeplan/evaluator` beside `@edgeplan/edge`). */
const PLAN_FAULT = Symbol.for('edgeplan.PlanFault');

/** Bytes that cannot be opened as a plan. Never to be taken for "no rules". `instanceof` holds for those of other packages, too. */
export class PlanFault extends Error {
  readonly code: PlanFaultCode;

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && PLAN_FAULT in value;
  }

  constructor(code: PlanFaultCode, message: string) {
    super(message);
    this.name = 'PlanFault';
    this.code = code;
    Object.defineProperty(this, PLAN_FAULT, { value: true });
  }
}
