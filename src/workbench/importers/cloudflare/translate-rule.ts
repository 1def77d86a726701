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
import { numberAt, objectAt, textAt, textsAt } from '../json-source.ts';
import { equalsText, startsWithText } from '../text-test.ts';
import { cacheFields, readRewrite } from './action-parameters.ts';
import { addFirewall, CHALLENGES, noteRewrites } from './firewall-rule.ts';
import { emitHeaders } from './header-rule.ts';
import { parseExpression } from './parse-expression.ts';
import { emitRateLimit } from './rate-limit.ts';
import { type ReadCondition, readCondition } from './read-condition.ts';
import { readRedirect } from './redirect-target.ts';
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
  const read = readCondition(parsed.value, { lists: state.lists, isException: action === 'skip' });
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
    case 'http_request_late_transform':
    case 'http_response_headers_transform':
      return emitHeaders(state, source, filter);
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

function emitRedirect(
  state: CloudflareImport,
  { rule, entry }: CloudflareRule,
  filter: ImportedFilter,
): string | null {
  const value = objectAt(objectAt(rule, 'action_parameters'), 'from_value');
  const redirect = readRedirect(value, filter);
  if (typeof redirect === 'string') return redirect;
  if (!addRule(state.draft, entry, 'redirect', { ...ruleFields(redirect.filter), ...redirect.fields }))
    return null;
  state.redirects.push({ filter: redirect.filter, place: entry.place });
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
