/** Translates one rule of a Cloudflare ruleset by its phase and action. */
import { addRule, markDifference, markMissing, markNeedless, markOpened } from '../draft.ts';
import {
  areDisjoint,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
  ruleFields,
} from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { numberAt, objectAt, type SourceFields, textAt, textsAt } from '../json-source.ts';
import { equalsText, startsWithText } from '../text-test.ts';
import { cacheFields, readRewrite } from './action-parameters.ts';
import { addFirewall, CHALLENGES, noteEarlier, noteRewrites } from './firewall-rule.ts';
import { type CloudflareValue, parseExpression, parseValueExpression } from './parse-expression.ts';
import { type ReadCondition, readCondition } from './read-condition.ts';
import type { CloudflareImport, CloudflareRule } from './zone.ts';

/** Translates a rule: one rule of the file for each alternative of its expression. */
export function translateRule(state: CloudflareImport, source: CloudflareRule): void {
  const { rule, entry, phase } = source;
  const parsed = parseExpression(textAt(rule, 'expression'));
  const action = textAt(rule, 'action');
  const isGuard =
    phase === 'http_request_firewall_custom' && (action === 'block' || CHALLENGES.includes(action));
  if (!parsed.ok) {
    const reason = `its expression cannot be read: ${parsed.reason}`;
    (isGuard ? markOpened : markMissing)(entry, reason);
    return;
  }
  const read = readCondition(parsed.value);
  if (action === 'skip') {
    noteSkip(state, source, read);
    return;
  }
  if (action === 'log') {
    markNeedless(entry, 'it only logs');
    return;
  }
  const conditional = {
    condition: withoutSkipped(state, phase, read.condition),
    differences: read.differences,
    unmet: 'no request meets its expression',
  };
  const isAdded = isGuard
    ? addFirewall(state, source, conditional)
    : addAlternatives(state.draft, entry, {
        ...conditional,
        emit: (filter) => emit(state, source, filter),
      });
  if (!isAdded) return;
  for (const { condition, phases, place } of state.skips) {
    if (condition === null && phases.includes(phase))
      markDifference(entry, `requests that ${place} skips are not skipped`);
  }
}

/** Requests that earlier `skip` rules let pass do not meet the condition. */
function withoutSkipped(
  state: CloudflareImport,
  phase: string,
  condition: ImportedCondition,
): ImportedCondition {
  const skipped = state.skips.flatMap((skip) =>
    skip.condition !== null && skip.phases.includes(phase)
      ? [{ kind: 'not' as const, of: skip.condition }]
      : [],
  );
  return skipped.length === 0 ? condition : { kind: 'all', of: [condition, ...skipped] };
}

/** Remembers a skip rule for the rules that it concerns. */
function noteSkip(
  state: CloudflareImport,
  { rule, entry, phase }: CloudflareRule,
  read: ReadCondition,
): void {
  const parameters = objectAt(rule, 'action_parameters');
  const phases = [
    ...textsAt(parameters, 'phases'),
    ...(textAt(parameters, 'ruleset') === 'current' ? [phase] : []),
  ];
  const alternatives = filtersOf(read.condition);
  const place = entry.place;
  if (!alternatives.ok) {
    state.skips.push({ condition: null, phases, place });
    markMissing(entry, alternatives.reason);
    return;
  }
  state.skips.push({ condition: read.condition, phases, place });
  for (const difference of read.differences) markDifference(entry, difference);
  const others = phases.filter((one) => !['http_request_firewall_custom', 'http_ratelimit'].includes(one));
  if (others.length > 0) markDifference(entry, `rules of ${others.join(', ')} are not skipped`);
  const products = textsAt(parameters, 'products');
  if (products.length > 0) markDifference(entry, `${products.join(', ')} of Cloudflare have no equivalent`);
}

