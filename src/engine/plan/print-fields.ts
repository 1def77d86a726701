/**
 * Prints the fields of each rule type other than its filters: one function per type, reading the words of the rule's
 * row.
 */
import { utf8Bytes } from '../../base/octets/octets.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import {
  BOT_ACTIONS,
  BOT_KINDS,
  BREACH_ACTIONS,
  CACHE_MODES,
  CACHE_QUERY_MODES,
  ERROR_PAGE_MODES,
  FINGERPRINT_ACTIONS,
  LB_TYPES,
  ORIGIN_SCHEMES,
  REWRITE_QUERY_MODES,
  type RuleType,
  UNINSPECTED_MODES,
} from '../../base/vocabulary/vocabulary.ts';
import {
  BOT_FIELDS,
  CACHE_FIELDS,
  CAPTCHA_FIELDS,
  decodeString,
  EJECTIONS,
  FLAG,
  FLAG_ACTION_SHIFT,
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
  REDIRECT_FIELDS,
  REWRITE_FIELDS,
  ROUTE_FIELDS,
  SLOT,
  WAF_EXCLUSION,
  WAF_FIELDS,
} from './layout.ts';

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

/** What the rule of a row has besides its filters. */
export function printFields(plan: Plan, type: RuleType, row: Uint32Array): Printed {
  const action = row[SLOT.flags]! >>> FLAG_ACTION_SHIFT;
  return PRINTERS[type]({ plan, row, at: row[SLOT.fields]!, action });
}

const PRINTERS: Readonly<Record<RuleType, (rule: RuleWords) => Printed>> = {
  drop: () => ({}),
  fingerprint: printFingerprint,
  bot_route: printBotRoute,
  rate_limit: printRateLimit,
  waf: printWaf,
  redirect: printRedirect,
  captcha: (rule) => ({ ttl_sec: wordOf(rule, CAPTCHA_FIELDS.ttl) }),
  rewrite: (rule) => ({
    path_target: textOf(rule, REWRITE_FIELDS.target),
    query_mode: REWRITE_QUERY_MODES[rule.action],
    query_target: textOf(rule, REWRITE_FIELDS.query),
  }),
  cache: printCache,
  origin_route: (rule) => ({
    origin: `${ORIGIN_SCHEMES[wordOf(rule, ROUTE_FIELDS.scheme)]}://${textOf(rule, ROUTE_FIELDS.address)}:${wordOf(rule, ROUTE_FIELDS.port)}`,
    host_header: textOf(rule, ROUTE_FIELDS.hostHeader),
  }),
  origin_pool: printPool,
  error_page: (rule) => ({
    mode: ERROR_PAGE_MODES[rule.action],
    codes: listAt(rule.plan, rule.at + PAGE_FIELDS.count),
    content: printPages(rule),
  }),
};

/** The word at an offset of the type's own fields. */
function wordOf({ plan, at }: RuleWords, offset: number): number {
  return plan.words[at + offset]!;
}

function textOf(rule: RuleWords, offset: number): string {
  return decodeString(rule.plan, wordOf(rule, offset));
}

function textsAt(plan: Plan, offset: number): readonly string[] {
  return listAt(plan, offset).map((number) => decodeString(plan, number));
}

/** The numbers of a list in `words`: their count at `offset`, then the numbers. */
export function listAt(plan: Plan, offset: number): readonly number[] {
  return [...plan.words.subarray(offset + 1, offset + 1 + plan.words[offset]!)];
}

/** What identifies a long text: its octets in UTF-8, and their XXH32. */
function printText(text: string): string {
  const octets = utf8Bytes(text);
  return `${octets.length} octets, XXH32 ${xxhash32(octets).toString(16).padStart(8, '0')}`;
}

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
  return {
    limit: wordOf(rule, RATE_FIELDS.limit),
    burst: wordOf(rule, RATE_FIELDS.burst),
    window_sec: wordOf(rule, RATE_FIELDS.window),
    key_by: wordOf(rule, RATE_FIELDS.perPath) === 1 ? 'ip_path' : 'ip',
    on_breach: BREACH_ACTIONS[rule.action],
  };
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
    target: textOf(rule, REDIRECT_FIELDS.target),
    preserve_query: wordOf(rule, REDIRECT_FIELDS.preserveQuery) === 1,
    preserve_path: wordOf(rule, REDIRECT_FIELDS.preservePath) === 1,
  };
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
