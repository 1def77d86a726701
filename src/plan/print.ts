/** A plan in its printed form: JSON that a person or a diff can read. Nothing ever reads it back. */
import { unreachable } from '../base/assert.ts';
import { formatIp } from '../base/ip.ts';
import { utf8Bytes } from '../base/octets.ts';
import {
  BOT_ACTIONS,
  BOT_KINDS,
  BREACH_ACTIONS,
  CACHE_MODES,
  CACHE_QUERY_MODES,
  DOMAIN_STATUSES,
  ERROR_PAGE_MODES,
  FINGERPRINT_ACTIONS,
  LB_TYPES,
  ORIGIN_SCHEMES,
  RECORD_SCHEMES,
  REWRITE_QUERY_MODES,
  RULE_TYPES,
  type RuleType,
  UNINSPECTED_MODES,
} from '../base/vocabulary.ts';
import { xxhash32 } from '../base/xxhash32.ts';
import {
  BOT_FIELDS,
  CACHE_FIELDS,
  CAPTCHA_FIELDS,
  PAGE_FIELDS,
  POOL_FIELDS,
  POOL_HEALTH,
  POOL_ORIGIN,
  RATE_FIELDS,
  REDIRECT_FIELDS,
  REWRITE_FIELDS,
  ROUTE_FIELDS,
  WAF_EXCLUSION,
  WAF_FIELDS,
} from './fields.ts';
import {
  ADDRESSES,
  EDGE_SWITCH,
  FILTER,
  FLAG,
  FLAG_ACTION_SHIFT,
  GROUP,
  META,
  NONE,
  PATTERN,
  PATTERN_KIND,
  type Plan,
  RECORD,
  SECTIONS,
  SLOT,
} from './layout.ts';
import type { OpenedPlan } from './open.ts';
import { countryText, printIndexes } from './print-indexes.ts';
import { decodeString } from './strings.ts';

type Printed = Readonly<Record<string, unknown>>;

/** The plan as JSON-safe data: the domain, its hosts, every rule in evaluation order, every index with its keys. */
export function printPlan({ plan, revision, version }: OpenedPlan): Printed {
  const { meta } = plan;
  const until = meta[META.developerHigh]! * 2 ** 32 + meta[META.developerLow]!;
  const slots = Array.from({ length: meta[META.slots]! }, (_, slot) => printRule(plan, slot));
  return {
    format: 'edgeplan.plan/v1',
    version,
    revision,
    domain: {
      name: decodeString(plan, meta[META.domain]!),
      status: DOMAIN_STATUSES[meta[META.status]!],
      suspended: meta[META.suspended] === 1,
      developer_mode_until: until === 0 ? null : new Date(until).toISOString(),
      cache_cap_mb: meta[META.cacheCapMb],
      cache_l2_max_gb: meta[META.diskMaxGb],
      cache_l2_ttl_days: meta[META.diskTtlDays],
      ...printSwitches(meta[META.switches]!),
    },
    hosts: printHosts(plan),
    rules: slots,
    indexes: printIndexes(plan),
    octets: Object.fromEntries(SECTIONS.map(({ name }) => [name, plan[name].byteLength])),
  };
}

function printSwitches(bits: number): Printed {
  return Object.fromEntries(Object.entries(EDGE_SWITCH).map(([name, bit]) => [name, (bits & bit) !== 0]));
}

function printHosts(plan: Plan): readonly Printed[] {
  const { meta, words } = plan;
  return Array.from({ length: meta[META.groupCount]! }, (_, index) => {
    const group = words[meta[META.groups]! + index]!;
    const records = Array.from({ length: words[group + GROUP.count]! }, (_record, place) => {
      const row = group + GROUP.records + place * RECORD.size;
      return {
        id: words[row + RECORD.id],
        destination: decodeString(plan, words[row + RECORD.destination]!),
        port: words[row + RECORD.port] === 0 ? null : words[row + RECORD.port],
        scheme: RECORD_SCHEMES[words[row + RECORD.scheme]!],
        host_header: decodeString(plan, words[row + RECORD.hostHeader]!),
        timeout: words[row + RECORD.timeout] === 0 ? null : words[row + RECORD.timeout],
      };
    });
    const name = decodeString(plan, words[group + GROUP.records + RECORD.name]!);
    const captcha = words[group + GROUP.captcha]!;
    return { name, captcha_record: captcha === 0 ? null : captcha, records };
  });
}

