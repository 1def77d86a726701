/**
 * What the workbench knows of each rule type besides its form: which of its lists a test covers, the mistakes an author might
 * make in its fields, what an enforced match does to the phases after it, and which facts a replay needs. Proofs, mutation,
 * rule tests and replay read it; what is said of all types alike is in their own files, of conditions in `rule-conditions.ts`.
 */
import { formatPath } from '../../base/diagnostics/diagnostic.ts';
import { hasDotSegment } from '../../base/paths/path.ts';
import {
  type Action,
  AUTH_REQUIREMENTS,
  BOT_ACTIONS,
  BREACH_ACTIONS,
  CACHE_MODES,
  DROP_STATUSES,
  FINGERPRINT_ACTIONS,
  REDIRECT_STATUSES,
  REDIRECT_TARGET_MODES,
  type RuleType,
  UNKNOWN_OPERATION_MODES,
  type ValueMember,
} from '../../base/vocabulary/vocabulary.ts';
import { REWRITE_FIELDS } from '../../engine/plan/layout.ts';
import { parseHeaderValue } from '../../rules/model/header-values.ts';
import { type HeaderEntry, headerEntries } from '../../rules/model/rules/headers.ts';
import type {
  BotRouteRule,
  CacheRule,
  DropRule,
  ErrorPageRule,
  GatewayRule,
  HeadersRule,
  OriginPoolRule,
  OriginRouteRule,
  RateLimitRule,
  RedirectRule,
  RewriteRule,
  Rule,
  WafRule,
} from '../../rules/model/types.ts';
import { type ReadValue, type ReplayFact, valueFacts } from './rule-conditions.ts';

/** What an enforced match of a rule does to the phases after it. */
export type RuleEnding =
  /** Ends the request. */
  | 'always'
  /** Ends the request, unless the location is the request's own URL. */
  | 'unless_own_url'
  /** Fixes the origin: redirect, rewrite, cache and origin rules are passed. */
  | 'pins'
  /** Depends on what is no property of the request: counters, scores, solved challenges. Or ends nothing. */
  | 'never';

/**
 * The part of a decision in which a rule acts: that of its type, but for tags of bots, origins, and `end`, which is what ends
 * a request without leaving it open.
 */
export type TypeComponent =
  | 'end'
  | 'bot_tag'
  | 'origin'
  | Exclude<RuleType, 'drop' | 'bot_route' | 'redirect' | 'origin_route' | 'origin_pool'>;

/** A value of a field, and what changes in words if the values do not say it. */
type Change = readonly [name: string, value: unknown, words?: string];
type Changes = readonly Change[];

/** A rule of a plan: the number of its action, and its own words (layout in `engine/plan/layout.ts`). */
export interface PlanRule {
  readonly action: number;
  word(offset: number): number;
  text(offset: number): string;
}

/** What is known of one type. */
interface KnownType<R> {
  readonly component: TypeComponent;
  /** `first`: of several enforced matches the first alone acts; `each`: every one of them. */
  readonly acting: 'first' | 'each';
  readonly ending: (rule: PlanRule) => RuleEnding;
  /** Whether rules are evaluated for every answer, whatever ended the request. */
  readonly onEveryAnswer: boolean;
  /** Whether the rule only tags, and takes no place. */
  readonly isTag: (rule: PlanRule) => boolean;
  /** The outcomes that an enforced match gives, or may give; none: the request goes on. */
  readonly outcomes: (rule: PlanRule) => readonly Action[];
  /** Whether the rule inserts groups of its path patterns: what it does depends on which of them is the first that matches. */
  readonly takesGroups: (rule: PlanRule) => boolean;
  /** What besides the request the outcome depends on. */
  readonly needs: 'limit' | 'score' | null;
  /** Outcomes that a failed test explains by rules of the type, if it names no rule. */
  readonly explains: readonly Action[];
  /** Filters whose entries tests cover, besides hosts, paths and conditions. */
  readonly entries: readonly (keyof R & string)[];
  /** Lists of which an entry may be forgotten, although it is no filter of requests. */
  readonly lists: readonly (keyof R & string)[];
  /** Lists and flags read the other way round. */
  readonly flips: (rule: R) => Changes;
  /** Other values of the fields of its action. */
  readonly changes: (rule: R) => Changes;
  /** The state beyond one request that an edit loses if the rule has no key; `null`: none but entries in logs. */
  readonly state: (rule: R) => string | null;
  /** The facts of a request that the rule depends on, besides those of its conditions. */
  readonly facts: (rule: R) => readonly ReplayFact[];
  /** The headers, parameters and cookies that the rule reads, besides those of its conditions. */
  readonly reads: (rule: R) => readonly ReadValue[];
}

