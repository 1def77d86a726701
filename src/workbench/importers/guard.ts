/**
 * Adds the rules of one condition to the draft, one for each alternative, and all of them or none. A guard is a rule of
 * the source that refuses or challenges requests: each alternative of its condition that has no exact filter is closed:
 * a rule refuses, to everybody, the smallest known set of requests that holds what was guarded. A guard by who asks
 * alone, on any path, has no such set and is not carried over, unless it lets only a list of visitors in.
 */
import {
  type DraftEntry,
  type ImportDraft,
  markClosed,
  markDifference,
  markMissing,
  markNeedless,
  markOpened,
  removeRules,
} from './draft.ts';
import { EVERY_REQUEST, filtersOf, type ImportedCondition, type ImportedFilter } from './filter.ts';
import { coversAll } from './text-test.ts';

/** The rules of a guard. */
export interface GuardRules extends ConditionalRules {
  /** Adds a rule that is at least as strict, for the hosts, paths, addresses and countries of a filter. */
  close(filter: ImportedFilter): string | null;
  /** What that rule does: requests are refused, or challenged. */
  readonly closing: 'refused' | 'challenged';
}

/** Adds the rules; whether every alternative has one, exact or closed. */
export function addGuard(draft: ImportDraft, entry: DraftEntry, rules: GuardRules): boolean {
  const results = partsOf(rules.condition).map((part) =>
    addPart(draft, entry, { ...rules, condition: part }),
  );
  if (results.every((result) => result === 'unmet')) {
    markNeedless(entry, rules.unmet);
    return false;
  }
  for (const difference of rules.differences)
    if (results.includes('exact')) markDifference(entry, difference);
  const isLost = results.includes('lost');
  if (isLost && entry.becomes.length > 0)
    markMissing(entry, 'the other alternatives of its condition have rules');
  return !isLost;
}

/** The alternatives that stand apart in a condition, so that one without a filter does not take the others along. */
function partsOf(condition: ImportedCondition): readonly ImportedCondition[] {
  if (condition.kind === 'any') return condition.of.flatMap(partsOf);
  if (condition.kind !== 'all') return [condition];
  // `(a or b) and not skipped`: the alternatives are those of the first member.
  const [first, ...others] = condition.of;
  if (first === undefined || first.kind !== 'any') return [condition];
  return partsOf(first).map((part) => ({ kind: 'all', of: [part, ...others] }));
}

type PartResult = 'exact' | 'closed' | 'lost' | 'unmet';

function addPart(
  draft: ImportDraft,
  entry: DraftEntry,
  { condition, emit, close, closing }: GuardRules,
): PartResult {
  const alternatives = filtersOf(condition);
  if (alternatives.ok && alternatives.filters.length === 0) return 'unmet';
  const reason = alternatives.ok
    ? emitFilters(draft, entry, { filters: alternatives.filters, emit })
    : alternatives.reason;
  if (reason === null) return 'exact';
  const around = filtersAround(condition);
  const isKnown =
    around.every(hasPaths) ||
    isAllowList(condition) ||
    (closing === 'refused' && around.every(hasVisitors) && hasOnlyExceptions(condition));
  if (!isKnown) {
    markMissing(entry, reason);
    return 'lost';
  }
  const failure =
    emitFilters(draft, entry, { filters: around, emit: close }) &&
    emitFilters(draft, entry, { filters: around.map(withRoom), emit: close });
  if (failure !== null) {
    markOpened(entry, reason);
    markOpened(entry, failure);
    return 'lost';
  }
  markClosed(entry, reason);
  const isWhole = around.some(
    (filter) => filter.hostIncludes === null && !hasPaths(filter) && !hasVisitors(filter),
  );
  const subject = isWhole ? 'it guards the whole domain: every request is' : 'all that it guards is';
  markClosed(entry, `${subject} ${closing}, until a rule is written by hand`);
  return 'closed';
}

/** The filter without facts and exceptions, of which a rule has room for so many. */
function withRoom(filter: ImportedFilter): ImportedFilter {
  return { ...filter, facts: [], ipExcludes: null, countryExcludes: [] };
}

/** Whether a filter names paths. */
function hasPaths({ pathIncludes }: ImportedFilter): boolean {
  return pathIncludes !== null && !pathIncludes.some(coversAll);
}

/** Whether a filter names addresses or countries. */
function hasVisitors({ ipIncludes, countryIncludes }: ImportedFilter): boolean {
  return ipIncludes !== null || countryIncludes !== null;
}

