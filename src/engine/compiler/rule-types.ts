/**
 * What the compiler has for each rule type, and what a plan has of it: the number of its action, its bits of the flags, its
 * own filters with the keys they are filed under, its own fields as words (layout in `engine/plan/layout.ts`), and these words
 * printed. Text is a string number; `true` is 1; closed vocabularies are the index in their list
 * (`base/vocabulary/vocabulary.ts`).
 */
import { decodeEscapes, utf8Bytes } from '../../base/octets/octets.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import {
  BOT_ACTIONS,
  BOT_KINDS,
  BREACH_ACTIONS,
  CACHE_MODES,
  CACHE_QUERY_MODES,
  DROP_STATUSES,
  ERROR_PAGE_MODES,
  FINGERPRINT_ACTIONS,
  LB_TYPES,
  ORIGIN_SCHEMES,
  type OriginScheme,
  RATE_PARTS,
  type RatePart,
  REDIRECT_TARGET_MODES,
  REWRITE_QUERY_MODES,
  type RuleType,
  UNINSPECTED_MODES,
} from '../../base/vocabulary/vocabulary.ts';
import { headerEntries } from '../../rules/model/rules/headers.ts';
import type {
  CacheRule,
  ErrorPageRule,
  OriginPoolRule,
  RateLimitRule,
  Rule,
  WafRule,
} from '../../rules/model/types.ts';
import {
  BOT_FIELDS,
  CACHE_FIELDS,
  CAPTCHA_FIELDS,
  DEFAULT_EJECTION,
  DEFAULT_PORTS,
  decodeString,
  EJECTIONS,
  FLAG,
  FLAG_ACTION_SHIFT,
  LIST,
  META,
  NONE,
  PAGE_FIELDS,
  PATTERN,
  type Plan,
  POOL_EJECTION,
  POOL_FIELDS,
  POOL_HEALTH,
  POOL_ORIGIN,
  RATE_FIELDS,
  RATE_OPTIONS,
  RATE_PART,
  REDIRECT_FIELDS,
  REDIRECT_LISTED,
  REWRITE_FIELDS,
  ROUTE_FIELDS,
  SLOT,
  type SourceKind,
  VALUE_SOURCE,
  WAF_EXCLUSION,
  WAF_FIELDS,
} from '../plan/layout.ts';
import { placeSource } from './conditions.ts';
import { type PlanDraft, placeString, placeWords } from './draft.ts';
import {
  addressOption,
  botOption,
  countryOption,
  type FilingOption,
  fingerprintOptions,
} from './filing-keys.ts';
import { placeAddresses, placeBotKinds, placeCountries, placeFingerprints, placeList } from './filters.ts';
import { placeGateway, printGateway } from './gateways.ts';
import { placeChanges, printChanges } from './header-changes.ts';
import { placePattern } from './patterns.ts';
import { listAt, textsAt } from './print-lists.ts';

/** A part of the printed plan; JSON-safe. */
export type Printed = Readonly<Record<string, unknown>>;

/** One rule's words. */
interface RuleWords {
  readonly plan: Plan;
  /** The rule's row of `slots`. */
  readonly row: Uint32Array;
  /** Offset of the type's own fields in `words`. */
  readonly at: number;
  /** The number of the rule's action or mode, in the vocabulary of its type. */
  readonly action: number;
}

/** A filter of a rule: the column of its slot, and its offset in `words`. */
interface PlacedFilter {
  readonly column: 'countries' | 'addresses' | 'kinds';
  readonly at: number;
}

/** How rules of one type are compiled and printed. */
interface TypeCompiler<R> {
  /** The index of the rule's action or mode in its vocabulary; 0 for types that have none. */
  readonly action: (rule: R) => number;
  /** Bits of FLAG that only this type has. */
  readonly flags: (rule: R) => number;
  /** Places the filters besides hosts and paths. */
  readonly filters: (draft: PlanDraft, rule: R) => readonly PlacedFilter[];
  /** The options to file the rule by these filters. */
  readonly options: (rule: R) => readonly FilingOption[];
  /** Places the rule's own fields and returns their offset in `words`; NONE for types that have none. */
  readonly fields: (draft: PlanDraft, rule: R) => number;
  /** What the rule has besides its filters on hosts, paths, countries and addresses. */
  readonly print: (rule: RuleWords) => Printed;
}

