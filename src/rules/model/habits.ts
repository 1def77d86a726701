/**
 * Names that people bring from other systems (nginx, Cloudflare, AWS WAF, Envoy, Terraform), each with what to write
 * here. A closed list: it serves messages only, and no name in it is accepted.
 */
import { parseAsn } from '../../base/addresses/asn.ts';
import { RULE_TYPES, type RuleType, TYPE_ALIASES } from '../../base/vocabulary/vocabulary.ts';

/** The rule type that another system's name means; `null`: none. */
export function habitualType(name: string): RuleType | null {
  const known = name.toLowerCase();
  return RULE_TYPES.find((type) => (TYPE_ALIASES[type] as readonly string[]).includes(known)) ?? null;
}

/** What helps against a habit. */
export interface HabitRemedy {
  readonly remedy: string;
  /** The field that is meant; absent: the object has no such field. */
  readonly field?: string;
}

/** One habit: the names, and what helps where an object has (or lacks) certain fields. */
interface Habit {
  readonly names: readonly string[];
  /** The remedy for an object with these fields; `null`: this habit does not fit the object. */
  readonly remedy: (known: readonly string[], value: unknown) => HabitRemedy | null;
}

/** `write …` with the value as it was given, if it is a short text. */
function write(field: string, value: unknown): HabitRemedy {
  const short = typeof value === 'string' && /^[\u0021-\u005f\u0061-\u007e]{1,60}$/.test(value);
  return { field, remedy: short ? `write \`${field}: [${JSON.stringify(value)}]\`` : `write \`${field}\`` };
}

/** A remedy for a rule where no field of it is meant. */
function inRules(remedy: string): Habit['remedy'] {
  return (known) => (isRule(known) ? { remedy } : null);
}

/** A habit for one field, by whatever name: the remedy names it if the object has it. */
function renamed(field: string, names: readonly string[]): Habit {
  return {
    names,
    remedy: (known) => (known.includes(field) ? { field, remedy: `write \`${field}\`` } : null),
  };
}

/** A habit for one list, by whatever name: the remedy has the value that was given as its entry. */
function listed(field: string, names: readonly string[]): Habit {
  return { names, remedy: (known, value) => (known.includes(field) ? write(field, value) : null) };
}

/** Whether the object is a rule. */
function isRule(known: readonly string[]): boolean {
  return known.includes('action_mode');
}

/** Whether the object is `conditions`. */
function isConditions(known: readonly string[]): boolean {
  return known.includes('verified_bot');
}

/** The remedy for a member of conditions by another name. */
function included(field: string, value: unknown): HabitRemedy {
  const { remedy } = write('includes', value);
  return {
    field,
    remedy: remedy.replace(/`includes(.*)`$/, (_, given) => `\`${field}: { includes${given || ': […]'} }\``),
  };
}

/** The remedy for `action`: the type decides what a rule does. */
function actionRemedy(known: readonly string[], value: unknown): HabitRemedy | null {
  if (!isRule(known)) return null;
  if (value === 'log' || value === 'monitor' || value === 'count')
    return { remedy: "write `action_mode: dry_run`, which records the rule's matches and changes nothing" };
  const type = typeof value === 'string' ? habitualType(value) : null;
  const start = 'the type of a rule says what it does';
  if (type !== null) return { remedy: `${start}: write \`type: ${type}\`` };
  return { remedy: `${start}; \`action_mode: dry_run\` only records it` };
}

/** The remedy for the name of a rule: files have keys, the API has none. */
function nameRemedy(known: readonly string[], value: unknown): HabitRemedy | null {
  if (!known.includes('key')) return null;
  const key =
    typeof value === 'string'
      ? value
          .toLowerCase()
          .replace(/[^a-z0-9]+/g, '-')
          .slice(0, 60)
      : '';
  const trimmed = key.replace(/^-|-$/g, '');
  return { field: 'key', remedy: trimmed === '' ? 'write `key`' : `write \`key: ${trimmed}\`` };
}

/** The remedy for addresses by another name. */
function addressRemedy(known: readonly string[], value: unknown): HabitRemedy | null {
  if (isConditions(known)) return included('ips', value);
  if (known.includes('ips')) return write('ips', value);
  if (!isRule(known) || known.includes('address')) return null;
  return inConditions('{ ips: { includes: […] } }');
}

/** The remedy for paths by another name. */
function pathRemedy(known: readonly string[], value: unknown): HabitRemedy | null {
  if (known.includes('path_includes')) return write('path_includes', value);
  return isRule(known) ? { remedy: 'rules of this type match hosts, not paths' } : null;
}