const PLAIN = {
  acting: 'first',
  ending: () => 'never',
  onEveryAnswer: false,
  isTag: () => false,
  outcomes: () => [],
  takesGroups: () => false,
  needs: null,
  explains: [],
  entries: [],
  lists: [],
  flips: () => [],
  changes: () => [],
  state: () => null,
  facts: () => [],
  reads: () => [],
} as const satisfies Omit<KnownType<Rule>, 'component'>;

const CLEARANCES = 'the clearances of visitors';

const TYPES: { readonly [T in RuleType]: KnownType<Extract<Rule, { readonly type: T }>> } = {
  drop: {
    ...PLAIN,
    component: 'end',
    ending: () => 'always',
    outcomes: () => ['block'],
    explains: ['block'],
    entries: ['countries', 'ips'],
    flips: ({ countries, country_match_type, ips, ip_match_type }) => [
      ...(countries.length > 0 ? [['country_match_type', otherList(country_match_type)] as const] : []),
      ...(ips.length > 0 ? [['ip_match_type', otherList(ip_match_type)] as const] : []),
    ],
    changes: dropChanges,
    facts: ({ countries, ips }) => [
      ...(ips.length > 0 ? (['ip'] as const) : []),
      ...(countries.length > 0 ? (['country'] as const) : []),
    ],
  },
  fingerprint: {
    ...PLAIN,
    component: 'fingerprint',
    acting: 'each',
    ending: ({ action }) => (FINGERPRINT_ACTIONS[action] === 'drop' ? 'always' : 'never'),
    isTag: ({ action }) => FINGERPRINT_ACTIONS[action] === 'tag',
    outcomes: ({ action }) => {
      const does = FINGERPRINT_ACTIONS[action];
      return does === 'tag' ? [] : does === 'drop' ? ['block'] : ['challenge'];
    },
    explains: ['challenge'],
    entries: ['match_ja4', 'match_ja4h'],
    changes: ({ action }) => [['action', after(FINGERPRINT_ACTIONS, action)]],
    state: ({ action }) => (action === 'challenge' ? CLEARANCES : null),
    facts: ({ match_ja4, match_ja4h }) => [
      ...(match_ja4.length > 0 ? (['ja4'] as const) : []),
      ...(match_ja4h.length > 0 ? (['ja4h'] as const) : []),
    ],
  },
  bot_route: {
    ...PLAIN,
    // A tag; a rule that pins the origin acts there, the others end the request.
    component: 'bot_tag',
    acting: 'each',
    ending: ({ action }) => {
      const does = BOT_ACTIONS[action];
      if (does === 'tag') return 'never';
      return does === 'alt_origin' ? 'pins' : 'always';
    },
    isTag: ({ action }) => BOT_ACTIONS[action] === 'tag',
    outcomes: ({ action }) => {
      const does = BOT_ACTIONS[action];
      return does === 'block' ? ['block'] : does === 'alt_content' ? ['respond'] : [];
    },
    explains: ['block', 'respond'],
    entries: ['bot_kinds'],
    flips: ({ require_verified }) => [['require_verified', !require_verified]],
    changes: botChanges,
    facts: ({ require_verified }) => ['user_agent', ...(require_verified ? (['verified_bot'] as const) : [])],
  },
  rate_limit: {
    ...PLAIN,
    component: 'rate_limit',
    acting: 'each',
    outcomes: ({ action }) => [BREACH_ACTIONS[action] === 'captcha' ? 'challenge' : 'block'],
    needs: 'limit',
    explains: ['block', 'challenge'],
    changes: rateChanges,
    state: ({ on_breach }) => (on_breach === 'captcha' ? `its counters and ${CLEARANCES}` : 'its counters'),
    facts: (rule) => [
      ...keyFacts(rule),
      'time',
      ...(rule.on_breach === 'captcha' ? (['solved_challenge'] as const) : []),
    ],
    reads: keyReads,
  },
  gateway: {
    ...PLAIN,
    component: 'gateway',
    outcomes: () => ['respond'],
    explains: ['respond'],
    changes: gatewayChanges,
    state: () => 'the counts of its usage plans',
    facts: () => ['identity'],
  },
  waf: {
    ...PLAIN,
    component: 'waf',
    outcomes: () => ['block'],
    needs: 'score',
    explains: ['block'],
    changes: wafChanges,
    facts: () => ['user_agent', 'headers', 'body'],
  },
  redirect: {
    ...PLAIN,
    component: 'end',
    ending: () => 'unless_own_url',
    // Groups may make a location that refuses the request.
    outcomes: (rule) => (hasCaptures(rule) ? ['redirect', 'refuse'] : ['redirect']),
    takesGroups: hasCaptures,
    explains: ['redirect'],
    changes: redirectChanges,
  },
  captcha: {
    ...PLAIN,
    component: 'captcha',
    outcomes: () => ['challenge'],
    explains: ['challenge'],
    state: () => CLEARANCES,
    facts: () => ['verified_bot', 'solved_challenge'],
  },
  rewrite: {
    ...PLAIN,
    component: 'rewrite',
    // A path with a dot segment refuses the request; one that takes groups may come to one, which is not followed.
    ending: (rule) =>
      !takesPattern(rule) && hasDotSegment(rule.text(REWRITE_FIELDS.target)) ? 'always' : 'never',
    outcomes: (rule) =>
      takesPattern(rule) || hasDotSegment(rule.text(REWRITE_FIELDS.target)) ? ['refuse'] : [],
    takesGroups: (rule) => takesPattern(rule) && rule.text(REWRITE_FIELDS.target).includes('$'),
    changes: rewriteChanges,
  },
  cache: { ...PLAIN, component: 'cache', changes: cacheChanges },
  origin_route: { ...PLAIN, component: 'origin', changes: routeChanges },
  origin_pool: {
    ...PLAIN,
    component: 'origin',
    changes: poolChanges,
    // With a single origin, health changes nothing: a pool whose origins are all out uses all of them.
    state: ({ origins }) => (origins.length > 1 ? 'the health of its origins' : null),
  },
  error_page: {
    ...PLAIN,
    component: 'error_page',
    onEveryAnswer: true,
    lists: ['codes'],
    changes: pageChanges,
  },
  headers: {
    ...PLAIN,
    component: 'headers',
    acting: 'each',
    onEveryAnswer: true,
    changes: headerMistakes,
    facts: headerFacts,
  },
};