/** A type without action, flags, filters or fields of its own. */
const PLAIN = {
  action: () => 0,
  flags: () => 0,
  filters: () => [],
  options: () => [],
  fields: () => NONE,
  print: () => ({}),
} as const satisfies TypeCompiler<Rule>;

const TYPES: { readonly [T in RuleType]: TypeCompiler<Extract<Rule, { readonly type: T }>> } = {
  drop: {
    ...PLAIN,
    action: ({ status = DROP_STATUSES[0] }) => DROP_STATUSES.indexOf(status),
    flags: ({ country_match_type, ip_match_type }) =>
      (country_match_type === 'exclude' ? FLAG.excludeCountries : 0) |
      (ip_match_type === 'exclude' ? FLAG.excludeAddresses : 0),
    filters: (draft, { countries, ips }) => [
      { column: 'countries', at: placeCountries(draft, countries) },
      { column: 'addresses', at: placeAddresses(draft, ips) },
    ],
    options: ({ countries, country_match_type, ips, ip_match_type }) => [
      ...(countries.length > 0 && country_match_type === 'include' ? [countryOption(countries)] : []),
      ...(ips.length > 0 && ip_match_type === 'include' ? [addressOption(ips)] : []),
    ],
    fields: (draft, { status = DROP_STATUSES[0] }) => {
      if (status !== DROP_STATUSES[0]) draft.recent = true;
      return NONE;
    },
    print: ({ action }) => (action === 0 ? {} : { status: DROP_STATUSES[action] }),
  },
  fingerprint: {
    ...PLAIN,
    action: (rule) => FINGERPRINT_ACTIONS.indexOf(rule.action),
    filters: (draft, rule) => [{ column: 'kinds', at: placeFingerprints(draft, rule) }],
    options: ({ match_ja4, match_ja4h }) => fingerprintOptions(match_ja4, match_ja4h),
    print: printFingerprint,
  },
  bot_route: {
    ...PLAIN,
    action: (rule) => BOT_ACTIONS.indexOf(rule.action),
    flags: ({ require_verified }) => (require_verified ? FLAG.requireVerified : 0),
    filters: (draft, rule) => [{ column: 'kinds', at: placeBotKinds(draft, rule) }],
    options: ({ bot_kinds }) => [botOption(bot_kinds)],
    fields: ({ words, strings }, { status, body, alt_dest, alt_port, alt_scheme }) => {
      const texts = [placeString(strings, body), placeString(strings, alt_dest)];
      return placeWords(words, [status, ...texts, ...portAndScheme(alt_port, alt_scheme)]);
    },
    print: printBotRoute,
  },
  rate_limit: {
    ...PLAIN,
    action: (rule) => BREACH_ACTIONS.indexOf(rule.on_breach),
    fields: placeRate,
    print: printRateLimit,
  },
  gateway: { ...PLAIN, fields: placeGateway, print: ({ plan, at }) => printGateway(plan, at) },
  waf: {
    ...PLAIN,
    action: (rule) => UNINSPECTED_MODES.indexOf(rule.on_uninspected),
    fields: placeWaf,
    print: printWaf,
  },
  redirect: {
    ...PLAIN,
    action: ({ targets, target_mode = REDIRECT_TARGET_MODES[0] }) =>
      targets === undefined ? REDIRECT_TARGET_MODES.indexOf(target_mode) : REDIRECT_LISTED,
    fields: (draft, { status_code, target, preserve_query, preserve_path, target_mode, targets }) => {
      if (target_mode === 'captures') draft.recent = true;
      const preserved = [preserve_query ? 1 : 0, preserve_path ? 1 : 0];
      const place = targets === undefined ? placeString(draft.strings, target) : placeList(draft, targets);
      return placeWords(draft.words, [status_code, place, ...preserved]);
    },
    print: printRedirect,
  },
  captcha: {
    ...PLAIN,
    fields: ({ words }, { ttl_sec }) => placeWords(words, [ttl_sec]),
    print: (rule) => ({ ttl_sec: wordOf(rule, CAPTCHA_FIELDS.ttl) }),
  },
  rewrite: {
    ...PLAIN,
    action: (rule) => REWRITE_QUERY_MODES.indexOf(rule.query_mode),
    fields: ({ words, strings }, { path_target, query_target, path_match_type }) => {
      const texts = [placeString(strings, path_target), placeString(strings, query_target)];
      return placeWords(words, [...texts, path_match_type === 'regex' ? 1 : 0]);
    },
    print: (rule) => ({
      path_target: textOf(rule, REWRITE_FIELDS.target),
      query_mode: REWRITE_QUERY_MODES[rule.action],
      query_target: textOf(rule, REWRITE_FIELDS.query),
    }),
  },
  cache: {
    ...PLAIN,
    action: (rule) => CACHE_MODES.indexOf(rule.mode),
    // Include entries must match both forms of a path with `;params` (semantics §1.1).
    flags: () => FLAG.bothForms,
    fields: placeCache,
    print: printCache,
  },
  origin_route: {
    ...PLAIN,
    fields: ({ words, strings }, { address, port, scheme, host_header }) =>
      placeWords(words, [
        placeString(strings, address),
        ...portAndScheme(port, scheme),
        placeString(strings, host_header),
      ]),
    print: (rule) => ({
      origin: `${ORIGIN_SCHEMES[wordOf(rule, ROUTE_FIELDS.scheme)]}://${textOf(rule, ROUTE_FIELDS.address)}:${wordOf(rule, ROUTE_FIELDS.port)}`,
      host_header: textOf(rule, ROUTE_FIELDS.hostHeader),
    }),
  },
  origin_pool: { ...PLAIN, fields: placePool, print: printPool },
  error_page: {
    ...PLAIN,
    action: (rule) => ERROR_PAGE_MODES.indexOf(rule.mode),
    fields: placePages,
    print: (rule) => ({
      mode: ERROR_PAGE_MODES[rule.action],
      codes: listAt(rule.plan, rule.at + PAGE_FIELDS.count),
      content: printPages(rule),
    }),
  },
  headers: {
    ...PLAIN,
    fields: (draft, rule) => placeChanges(draft, headerEntries(rule)),
    print: ({ plan, at }) => printChanges(plan, at),
  },
};