/** The remedy for countries by another name. */
function countryRemedy(known: readonly string[], value: unknown): HabitRemedy | null {
  if (isConditions(known)) return included('countries', value);
  if (known.includes('countries')) return write('countries', value);
  return isRule(known) ? inConditions('{ countries: { includes: [DE] } }') : null;
}

/** The remedy for an allowlist by another name. */
function exceptRemedy(
  list: 'ips' | 'countries',
  type: 'ip_match_type' | 'country_match_type',
): Habit['remedy'] {
  const remedy = `list them in \`${list}\`, with \`${type}: exclude\``;
  return (known) => (known.includes(list) ? { field: list, remedy } : null);
}

/** The fields of a record. */
function isRecord(known: readonly string[]): boolean {
  return known.includes('mx_priority');
}

/** A remedy that names the field `conditions`. @param value its value as flow YAML */
function inConditions(value: string): HabitRemedy {
  return { remedy: `write \`conditions: ${value}\`` };
}

/** A habit for a condition of rules. @param example the value of `conditions`, or how it follows from the value given */
function conditions(names: readonly string[], example: string | ((value: unknown) => string)): Habit {
  return {
    names,
    remedy: (known, value) =>
      known.includes('conditions')
        ? inConditions(typeof example === 'string' ? example : example(value))
        : null,
  };
}

const HEADER_EXAMPLE = '{ headers: [{ name: x-api-version, op: equals, values: ["1"] }] }';

/** The methods that were given, in capital letters. */
function methodsOf(value: unknown): string {
  const given = (Array.isArray(value) ? value : [value]).filter(
    (one): one is string => typeof one === 'string' && /^[A-Za-z]{1,20}$/.test(one),
  );
  return `{ methods: [${given.length === 0 ? 'POST' : given.map((one) => one.toUpperCase()).join(', ')}] }`;
}

/** The numbers that were given, also with `AS` before them. */
function asnsOf(value: unknown): string {
  const given = (Array.isArray(value) ? value : [value]).flatMap((one) => parseAsn(String(one)) ?? []);
  return `{ asns: { includes: [${given.length === 0 ? '64496' : given.join(', ')}] } }`;
}