/** Filters of which each request that meets the condition passes one. */
function filtersAround(condition: ImportedCondition): readonly ImportedFilter[] {
  const wide = widened(condition, false);
  const whole = filtersOf(wide);
  if (whole.ok) return whole.filters;
  if (wide.kind !== 'all') return [EVERY_REQUEST];
  // Members that cannot be combined are left out, which only adds requests.
  let around: readonly ImportedFilter[] = [EVERY_REQUEST];
  let used: readonly ImportedCondition[] = [];
  for (const member of wide.of) {
    const more = filtersOf({ kind: 'all', of: [...used, member] });
    if (!more.ok) continue;
    used = [...used, member];
    around = more.filters;
  }
  return around;
}

/** A condition that holds at least where the given one does, without parts that have no filter. */
function widened(condition: ImportedCondition, negated: boolean): ImportedCondition {
  switch (condition.kind) {
    case 'unknown':
    case 'bot':
      return { kind: 'constant', value: !negated };
    case 'not':
      return { kind: 'not', of: widened(condition.of, !negated) };
    case 'all':
    case 'any':
      return { kind: condition.kind, of: condition.of.map((one) => widened(one, negated)) };
    default:
      return condition;
  }
}

/** What proves who a visitor is: lists of addresses, client certificates, passwords, secrets in headers and cookies, signed URLs. */
const IDENTITY =
  /ip\.src|client\.ip|cert_|ssl_c_|http_auth|hdr(?:_\w+)?\(|tls_client_auth|headers\[|http\.[\w-]+ |cookie|hmac|jwt|token/i;
/** Of headers, those that prove nothing. */
const METHODS_AND_AGENTS = /user_agent|user-agent|referer|http\.host|request\.method/i;

/** Whether a comparison holds for those who lack what it names: `ne "x"`, `eq false`. */
function isNegation(text: string): boolean {
  return / (?:ne|!=|!~) /.test(text) !== / (?:eq|ne|==|!=) false\b/.test(text);
}

/** Whether a condition refuses all but those who prove who they are, by a member that has no filter. */
function isAllowList(condition: ImportedCondition, negated = false): boolean {
  switch (condition.kind) {
    case 'unknown': {
      const isNegated = negated !== isNegation(condition.text);
      return isNegated && IDENTITY.test(condition.text) && !METHODS_AND_AGENTS.test(condition.text);
    }
    case 'not':
      return isAllowList(condition.of, !negated);
    case 'all':
      return condition.of.some((one) => isAllowList(one, negated));
    case 'any':
      return condition.of.every((one) => isAllowList(one, negated));
    default:
      return false;
  }
}

/** Whether all that has no filter makes exceptions from what has one. */
function hasOnlyExceptions(condition: ImportedCondition, negated = false): boolean {
  switch (condition.kind) {
    case 'unknown':
      return negated !== isNegation(condition.text);
    case 'bot':
      return negated;
    case 'not':
      return hasOnlyExceptions(condition.of, !negated);
    case 'all':
    case 'any':
      return condition.of.every((one) => hasOnlyExceptions(one, negated));
    default:
      return true;
  }
}

/** A condition, and how the rule of one of its alternatives is added. */
interface ConditionalRules {
  readonly condition: ImportedCondition;
  /** How the rules decide otherwise than the source. */
  readonly differences: readonly string[];
  /** The reason why nothing is needed if no request meets the condition. */
  readonly unmet: string;
  /** Adds the rule of one alternative; a text is the reason why it cannot. */
  emit(filter: ImportedFilter): string | null;
}

/** Whether the rules were added; otherwise the entry says why not. */
export function addAlternatives(
  draft: ImportDraft,
  entry: DraftEntry,
  { condition, differences, unmet, emit }: ConditionalRules,
): boolean {
  const alternatives = filtersOf(condition);
  if (!alternatives.ok) {
    markMissing(entry, alternatives.reason);
    return false;
  }
  if (alternatives.filters.length === 0) {
    markNeedless(entry, unmet);
    return false;
  }
  const reason = emitFilters(draft, entry, { filters: alternatives.filters, emit });
  if (reason !== null) {
    markMissing(entry, reason);
    return false;
  }
  for (const difference of differences) markDifference(entry, difference);
  return true;
}

/** Adds the rules of filters, all of them or none; a text is the reason why none was added. */
function emitFilters(
  draft: ImportDraft,
  entry: DraftEntry,
  { filters, emit }: { readonly filters: readonly ImportedFilter[]; readonly emit: ConditionalRules['emit'] },
): string | null {
  const before = entry.becomes.length;
  for (const filter of filters) {
    const reason = emit(filter);
    if (reason === null) continue;
    removeRules(draft, entry, before);
    return reason;
  }
  return null;
}