/** How a rule is compiled. */
export function compilerOf({ type }: Rule): TypeCompiler<Rule> {
  return TYPES[type] as TypeCompiler<Rule>;
}

/** What the rule of a row has besides its filters. */
export function printFields(plan: Plan, type: RuleType, row: Uint32Array): Printed {
  const action = row[SLOT.flags]! >>> FLAG_ACTION_SHIFT;
  return TYPES[type].print({ plan, row, at: row[SLOT.fields]!, action });
}

// Fields as words.

/** The number of a port, which the scheme implies if it is `null`, and that of the scheme. */
function portAndScheme(port: number | null, scheme: OriginScheme): readonly [number, number] {
  const number = ORIGIN_SCHEMES.indexOf(scheme);
  return [port ?? DEFAULT_PORTS[number]!, number];
}

/** The fields of a rate limit. A rule without what version 5 added has the words of earlier versions. */
function placeRate(draft: PlanDraft, rule: RateLimitRule): number {
  const { limit, burst, window_sec, key_by, key_parts, count_statuses, headers } = rule;
  let options = key_by === 'ip_path' ? RATE_OPTIONS.perPath : 0;
  const counted = [limit, burst, window_sec];
  if (headers === true) options |= RATE_OPTIONS.headers;
  if (key_parts === undefined && count_statuses === undefined) {
    draft.recent ||= headers === true;
    return placeWords(draft.words, [...counted, options]);
  }
  draft.recent = true;
  const parts = key_parts === undefined ? NONE : placeParts(draft, key_parts);
  const statuses =
    count_statuses === undefined ? NONE : placeWords(draft.words, [count_statuses.length, ...count_statuses]);
  return placeWords(draft.words, [...counted, options | RATE_OPTIONS.extended, parts, statuses]);
}

/** The parts of a key: their count, then a row (`RATE_PART`) each. */
function placeParts(draft: PlanDraft, parts: readonly string[]): number {
  const rows = parts.flatMap((part) => {
    const [kind = '', ...name] = part.split(':');
    const number = RATE_PARTS.indexOf(kind as RatePart);
    if (kind === 'ip' || kind === 'path') return [number, NONE];
    return [number, placeSource(draft, { kind: kind as SourceKind, name: name.join(':') })];
  });
  return placeWords(draft.words, [parts.length, ...rows]);
}