/** Adds the rule of one alternative; a text is the reason why it cannot. */
function emit(state: CloudflareImport, source: CloudflareRule, filter: ImportedFilter): string | null {
  switch (source.phase) {
    case 'http_ratelimit':
      return emitRateLimit(state, source, filter);
    case 'http_request_dynamic_redirect':
      return emitRedirect(state, source, filter);
    case 'http_request_transform':
      return emitRewrite(state, source, filter);
    case 'http_request_origin':
      return emitOrigin(state, source, filter);
    case 'http_request_cache_settings':
      return emitCache(state, source, filter);
    case 'http_request_firewall_custom':
      return `the action \`${textAt(source.rule, 'action')}\` has no equivalent`;
    default:
      return 'bulk redirects are in the items of their list; export them beside the ruleset';
  }
}

function emitRateLimit(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const limit = objectAt(rule, 'ratelimit');
  const keys = textsAt(limit, 'characteristics').filter((key) => key !== 'cf.colo.id');
  if (keys.length !== 1 || keys[0] !== 'ip.src')
    return `requests are counted by address only, not by ${keys.map((key) => `\`${key}\``).join(', ')}`;
  if (textAt(limit, 'counting_expression') !== '')
    return 'a counting expression of its own has no equivalent';
  const action = textAt(rule, 'action');
  if (action !== 'block' && !CHALLENGES.includes(action)) return `the action \`${action}\` has no equivalent`;
  const fields = {
    ...ruleFields(filter),
    limit: numberAt(limit, 'requests_per_period'),
    window_sec: numberAt(limit, 'period'),
    on_breach: action === 'block' ? 'drop' : 'captcha',
  };
  if (!addRule(state.draft, entry, 'rate_limit', fields)) return null;
  const timeout = numberAt(limit, 'mitigation_timeout') ?? 0;
  markDifference(
    entry,
    `Cloudflare acts for ${timeout} s once the count is above the limit; the rule acts while the requests of the window are above it`,
  );
  if (limit['requests_to_origin'] === true)
    markDifference(entry, 'requests that the cache answers count too');
  noteEarlier(entry, filter, state);
  return null;
}

function emitRedirect(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const value = objectAt(objectAt(rule, 'action_parameters'), 'from_value');
  const redirect = readRedirect(value);
  if (typeof redirect === 'string') return redirect;
  const { differences, ...fields } = redirect;
  if (!addRule(state.draft, entry, 'redirect', { ...ruleFields(filter), ...fields })) return null;
  for (const difference of differences) markDifference(entry, difference);
  state.redirects.push({ filter, place: entry.place });
  return null;
}

function emitRewrite(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const uri = objectAt(objectAt(rule, 'action_parameters'), 'uri');
  const rewrite = readRewrite(uri, filter);
  if (typeof rewrite === 'string') return rewrite;
  const { fields, captured } = rewrite;
  const place = ruleFields(captured === null ? filter : { ...filter, pathIncludes: [captured] });
  if (!addRule(state.draft, entry, 'rewrite', { ...place, ...fields })) return null;
  for (const other of state.rewrites) {
    if (!areDisjoint(filter, other.filter))
      markDifference(entry, `it also applies after ${other.place} at Cloudflare; the edge applies the first`);
  }
  if (fields.path_target === '') return null;
  const [start = ''] = fields.path_target.split('$');
  const target = start === fields.path_target ? equalsText(start) : startsWithText(start);
  state.rewrites.push({ filter, place: entry.place, target });
  return null;
}

function emitOrigin(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const parameters = objectAt(rule, 'action_parameters');
  const origin = objectAt(parameters, 'origin');
  const address = textAt(origin, 'host');
  if (address === '')
    return 'an origin_route rule names an address, and this rule changes the port or the Host header alone';
  const host_header = textAt(parameters, 'host_header');
  const port = numberAt(origin, 'port');
  const fields = { ...ruleFields(filter), address, port, host_header, scheme: 'https' };
  if (!addRule(state.draft, entry, 'origin_route', fields)) return null;
  markDifference(entry, 'the edge connects by https; Cloudflare as the SSL mode of the zone says');
  noteRewrites(entry, filter, state.rewrites);
  return null;
}