/** What is known of a rule type. */
export function knownOf(type: RuleType): KnownType<Rule> {
  return TYPES[type] as KnownType<Rule>;
}

/** Whether a rewrite's paths are regexes, so that its target may take groups. */
function takesPattern(rule: PlanRule): boolean {
  return rule.word(REWRITE_FIELDS.regex) === 1;
}

/** Whether a redirect's target takes groups. */
function hasCaptures({ action }: PlanRule): boolean {
  return REDIRECT_TARGET_MODES[action] === 'captures';
}

function otherList(type: 'include' | 'exclude'): 'include' | 'exclude' {
  return type === 'include' ? 'exclude' : 'include';
}

// Mistakes in what a rule does.

/** The value after one in a list, the first after the last. */
function after<Value>(values: readonly Value[], value: Value): Value {
  return values[(values.indexOf(value) + 1) % values.length]!;
}

/** The list without each of its values. */
function without<Value>(
  name: string,
  values: readonly Value[],
  textOf: (value: Value, place: number) => string,
): Changes {
  return values.map((value, place) => [name, values.toSpliced(place, 1), `without ${textOf(value, place)}`]);
}

/** Mistakes in what a gateway demands. */
function gatewayChanges({ auth, on_unknown_operation, operations }: GatewayRule): Changes {
  const unknown = ['on_unknown_operation', after(UNKNOWN_OPERATION_MODES, on_unknown_operation)] as const;
  return [
    ['auth', { ...auth, require: after(AUTH_REQUIREMENTS, auth.require) }, 'another `require`'],
    ...(operations.length === 0 ? [] : [unknown]),
    ...without('operations', operations, ({ path, methods }) => `${methods.join(',')} ${path}`),
  ];
}