function placeWaf(draft: PlanDraft, rule: WafRule): number {
  const excludes = rule.rule_excludes.map((text) => placeString(draft.strings, text));
  const exclusions = placeExclusions(draft, rule);
  const settings = [rule.paranoia, rule.threshold, rule.body_cap_kb, exclusions];
  return placeWords(draft.words, [...settings, excludes.length, ...excludes]);
}

/** The exclusions of a waf rule: their count, then a row of id, tag, target and path pattern each. */
function placeExclusions(draft: PlanDraft, rule: WafRule): number {
  const rows = rule.exclusions.flatMap(({ id, tag, target, path }) => [
    id ?? NONE,
    placeString(draft.strings, tag),
    placeString(draft.strings, target),
    placePattern(draft.patterns, 'path_wildcard', path),
  ]);
  return placeWords(draft.words, [rule.exclusions.length, ...rows]);
}

/** The fields of a cache rule. A lifetime is stored as seconds + 1, so that 0 is `null` (the origin's own). */
function placeCache(draft: PlanDraft, rule: CacheRule): number {
  const ttl = (seconds: number | null): number => (seconds === null ? 0 : seconds + 1);
  // Names are compared decoded: `a%62` and `ab` are one parameter.
  const params = rule.query_params.map((name) => placeString(draft.strings, decodeEscapes(name)));
  const mode = CACHE_QUERY_MODES.indexOf(rule.query_mode);
  const lifetimes = [ttl(rule.edge_ttl_sec), ttl(rule.browser_ttl_sec)];
  return placeWords(draft.words, [...lifetimes, mode, params.length, ...params]);
}

/** The fields of an origin pool: a head of four words, then a row (`POOL_ORIGIN`) for each origin. */
function placePool(draft: PlanDraft, rule: OriginPoolRule): number {
  const rows = rule.origins.flatMap((origin) => {
    const nodes = placeWords(draft.words, [origin.node_ids.length, ...origin.node_ids]);
    const address = placeString(draft.strings, origin.address);
    return [address, ...portAndScheme(origin.port, origin.scheme), origin.weight, nodes];
  });
  const hostHeader = placeString(draft.strings, rule.host_header);
  const head = [LB_TYPES.indexOf(rule.lb_type), hostHeader, placeHealth(draft, rule), rule.origins.length];
  const { unhealthy_threshold, eject_sec } = rule.health_check;
  const ejection = draft.ejections ? [unhealthy_threshold, eject_sec] : [];
  return placeWords(draft.words, [...head, ...rows, ...ejection]);
}

/** Whether a rule is a pool without probes that ejects origins otherwise than `DEFAULT_EJECTION`. */
export function hasOwnEjection(rule: Rule): boolean {
  if (rule.type !== 'origin_pool' || rule.health_check.enabled) return false;
  const { unhealthy_threshold, eject_sec } = rule.health_check;
  return unhealthy_threshold !== DEFAULT_EJECTION.failures || eject_sec !== DEFAULT_EJECTION.seconds;
}

/** The settings of the active health check (`POOL_HEALTH`); NONE if it is switched off. */
function placeHealth(draft: PlanDraft, { health_check: check }: OriginPoolRule): number {
  if (!check.enabled) return NONE;
  return placeWords(draft.words, [
    placeString(draft.strings, check.path),
    placeString(draft.strings, check.host),
    check.interval_sec,
    check.timeout_sec,
    check.unhealthy_threshold,
    check.healthy_threshold,
    check.eject_sec,
  ]);
}

/**
 * The fields of an error_page rule: a counted list of statuses, then the count of pages, then pairs of status (0: all
 * others) and string number.
 */
function placePages(draft: PlanDraft, rule: ErrorPageRule): number {
  const pages = Object.entries(rule.content).map(([code, html]) => [
    Number(code),
    placeString(draft.strings, html),
  ]);
  return placeWords(draft.words, [rule.codes.length, ...rule.codes, pages.length, ...pages.flat()]);
}

// Words as printed fields.

/** The word at an offset of the type's own fields. */
function wordOf({ plan, at }: RuleWords, offset: number): number {
  return plan.words[at + offset]!;
}

function textOf(rule: RuleWords, offset: number): string {
  return decodeString(rule.plan, wordOf(rule, offset));
}