/** Every habit; of several with one name, the first that fits the object counts. */
const HABITS: readonly Habit[] = [
  { names: ['action', 'then', 'effect'], remedy: actionRemedy },
  conditions(['method', 'methods', 'verb', 'http_method', 'http_methods'], methodsOf),
  conditions(['scheme', 'schemes', 'protocol'], '{ schemes: [https] }'),
  conditions(['header', 'headers', 'http_header', 'http_headers'], HEADER_EXAMPLE),
  conditions(['referer', 'referrer'], '{ headers: [{ name: referer, op: prefix, values: ["https://…"] }] }'),
  conditions(['cookie', 'cookies'], '{ cookies: [{ name: …, op: present }] }'),
  conditions(
    ['query', 'query_string', 'query_param', 'query_params', 'args', 'arg', 'params'],
    '{ query: [{ name: …, op: present }] }',
  ),
  conditions(['asn', 'asns', 'as_number', 'as_numbers', 'asnum', 'ip_asn'], asnsOf),
  conditions(['tag', 'tags'], '{ tags: { includes: [bot_route/7] } }'),
  conditions(['verified_bot', 'verified_bots', 'verified'], '{ verified_bot: true }'),
  renamed('user_agents', ['user_agent', 'ua', 'agent', 'agents']),
  renamed('bot_kinds', ['bots', 'bot', 'kinds', 'user_agent', 'user_agents', 'ua']),
  conditions(['user_agent', 'user_agents', 'ua'], '{ user_agents: { includes: ["*curl*"] } }'),
  conditions(['bot', 'bots', 'bot_kind', 'bot_kinds'], '{ bot_kinds: { includes: ["*"] } }'),
  renamed('status_code', ['status']),
  {
    names: ['disabled', 'disable', 'active', 'inactive', 'enable', 'status', 'on', 'off', 'paused'],
    remedy: inRules('write `enabled: false` for a rule that matches no request'),
  },
  {
    names: ['dry_run', 'dryrun', 'log_only', 'monitor', 'test_mode', 'shadow'],
    remedy: inRules('write `action_mode: dry_run`'),
  },
  {
    names: ['mode'],
    remedy: inRules('write `action_mode: enforce` or `action_mode: dry_run`'),
  },

  conditions(
    ['if', 'when', 'condition', 'expression', 'filter', 'filters', 'matches'],
    '{ methods: [POST] }',
  ),
  {
    names: ['match'],
    remedy: (known, value) =>
      known.includes('conditions') && typeof value === 'object' ? inConditions('{ methods: [POST] }') : null,
  },
  renamed('target', ['to', 'url', 'location', 'destination', 'redirect_to', 'redirect_url']),
  {
    names: [
      'path',
      'paths',
      'uri',
      'uris',
      'path_pattern',
      'path_prefix',
      'path_includes',
      'path_excludes',
      'path_match_type',
      'location',
      'match',
    ],
    remedy: pathRemedy,
  },
  {
    names: ['host', 'hosts', 'hostname', 'hostnames', 'server_name', 'domain', 'domains'],
    remedy: (known, value) => (known.includes('host_includes') ? write('host_includes', value) : null),
  },
  {
    names: [
      'ip',
      'ip_address',
      'ip_addresses',
      'address',
      'addresses',
      'cidr',
      'cidrs',
      'source_ip',
      'src_ip',
    ],
    remedy: addressRemedy,
  },
  {
    names: ['ip_excludes', 'ips_exclude', 'exclude_ips', 'allow', 'allow_ips', 'allowed_ips', 'except'],
    remedy: exceptRemedy('ips', 'ip_match_type'),
  },
  { names: ['country', 'country_code', 'country_codes', 'geo', 'geoip', 'region'], remedy: countryRemedy },
  {
    names: ['country_excludes', 'exclude_countries', 'allow_countries', 'allowed_countries'],
    remedy: exceptRemedy('countries', 'country_match_type'),
  },
  renamed('limit', ['requests', 'rate', 'max', 'max_requests', 'requests_per_period', 'threshold']),
  renamed('window_sec', ['window', 'window_seconds', 'period', 'per', 'interval', 'duration', 'seconds']),
  listed('match_ja4', ['ja4', 'fingerprint', 'fingerprints']),
  conditions(['ja4', 'fingerprint', 'fingerprints', 'match_ja4'], '{ ja4: { includes: ["t13d…"] } }'),
  listed('match_ja4h', ['ja4h']),
  renamed('key_by', ['key_type', 'by', 'characteristics', 'aggregate_by']),
  renamed('status_code', ['code', 'http_status']),
  renamed('ttl_sec', ['ttl', 'lifetime', 'expires']),
  renamed('edge_ttl_sec', ['ttl', 'max_age', 'expires', 'cache_ttl']),
  renamed('path_target', ['to', 'replacement', 'rewrite', 'target']),
  renamed('codes', ['statuses', 'status_codes', 'errors']),
  renamed('paranoia', ['level', 'paranoia_level', 'sensitivity']),
  renamed('address', ['upstream', 'backend', 'server', 'origin', 'url', 'destination', 'proxy_pass', 'ip']),
  renamed('origins', ['upstreams', 'backends', 'servers', 'members', 'targets']),
  renamed('lb_type', ['algorithm', 'policy', 'strategy', 'lb_policy']),
  renamed('destination', [
    'value',
    'content',
    'data',
    'rdata',
    'target',
    'origin',
    'upstream',
    'address',
    'ip',
  ]),
  renamed('timeout', ['timeout_sec', 'proxy_read_timeout']),
  renamed('mx_priority', ['priority', 'preference']),
  renamed('priority', ['order', 'position', 'precedence']),
  renamed('proxied', ['proxy', 'cdn', 'orange']),
  {
    names: ['ttl'],
    remedy: (known) => (isRecord(known) ? { remedy: 'records have no TTL of their own' } : null),
  },
  { names: ['name', 'title', 'label'], remedy: nameRemedy },
  {
    names: ['key'],
    remedy: inRules('only rules of an edge file have a `key`'),
  },
  {
    names: ['name', 'title', 'label', 'description', 'comment', 'note'],
    remedy: inRules('rules have no name or note of their own'),
  },
  renamed('domain', ['name', 'zone', 'site']),
];

/** What to write instead of an unknown field, given the fields of its object; `null`: no known habit. */
export function habitRemedy(name: string, known: readonly string[], value: unknown): HabitRemedy | null {
  const plain = name.toLowerCase().replaceAll('-', '_');
  for (const { names, remedy } of HABITS) {
    const found = names.includes(plain) ? remedy(known, value) : null;
    if (found !== null) return found;
  }
  return null;
}