/** A rule without a status of its own has no mistake in it. */
function dropChanges({ status }: DropRule): Changes {
  return status === undefined ? [] : [['status', after(DROP_STATUSES, status)]];
}

function botChanges({ action, status, body, alt_dest, alt_port, alt_scheme }: BotRouteRule): Changes {
  const others = BOT_ACTIONS.filter((one) => one === 'block' || one === 'tag');
  const other: Change = ['action', after(others, action as (typeof others)[number])];
  switch (action) {
    case 'alt_content':
      return [other, ['status', status === 200 ? 403 : 200], ['body', `${body}x`, 'another text']];
    case 'alt_origin':
      return [
        other,
        ['alt_dest', `x-${alt_dest}`],
        ['alt_port', (alt_port ?? 443) + 1],
        ['alt_scheme', alt_scheme === 'https' ? 'http' : 'https'],
      ];
    default:
      return [other];
  }
}

/** The values that the key of a rate limit is made of. */
function keyReads({ key_parts = [] }: RateLimitRule): readonly ReadValue[] {
  return key_parts.flatMap((part, place): readonly ReadValue[] => {
    const mark = part.indexOf(':');
    const member = PART_MEMBERS[part.slice(0, mark)];
    const path = formatPath(['key_parts', place]);
    const name = part.slice(mark + 1);
    return member === undefined ? [] : [{ member, name, path, condition: `${path} ${name}` }];
  });
}

/** Sources of parts, as members of conditions. */
const PART_MEMBERS: Readonly<Record<string, ValueMember>> = {
  header: 'headers',
  cookie: 'cookies',
  query: 'query',
};

/** The facts that the key of a rate limit is made of. */
function keyFacts(rule: RateLimitRule): readonly ReplayFact[] {
  const { key_parts = ['ip'] } = rule;
  const facts = (['ip', 'country', 'asn', 'ja4'] as const).filter((fact) => key_parts.includes(fact));
  return [...facts, ...keyReads(rule).flatMap(valueFacts)];
}

function rateChanges(rule: RateLimitRule): Changes {
  const { limit, window_sec, burst, key_by, key_parts, on_breach } = rule;
  return [
    ['limit', limit + 1],
    ['limit', limit - 1],
    ['window_sec', window_sec * 2],
    ['burst', burst + 1],
    ...(key_parts === undefined
      ? [['key_by', key_by === 'ip' ? 'ip_path' : 'ip'] as const]
      : without('key_parts', key_parts, shown)),
    ['on_breach', on_breach === 'drop' ? 'captcha' : 'drop'],
  ];
}

function wafChanges({ threshold, paranoia, body_cap_kb, exclusions, rule_excludes }: WafRule): Changes {
  return [
    ['threshold', threshold + 1],
    ['threshold', threshold - 1],
    ['paranoia', paranoia + 1],
    ['body_cap_kb', body_cap_kb === 0 ? 128 : 0],
    ...without('exclusions', exclusions, (_, place) => `number ${place + 1}`),
    ...without('rule_excludes', rule_excludes, shown),
  ];
}

function redirectChanges(rule: RedirectRule): Changes {
  const { status_code, preserve_query, targets } = rule;
  return [
    ['status_code', after(REDIRECT_STATUSES, status_code)],
    ...(targets === undefined ? targetChanges(rule) : []),
    ['preserve_query', !preserve_query],
  ];
}

/** Changes of a redirect that has one target. */
function targetChanges({ target, preserve_path, target_mode }: RedirectRule): Changes {
  return [
    ['target', longer(target)],
    target_mode === 'captures' ? ['target_mode', 'literal'] : ['preserve_path', !preserve_path],
  ];
}