/** What identifies a long text: its octets in UTF-8, and their XXH32. */
function printText(text: string): string {
  const octets = utf8Bytes(text);
  return `${octets.length} octets, XXH32 ${xxhash32(octets).toString(16).padStart(8, '0')}`;
}

/** The lists are filters, which are in `kinds`. */
function printFingerprint({ plan, row, action }: RuleWords): Printed {
  const kinds = row[SLOT.kinds]!;
  const ja4h = kinds + 1 + plan.words[kinds]!;
  return {
    action: FINGERPRINT_ACTIONS[action],
    match_ja4: textsAt(plan, kinds),
    match_ja4h: textsAt(plan, ja4h),
  };
}

function printBotRoute(rule: RuleWords): Printed {
  const { plan, row, action } = rule;
  const scheme = ORIGIN_SCHEMES[wordOf(rule, BOT_FIELDS.scheme)];
  return {
    action: BOT_ACTIONS[action],
    bot_kinds: listAt(plan, row[SLOT.kinds]! + 1).map((kind) => BOT_KINDS[kind] ?? '*'),
    require_verified: (row[SLOT.flags]! & FLAG.requireVerified) !== 0,
    status: wordOf(rule, BOT_FIELDS.status),
    body: printText(textOf(rule, BOT_FIELDS.body)),
    alt: `${scheme}://${textOf(rule, BOT_FIELDS.dest)}:${wordOf(rule, BOT_FIELDS.port)}`,
  };
}

function printRateLimit(rule: RuleWords): Printed {
  const options = wordOf(rule, RATE_FIELDS.options);
  return {
    limit: wordOf(rule, RATE_FIELDS.limit),
    burst: wordOf(rule, RATE_FIELDS.burst),
    window_sec: wordOf(rule, RATE_FIELDS.window),
    key_by: (options & RATE_OPTIONS.perPath) !== 0 ? 'ip_path' : 'ip',
    on_breach: BREACH_ACTIONS[rule.action],
    ...((options & RATE_OPTIONS.extended) !== 0 ? printExtended(rule) : {}),
    ...((options & RATE_OPTIONS.headers) !== 0 ? { headers: true } : {}),
  };
}

/** The fields of a rate limit that need the words of version 5. */
function printExtended(rule: RuleWords): Printed {
  const statuses = wordOf(rule, RATE_FIELDS.statuses);
  return {
    ...(wordOf(rule, RATE_FIELDS.parts) === NONE ? {} : { key_parts: printParts(rule) }),
    ...(statuses === NONE ? {} : { count_statuses: listAt(rule.plan, statuses) }),
  };
}

/** The parts of a key as the customer wrote them. */
function printParts({ plan, at }: RuleWords): readonly string[] {
  const rows = plan.words[at + RATE_FIELDS.parts]!;
  return Array.from({ length: plan.words[rows]! }, (_, index) => {
    const row = rows + 1 + index * RATE_PART.size;
    const kind = RATE_PARTS[plan.words[row + RATE_PART.kind]!]!;
    const source = plan.words[row + RATE_PART.source]! * VALUE_SOURCE.size;
    const name = plan.valueSources[source + VALUE_SOURCE.name] ?? 0;
    return name === 0 ? kind : `${kind}:${decodeString(plan, name)}`;
  });
}

function printWaf(rule: RuleWords): Printed {
  return {
    paranoia: wordOf(rule, WAF_FIELDS.paranoia),
    threshold: wordOf(rule, WAF_FIELDS.threshold),
    body_cap_kb: wordOf(rule, WAF_FIELDS.bodyCap),
    rule_excludes: textsAt(rule.plan, rule.at + WAF_FIELDS.excludes),
    exclusions: printExclusions(rule.plan, wordOf(rule, WAF_FIELDS.exclusions)),
    on_uninspected: UNINSPECTED_MODES[rule.action],
  };
}

function printRedirect(rule: RuleWords): Printed {
  return {
    status_code: wordOf(rule, REDIRECT_FIELDS.status),
    ...printTarget(rule),
    preserve_query: wordOf(rule, REDIRECT_FIELDS.preserveQuery) === 1,
    preserve_path: wordOf(rule, REDIRECT_FIELDS.preservePath) === 1,
    ...(rule.action === 0 || rule.action === REDIRECT_LISTED
      ? {}
      : { target_mode: REDIRECT_TARGET_MODES[rule.action] }),
  };
}