function printRule(plan: Plan, slot: number): Printed {
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const flags = row[SLOT.flags]!;
  const type = RULE_TYPES[flags & FLAG.type]!;
  return {
    type,
    id: row[SLOT.id],
    ...printKey(plan, slot),
    priority: row[SLOT.priority],
    mode: (flags & FLAG.dryRun) === 0 ? 'enforce' : 'dry_run',
    enabled: (flags & FLAG.enabled) !== 0,
    scope:
      row[SLOT.scope] === NONE ? null : listAt(plan, row[SLOT.scope]!).map((group) => groupName(plan, group)),
    host: printFilter(plan, row[SLOT.host]!),
    path: printFilter(plan, row[SLOT.path]!),
    ...(row[SLOT.countries] === NONE
      ? {}
      : {
          country_match_type: (flags & FLAG.excludeCountries) === 0 ? 'include' : 'exclude',
          countries: listAt(plan, row[SLOT.countries]!).map(countryText),
        }),
    ...(row[SLOT.addresses] === NONE
      ? {}
      : {
          ip_match_type: (flags & FLAG.excludeAddresses) === 0 ? 'include' : 'exclude',
          ips: printAddresses(plan, row[SLOT.addresses]!),
        }),
    ...printFields(plan, type, row),
  };
}

/** What the rule goes by across plans, where that is not its id. */
function printKey(plan: Plan, slot: number): Printed {
  const key = plan.ruleKeys[slot] ?? 0;
  return key === 0 ? {} : { key: decodeString(plan, key) };
}

/** The entries of an address filter in the order in which they were listed. */
function printAddresses({ words }: Plan, at: number): readonly string[] {
  const listed: string[] = [];
  let from = at + ADDRESSES.entries;
  for (const [family, counted, size] of [
    [4, ADDRESSES.n4, 1],
    [6, ADDRESSES.n6, 4],
  ] as const) {
    const count = words[at + counted]!;
    const places = from + count * 2 * size;
    for (let entry = 0; entry < count; entry++) {
      const first = words.subarray(from + entry * 2 * size, from + (entry * 2 + 1) * size);
      const last = words.subarray(from + (entry * 2 + 1) * size, from + (entry + 1) * 2 * size);
      listed[words[places + entry]!] = printRange(family, first, last);
    }
    from = places + count;
  }
  return listed;
}

/** An address, a prefix, or `<first>-<last>`. */
function printRange(family: 4 | 6, first: Uint32Array, last: Uint32Array): string {
  const at = first.findIndex((word, index) => word !== last[index]);
  if (at < 0) return formatIp(family, first);
  const host = (first[at]! ^ last[at]!) >>> 0;
  const whole =
    (host & (host + 1)) === 0 &&
    (first[at]! & host) === 0 &&
    first.subarray(at + 1).every((word) => word === 0) &&
    last.subarray(at + 1).every((word) => word === NONE);
  return whole
    ? `${formatIp(family, first)}/${at * 32 + Math.clz32(host)}`
    : `${formatIp(family, first)}-${formatIp(family, last)}`;
}

/** What a long text is known by: how many octets of UTF-8 it has, and their XXH32. */
function printText(text: string): string {
  const octets = utf8Bytes(text);
  return `${octets.length} octets, XXH32 ${xxhash32(octets).toString(16).padStart(8, '0')}`;
}

function listAt(plan: Plan, offset: number): readonly number[] {
  return [...plan.words.subarray(offset + 1, offset + 1 + plan.words[offset]!)];
}

function groupName(plan: Plan, group: number): string {
  const offset = plan.words[plan.meta[META.groups]! + group]!;
  return decodeString(plan, plan.words[offset + GROUP.records + RECORD.name]!);
}

const KIND_NAMES = Object.fromEntries(Object.entries(PATTERN_KIND).map(([name, kind]) => [kind, name]));

function printFilter(plan: Plan, offset: number): Printed | null {
  if (offset === NONE) return null;
  const from = offset + FILTER.patterns;
  const middle = from + plan.words[offset + FILTER.includes]!;
  const end = middle + plan.words[offset + FILTER.excludes]!;
  const print = (pattern: number): Printed => ({
    kind: KIND_NAMES[plan.patterns[pattern * PATTERN.size + PATTERN.kind]!],
    source: decodeString(plan, plan.patterns[pattern * PATTERN.size + PATTERN.source]!),
  });
  return {
    includes: [...plan.words.subarray(from, middle)].map(print),
    excludes: [...plan.words.subarray(middle, end)].map(print),
  };
}

