/** A plan in its printed form: JSON that a person or a diff can read. Nothing ever reads it back. */
import { unreachable } from '../base/assert.ts';
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
} from '../base/vocabulary.ts';
import {
  BOT_FIELDS,
  CACHE_FIELDS,
  CAPTCHA_FIELDS,
  PAGE_FIELDS,
  POOL_FIELDS,
  POOL_ORIGIN,
  RATE_FIELDS,
  REDIRECT_FIELDS,
  REWRITE_FIELDS,
  ROUTE_FIELDS,
  WAF_FIELDS,
} from './fields.ts';
import {
  COUNTRIES,
  FILTER,
  FLAG,
  FLAG_ACTION_SHIFT,
  GROUP,
  META,
  NODE,
  NONE,
  PATTERN,
  PATTERN_KIND,
  PLAN_VERSION,
  type Plan,
  RECORD,
  SECTIONS,
  SLOT,
} from './layout.ts';
import type { OpenedPlan } from './open.ts';
import { decodeString } from './strings.ts';

type Printed = Readonly<Record<string, unknown>>;

/** The plan as JSON-safe data: the domain, its hosts, every rule in evaluation order, every index with its keys. */
export function printPlan({ plan, revision }: OpenedPlan): Printed {
  const { meta } = plan;
  const until = meta[META.developerHigh]! * 2 ** 32 + meta[META.developerLow]!;
  const slots = Array.from({ length: meta[META.slots]! }, (_, slot) => printRule(plan, slot));
  return {
    format: 'edgeplan.plan/v1',
    version: PLAN_VERSION,
    revision,
    domain: {
      name: decodeString(plan, meta[META.domain]!),
      status: DOMAIN_STATUSES[meta[META.status]!],
      suspended: meta[META.suspended] === 1,
      developer_mode_until: until === 0 ? null : new Date(until).toISOString(),
    },
    hosts: printHosts(plan),
    rules: slots,
    indexes: printIndexes(plan),
    octets: Object.fromEntries(SECTIONS.map(({ name }) => [name, plan[name].byteLength])),
  };
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

/** `type/id` of a slot. */
function slotName(plan: Plan, slot: number): string {
  const row = slot * SLOT.size;
  return `${RULE_TYPES[plan.slots[row + SLOT.flags]! & FLAG.type]}/${plan.slots[row + SLOT.id]}`;
}

function printRule(plan: Plan, slot: number): Printed {
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const flags = row[SLOT.flags]!;
  const type = RULE_TYPES[flags & FLAG.type]!;
  return {
    type,
    id: row[SLOT.id],
    priority: row[SLOT.priority],
    mode: (flags & FLAG.dryRun) === 0 ? 'enforce' : 'dry_run',
    enabled: (flags & FLAG.enabled) !== 0,
    scope:
      row[SLOT.scope] === NONE ? null : listAt(plan, row[SLOT.scope]!).map((group) => groupName(plan, group)),
    host: printFilter(plan, row[SLOT.host]!),
    path: printFilter(plan, row[SLOT.path]!),
    ...(row[SLOT.countries] === NONE
      ? {}
      : { countries: listAt(plan, row[SLOT.countries]!).map(countryText) }),
    ...(row[SLOT.addresses] === NONE
      ? {}
      : { addresses: plan.words[row[SLOT.addresses]!]! + plan.words[row[SLOT.addresses]! + 1]! }),
    ...printFields(plan, type, row),
  };
}

function listAt(plan: Plan, offset: number): readonly number[] {
  return [...plan.words.subarray(offset + 1, offset + 1 + plan.words[offset]!)];
}

function groupName(plan: Plan, group: number): string {
  const offset = plan.words[plan.meta[META.groups]! + group]!;
  return decodeString(plan, plan.words[offset + GROUP.records + RECORD.name]!);
}

function countryText(number: number): string {
  return String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26));
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
      return { mode: ERROR_PAGE_MODES[action], codes: listAt(plan, at + PAGE_FIELDS.count) };
    default:
      return unreachable(type);
  }
}

function lifetime(stored: number): number | null {
  return stored === 0 ? null : stored - 1;
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
    origins,
  };
}

/** Each index as `key → rules filed under it`. */
function printIndexes(plan: Plan): Printed {
  const { meta, words } = plan;
  const rows = (postings: number, names: readonly string[]): Printed =>
    postings === NONE
      ? {}
      : Object.fromEntries(
          names.flatMap((name, index) => {
            const posting = words[postings + index]!;
            return posting === NONE ? [] : [[name, printPosting(plan, posting)]];
          }),
        );
  const countries = Array.from({ length: COUNTRIES }, (_, number) => countryText(number));
  const always = meta[META.always]!;
  return {
    path: printTree(plan, meta[META.pathTree]!),
    path_suffix_reversed: printTree(plan, meta[META.suffixTree]!),
    host_reversed: printTree(plan, meta[META.hostTree]!),
    ja4: printTree(plan, meta[META.ja4Tree]!),
    ja4h: printTree(plan, meta[META.ja4hTree]!),
    inner_literals: meta[META.inner] === 1 ? plan.literals[1] : 0,
    address_boundaries: { ipv4: plan.cidr4.length / 2, ipv6: plan.cidr6.length / 5 },
    country: rows(meta[META.countries]!, countries),
    bot: rows(meta[META.bots]!, [...BOT_KINDS, 'any other']),
    always: always === NONE ? [] : printPosting(plan, always),
  };
}

function printPosting(plan: Plan, posting: number): readonly string[] {
  const start = plan.postings[posting * 2]!;
  const slots = plan.postingSlots.subarray(start, start + plan.postings[posting * 2 + 1]!);
  return [...slots].map((slot) => slotName(plan, slot));
}

/** A tree as its literals; one that others may follow ends in `*`. */
function printTree(plan: Plan, root: number): Printed {
  if (root === NONE) return {};
  const found: Record<string, readonly string[]> = {};
  const pending = [{ node: root, text: '' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const row = next.node * NODE.size;
    const label = plan.labels
      .subarray(plan.nodes[row + NODE.label]!)
      .subarray(0, plan.nodes[row + NODE.length]!);
    const text = next.text + String.fromCharCode(...label);
    const exact = plan.nodes[row + NODE.exact]!;
    const prefix = plan.nodes[row + NODE.prefix]!;
    if (exact !== NONE) found[text] = printPosting(plan, exact);
    if (prefix !== NONE) found[`${text}*`] = printPosting(plan, prefix);
    for (let child = 0; child < plan.nodes[row + NODE.count]!; child++) {
      pending.push({ node: plan.nodes[row + NODE.children]! + child, text });
    }
  }
  return found;
}