function printTarget(rule: RuleWords): Printed {
  if (rule.action !== REDIRECT_LISTED) return { target: textOf(rule, REDIRECT_FIELDS.target) };
  const { plan } = rule;
  const list = wordOf(rule, REDIRECT_FIELDS.target) * LIST.size;
  return { targets: `@${decodeString(plan, plan.lists[list + LIST.name]!)}` };
}

function printCache(rule: RuleWords): Printed {
  return {
    mode: CACHE_MODES[rule.action],
    edge_ttl_sec: lifetime(wordOf(rule, CACHE_FIELDS.edgeTtl)),
    browser_ttl_sec: lifetime(wordOf(rule, CACHE_FIELDS.browserTtl)),
    query_mode: CACHE_QUERY_MODES[wordOf(rule, CACHE_FIELDS.queryMode)],
    query_params: textsAt(rule.plan, rule.at + CACHE_FIELDS.params),
  };
}

/** Seconds; 0 is stored for `null`, else one more than the value. */
function lifetime(stored: number): number | null {
  return stored === 0 ? null : stored - 1;
}

/** The pages by status code; `0` is the page of all others. */
function printPages({ plan, at }: RuleWords): Printed {
  const { words } = plan;
  const from = at + PAGE_FIELDS.codes + words[at + PAGE_FIELDS.count]!;
  const pages = Array.from({ length: words[from]! }, (_, index) => {
    const row = from + 1 + index * 2;
    return [String(words[row]), printText(decodeString(plan, words[row + 1]!))];
  });
  return Object.fromEntries(pages);
}

function printExclusions(plan: Plan, at: number): readonly Printed[] {
  const { words, patterns } = plan;
  return Array.from({ length: words[at]! }, (_, index) => {
    const row = at + 1 + index * WAF_EXCLUSION.size;
    const id = words[row + WAF_EXCLUSION.id]!;
    const path = patterns[words[row + WAF_EXCLUSION.path]! * PATTERN.size + PATTERN.source]!;
    return {
      id: id === NONE ? null : id,
      tag: decodeString(plan, words[row + WAF_EXCLUSION.tag]!),
      target: decodeString(plan, words[row + WAF_EXCLUSION.target]!),
      path: decodeString(plan, path),
    };
  });
}

function printHealth(plan: Plan, at: number): Printed | null {
  if (at === NONE) return null;
  const { words } = plan;
  return {
    path: decodeString(plan, words[at + POOL_HEALTH.path]!),
    host: decodeString(plan, words[at + POOL_HEALTH.host]!),
    interval_sec: words[at + POOL_HEALTH.interval],
    timeout_sec: words[at + POOL_HEALTH.timeout],
    unhealthy_threshold: words[at + POOL_HEALTH.unhealthy],
    healthy_threshold: words[at + POOL_HEALTH.healthy],
    eject_sec: words[at + POOL_HEALTH.eject],
  };
}

/** The row after a pool's origins, in plans that have these. */
function printEjection({ meta, words }: Plan, at: number): Printed {
  if ((meta[META.switches]! & EJECTIONS) === 0) return {};
  const [failures, seconds] = [words[at + POOL_EJECTION.failures], words[at + POOL_EJECTION.seconds]];
  return { ejection: { failures, seconds } };
}

function printPool({ plan, at }: RuleWords): Printed {
  const { words } = plan;
  const origins = Array.from({ length: words[at + POOL_FIELDS.count]! }, (_, index) => {
    const row = at + POOL_FIELDS.origins + index * POOL_ORIGIN.size;
    const scheme = ORIGIN_SCHEMES[words[row + POOL_ORIGIN.scheme]!];
    const address = decodeString(plan, words[row + POOL_ORIGIN.address]!);
    return {
      origin: `${scheme}://${address}:${words[row + POOL_ORIGIN.port]}`,
      weight: words[row + POOL_ORIGIN.weight],
      node_ids: listAt(plan, words[row + POOL_ORIGIN.nodes]!),
    };
  });
  return {
    lb_type: LB_TYPES[words[at + POOL_FIELDS.lbType]!],
    host_header: decodeString(plan, words[at + POOL_FIELDS.hostHeader]!),
    health_check: printHealth(plan, words[at + POOL_FIELDS.health]!),
    ...printEjection(plan, at + POOL_FIELDS.origins + origins.length * POOL_ORIGIN.size),
    origins,
  };
}
