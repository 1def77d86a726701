/**
 * What a mutant is: the rule set with one small mistake, as an author might have made it; and the mistakes in what a
 * rule does: another status, target, limit, threshold, time to live, origin.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import {
  BOT_ACTIONS,
  CACHE_MODES,
  FINGERPRINT_ACTIONS,
  REDIRECT_STATUSES,
} from '../../base/vocabulary/vocabulary.ts';
import type {
  BotRouteRule,
  CacheRule,
  ErrorPageRule,
  OriginPoolRule,
  OriginRouteRule,
  RateLimitRule,
  RedirectRule,
  RewriteRule,
  Rule,
  WafRule,
} from '../../rules/model/types.ts';

/** A value of a field, and what changes in words if the values do not say it. */
type Change = readonly [name: string, value: unknown, words?: string];
type Changes = readonly Change[];

/** The action mutations of a rule. */
export function actionMutations(rule: Rule): readonly Mutation[] {
  const fields = rule as object as Readonly<Record<string, unknown>>;
  return changesOf(rule)
    .filter(([name, value]) => JSON.stringify(fields[name]) !== JSON.stringify(value))
    .map(([name, value, words]) => ({
      operator: 'change_action',
      field: [name],
      change: words ?? `${shown(fields[name])} → ${shown(value)}`,
      rule: { ...rule, [name]: value } as Rule,
    }));
}

function changesOf(rule: Rule): Changes {
  switch (rule.type) {
    case 'drop':
      return [];
    case 'captcha':
      // How long a clearance lasts is no part of a decision.
      return [];
    case 'fingerprint':
      return [['action', after(FINGERPRINT_ACTIONS, rule.action)]];
    case 'bot_route':
      return botChanges(rule);
    case 'rate_limit':
      return rateChanges(rule);
    case 'waf':
      return wafChanges(rule);
    case 'redirect':
      return redirectChanges(rule);
    case 'rewrite':
      return rewriteChanges(rule);
    case 'cache':
      return cacheChanges(rule);
    case 'origin_route':
      return routeChanges(rule);
    case 'origin_pool':
      return poolChanges(rule);
    case 'error_page':
      return pageChanges(rule);
    default:
      return rule satisfies never;
  }
}

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

function rateChanges({ limit, window_sec, burst, key_by, on_breach }: RateLimitRule): Changes {
  return [
    ['limit', limit + 1],
    ['limit', limit - 1],
    ['window_sec', window_sec * 2],
    ['burst', burst + 1],
    ['key_by', key_by === 'ip' ? 'ip_path' : 'ip'],
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

function redirectChanges({ status_code, target, preserve_path, preserve_query }: RedirectRule): Changes {
  return [
    ['status_code', after(REDIRECT_STATUSES, status_code)],
    ['target', longer(target)],
    ['preserve_path', !preserve_path],
    ['preserve_query', !preserve_query],
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

// What a mutant is: the rule set with one small mistake, as an author might have made it.

/** The kinds of mistakes. */
export const OPERATORS = [
  /** A rule is missing. */
  'remove_rule',
  /** A rule and the next one of its type change places. */
  'swap_rules',
  /** A list lacks one entry; a list that would become empty is one that admits everything. */
  'drop_entry',
  /** A pattern matches more, or less. */
  'widen_pattern',
  'narrow_pattern',
  /** `include` in place of `exclude`, or the reverse. */
  'flip_list',
  /** `dry_run` in place of `enforce`, or the reverse. */
  'flip_mode',
  /** A field of the rule's action has another value. */
  'change_action',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** The kinds in words, as the names of tests say them. */
export const OPERATOR_WORDS: Readonly<Record<Operator, string>> = {
  remove_rule: 'removed',
  swap_rules: 'swapped',
  drop_entry: 'dropped',
  widen_pattern: 'widened',
  narrow_pattern: 'narrowed',
  flip_list: 'flipped',
  flip_mode: 'flipped',
  change_action: 'changed',
};

/** A change of one rule, before it is known to be valid. */
export interface Mutation {
  readonly operator: Operator;
  /** Within the rule; empty: the rule as a whole. */
  readonly field: FieldPath;
  /** What the mutant has otherwise, in words. */
  readonly change: string;
  readonly rule: Rule;
}

/** A mutant. */
export interface Mutant extends Omit<Mutation, 'rule'> {
  /** The rule that is changed, as it is written. */
  readonly rule: Rule;
  /** Rules that differ, in place of those of their ids; `null`: the rule is missing. */
  readonly becomes: ReadonlyMap<number, Rule | null>;
  /** Rules whose decisions can differ: those that are changed or have changed places. */
  readonly differing: readonly Rule[];
}

/** A value as a change shows it. */
export function shown(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