/** The target with a longer path. */
function longer(target: string): string {
  const [, start = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(target) ?? [];
  const isBare = /^https?:\/\/[^/]*$/i.test(start);
  return `${start}${isBare ? '/' : ''}x${rest}`;
}

function rewriteChanges({ path_target, query_mode, query_target }: RewriteRule): Changes {
  return [
    ...(path_target === '' ? [] : [['path_target', `${path_target}x`] as const]),
    ['query_mode', query_mode === 'strip' ? 'preserve' : 'strip'],
    ...(query_target === '' ? [] : [['query_target', `${query_target}x`] as const]),
  ];
}

function cacheChanges({ mode, edge_ttl_sec, browser_ttl_sec, query_mode, query_params }: CacheRule): Changes {
  const lifetimes: Changes = [
    ['edge_ttl_sec', (edge_ttl_sec ?? 0) + 60],
    ['browser_ttl_sec', (browser_ttl_sec ?? 0) + 60],
    ['query_mode', query_mode === 'none' ? 'all' : 'none'],
    ...without('query_params', query_params, shown),
  ];
  return [['mode', after(CACHE_MODES, mode)], ...(mode === 'bypass' ? [] : lifetimes)];
}

function routeChanges({ address, port, scheme, host_header }: OriginRouteRule): Changes {
  return [
    ['address', otherAddress(address)],
    ['port', (port ?? (scheme === 'https' ? 443 : 80)) + 1],
    ['scheme', scheme === 'https' ? 'http' : 'https'],
    ['host_header', host_header === '' ? 'x.invalid' : `x-${host_header}`],
  ];
}

/** Another address of the same kind. */
function otherAddress(address: string): string {
  if (address.includes(':')) return address === '2001:db8::1' ? '2001:db8::2' : '2001:db8::1';
  if (!/^[0-9.]+$/.test(address)) return `x-${address}`;
  return address === '192.0.2.1' ? '192.0.2.2' : '192.0.2.1';
}

function poolChanges({ origins, lb_type, host_header }: OriginPoolRule): Changes {
  return [
    ['lb_type', lb_type === 'geo' ? 'round_robin' : 'geo'],
    ['host_header', host_header === '' ? 'x.invalid' : `x-${host_header}`],
    ...(origins.length === 1 ? [] : without('origins', origins, ({ address }) => shown(address))),
    ...origins.map((one, at): Change => {
      const words = `weight ${one.weight} → ${one.weight + 1} of ${shown(one.address)}`;
      return ['origins', origins.with(at, { ...one, weight: one.weight + 1 }), words];
    }),
  ];
}

function pageChanges({ mode, content }: ErrorPageRule): Changes {
  const others = ['svc', 'origin'] as const;
  const pages = Object.entries(content);
  return [
    ['mode', mode === 'custom' ? others[0] : after(others, mode)],
    ...(mode === 'custom'
      ? pages.map(([code, page]): Change => {
          const words = `another text for ${code === '0' ? 'other statuses' : code}`;
          return ['content', { ...content, [code]: `${page}x` }, words];
        })
      : []),
  ];
}

/** Each name left out, and each value changed. Values may be secrets, so no words have one. */
function headerMistakes(rule: HeadersRule): Changes {
  const entries = headerEntries(rule);
  const only = ({ side, op, name }: HeaderEntry): string => `${side}.${op} of ${shown(name)}`;
  return entries.flatMap((entry): Changes => {
    const { side, op, name, value } = entry;
    const changes = rule[side]!;
    if (op === 'remove') {
      const remove = changes.remove!.filter((one) => one !== name);
      return [[side, { ...changes, remove }, `without ${only(entry)}`]];
    }
    const { [name]: _, ...others } = changes[op]!;
    return [
      [side, { ...changes, [op]: others }, `without ${only(entry)}`],
      [side, { ...changes, [op]: { ...others, [name]: `${value}x` } }, `another value in ${only(entry)}`],
    ];
  });
}

/** The facts that values insert. */
const FACTS_OF_VARIABLES: Readonly<Record<string, ReplayFact>> = {
  client_ip: 'ip',
  client_country: 'country',
  ja4: 'ja4',
  bot_kind: 'user_agent',
};

function headerFacts(rule: HeadersRule): readonly ReplayFact[] {
  const facts = headerEntries(rule).flatMap(({ value }) => {
    const parsed = parseHeaderValue(value ?? '');
    return (parsed.ok ? parsed.pieces : []).flatMap((piece) =>
      piece.kind === 'variable' ? (FACTS_OF_VARIABLES[piece.name] ?? []) : [],
    );
  });
  return [...new Set(facts)];
}

/** A value as a change shows it. */
export function shown(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