function emitCache(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const read = cacheFields(objectAt(rule, 'action_parameters'));
  if (typeof read === 'string') return read;
  const { differences, ...fields } = read;
  if (!addRule(state.draft, entry, 'cache', { ...ruleFields(filter), ...fields })) return null;
  for (const difference of differences) markDifference(entry, difference);
  noteRewrites(entry, filter, state.rewrites);
  return null;
}

// Reads the target of a redirect of Cloudflare: a static URL, or an expression that appends the path.

/** The fields of a redirect, and how it differs. */
export interface CloudflareRedirect {
  readonly target: string;
  readonly status_code: number;
  readonly preserve_path: boolean;
  readonly preserve_query: boolean;
  readonly differences: readonly string[];
}

/** Reads `from_value`; a text is the reason why it has no equivalent. */
function readRedirect(value: SourceFields): CloudflareRedirect | string {
  const status_code = numberAt(value, 'status_code') ?? 301;
  const preserve_query = value['preserve_query_string'] === true;
  const url = objectAt(value, 'target_url');
  const differences: string[] = [];
  const target = textAt(url, 'value');
  if (target !== '') return { target, status_code, preserve_path: false, preserve_query, differences };
  const parsed = parseValueExpression(textAt(url, 'expression'));
  if (!parsed.ok) return `its target cannot be read: ${parsed.reason}`;
  const read = readTarget(parsed.value);
  if (typeof read === 'string') return read;
  return { ...read, status_code, preserve_query: preserve_query || read.preserve_query, differences };
}

type ReadTarget = Pick<CloudflareRedirect, 'target' | 'preserve_path' | 'preserve_query'>;

function readTarget(value: CloudflareValue): ReadTarget | string {
  if (value.kind === 'text') return { target: value.text, preserve_path: false, preserve_query: false };
  if (value.kind === 'call' && value.name === 'concat') return readConcat(value.args);
  if (value.kind === 'call' && value.name === 'wildcard_replace') return readWildcard(value.args);
  return 'only `concat` with the path, and `wildcard_replace` of a whole host, have an equivalent as the target of a redirect';
}

/** `concat("https://host", http.request.uri.path)`. */
function readConcat(args: readonly CloudflareValue[]): ReadTarget | string {
  const last = args.at(-1);
  const before = args.slice(0, -1);
  if (before.some(({ kind }) => kind !== 'text'))
    return 'a redirect target is literal text, with the path after it';
  const text = before.map((one) => (one.kind === 'text' ? one.text : '')).join('');
  if (last?.kind === 'text') return { target: text + last.text, preserve_path: false, preserve_query: false };
  const name = last?.kind === 'field' ? last.name : '';
  if (text.endsWith('/')) return 'the path begins with `/`, so that Cloudflare writes two of them';
  if (name === 'http.request.uri.path') return { target: text, preserve_path: true, preserve_query: false };
  if (name === 'http.request.uri') return { target: text, preserve_path: true, preserve_query: true };
  return `\`${name}\` has no equivalent in the target of a redirect`;
}

/** `wildcard_replace(http.request.full_uri, "http*://a/*", "https://b/${2}")`. */
function readWildcard(args: readonly CloudflareValue[]): ReadTarget | string {
  const [field, pattern, replacement] = args.map((one) =>
    one.kind === 'field' ? one.name : one.kind === 'text' ? one.text : '',
  );
  const reason =
    'of `wildcard_replace` only that of a whole host has an equivalent, which keeps path and query';
  if (field !== 'http.request.full_uri' || pattern === undefined || replacement === undefined) return reason;
  const [, scheme, host] = /^(http\*|https|http):\/\/([^/*]+)\/\*$/.exec(pattern) ?? [];
  const [, target, index] = /^(https?:\/\/[^$]+)\/\$\{(\d)\}$/.exec(replacement) ?? [];
  if (host === undefined || target === undefined) return reason;
  if (index !== (scheme === 'http*' ? '2' : '1') || scheme !== 'http*') return reason;
  return { target, preserve_path: true, preserve_query: true };
}