function printFields(plan: Plan, type: RuleType, row: Uint32Array): Printed {
  const { words } = plan;
  const at = row[SLOT.fields]!;
  const action = row[SLOT.flags]! >>> FLAG_ACTION_SHIFT;
  const text = (offset: number): string => decodeString(plan, words[at + offset]!);
  const texts = (offset: number): readonly string[] =>
    listAt(plan, at + offset).map((one) => decodeString(plan, one));
  switch (type) {
    case 'drop':
      return {};
    case 'fingerprint': {
      const kinds = row[SLOT.kinds]!;
      const ja4h = kinds + 1 + words[kinds]!;
      const list = (offset: number): readonly string[] =>
        listAt(plan, offset).map((one) => decodeString(plan, one));
      return { action: FINGERPRINT_ACTIONS[action], match_ja4: list(kinds), match_ja4h: list(ja4h) };
    }
    case 'bot_route':
      return {
        action: BOT_ACTIONS[action],
        bot_kinds: listAt(plan, row[SLOT.kinds]! + 1).map((kind) => BOT_KINDS[kind] ?? '*'),
        require_verified: (row[SLOT.flags]! & FLAG.requireVerified) !== 0,
        status: words[at + BOT_FIELDS.status],
        body: printText(text(BOT_FIELDS.body)),
        alt: `${ORIGIN_SCHEMES[words[at + BOT_FIELDS.scheme]!]}://${text(BOT_FIELDS.dest)}:${words[at + BOT_FIELDS.port]}`,
      };
    case 'rate_limit':
      return {
        limit: words[at + RATE_FIELDS.limit],
        burst: words[at + RATE_FIELDS.burst],
        window_sec: words[at + RATE_FIELDS.window],
        key_by: words[at + RATE_FIELDS.perPath] === 1 ? 'ip_path' : 'ip',
        on_breach: BREACH_ACTIONS[action],
      };
    case 'waf':
      return {
        paranoia: words[at + WAF_FIELDS.paranoia],
        threshold: words[at + WAF_FIELDS.threshold],
        body_cap_kb: words[at + WAF_FIELDS.bodyCap],
        rule_excludes: texts(WAF_FIELDS.excludes),
        exclusions: printExclusions(plan, words[at + WAF_FIELDS.exclusions]!),
        on_uninspected: UNINSPECTED_MODES[action],
      };
    case 'redirect':
      return {
        status_code: words[at + REDIRECT_FIELDS.status],
        target: text(REDIRECT_FIELDS.target),
        preserve_query: words[at + REDIRECT_FIELDS.preserveQuery] === 1,
        preserve_path: words[at + REDIRECT_FIELDS.preservePath] === 1,
      };
    case 'captcha':
      return { ttl_sec: words[at + CAPTCHA_FIELDS.ttl] };
    case 'rewrite':
      return {
        path_target: text(REWRITE_FIELDS.target),
        query_mode: REWRITE_QUERY_MODES[action],
        query_target: text(REWRITE_FIELDS.query),
      };
    case 'cache':
      return {
        mode: CACHE_MODES[action],
        edge_ttl_sec: lifetime(words[at + CACHE_FIELDS.edgeTtl]!),
        browser_ttl_sec: lifetime(words[at + CACHE_FIELDS.browserTtl]!),
        query_mode: CACHE_QUERY_MODES[words[at + CACHE_FIELDS.queryMode]!],
        query_params: texts(CACHE_FIELDS.params),
      };
    case 'origin_route':
      return {
        origin: `${ORIGIN_SCHEMES[words[at + ROUTE_FIELDS.scheme]!]}://${text(ROUTE_FIELDS.address)}:${words[at + ROUTE_FIELDS.port]}`,
        host_header: text(ROUTE_FIELDS.hostHeader),
      };
    case 'origin_pool':
      return printPool(plan, at);
    case 'error_page':
      return {
        mode: ERROR_PAGE_MODES[action],
        codes: listAt(plan, at + PAGE_FIELDS.count),
        content: printPages(plan, at),
      };
    default:
      return unreachable(type);
  }
}

/** The pages by status code, `0` for all others. */
function printPages(plan: Plan, at: number): Printed {
  const { words } = plan;
  const from = at + PAGE_FIELDS.codes + words[at + PAGE_FIELDS.count]!;
  const pages = Array.from({ length: words[from]! }, (_, index) => {
    const row = from + 1 + index * 2;
    return [String(words[row]), printText(decodeString(plan, words[row + 1]!))];
  });
  return Object.fromEntries(pages);
}

function lifetime(stored: number): number | null {
  return stored === 0 ? null : stored - 1;
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

function printPool(plan: Plan, at: number): Printed {
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
    origins,
  };
}
