/**
 * What dry_run rules would have changed, from the decision and its shadow. In: the fields that a line of the decision log
 * has (`edge/proxy/log/line.ts`), so that lines and counts agree. Out: for each dry_run rule at most one change.
 *
 * Definition. The decision and the shadow *differ* in
 * - the outcome, if action or status differ; then nothing else is compared,
 * - the location, if both are redirects,
 * - the response, if both respond and their rules differ: the bodies are those of the rules,
 * - the origin (scheme, address, port, Host header), the path and query for it, the cache directive (mode and lifetimes) or
 *   the tags, if both are forwarded,
 * - the headers, if the changes of headers rules name others of the request or the response, whatever the outcome.
 *
 * What a visitor and an origin cannot notice is no difference, such as another rule that blocks with the same status.
 *
 * The change is attributed
 * 1. if the shadow is forwarded and the decision is as well: to every dry_run match whose effect acts on something that
 *    differs (`ACTS_ON`), with what differs of it,
 * 2. else to the rule that settled the shadow, if it is a dry_run match,
 * 3. else to every dry_run match whose effect lets other rules settle the outcome (`ACTS_ON`: outcome),
 * 4. else, so that no change is lost, to every dry_run match.
 *
 * `from` is the outcome of the decision and `to` that of the shadow; if they are equal, `to` names what differs. `instead`
 * is the rule that settled the decision, if it is not the one that settled the shadow.
 */
import type {
  CacheDirective,
  Decision,
  Effect,
  HeaderChange,
  Match,
  Origin,
  RuleRef,
} from '../evaluator/decision.ts';
import { outcomeText, type ShadowChange } from './counts.ts';

/** What a visitor or an origin notices, in the order of texts. */
type Difference = 'outcome' | 'location' | 'response' | 'origin' | 'path' | 'cache' | 'tags' | 'headers';

/**
 * What a dry_run rule with an effect can act on without settling the outcome. An alt_origin ends the phases of redirects,
 * rewrites and the cache; a waf or captcha rule that lets a request pass takes the place of the next one of its type.
 */
const ACTS_ON: Readonly<Record<Effect, readonly Difference[]>> = {
  block: [],
  challenge: [],
  tag: ['tags'],
  respond: [],
  alt_origin: ['outcome', 'origin', 'path', 'cache', 'tags'],
  counted: [],
  passed: ['outcome'],
  unavailable: ['outcome'],
  redirect: [],
  self_redirect: [],
  rewrite: ['outcome', 'path'],
  refuse: [],
  cache: ['cache', 'path'],
  origin: ['origin'],
  error_page: [],
  headers: ['headers'],
  // A consumer sends other fields on, its key is not sent on, and its responses are not shared.
  admit: ['outcome', 'path', 'cache', 'headers'],
};

/** The fields of a decision that are compared. */
export type ComparedDecision = Pick<
  Decision,
  | 'action'
  | 'status'
  | 'rule'
  | 'location'
  | 'origin'
  | 'path'
  | 'query'
  | 'cache'
  | 'tags'
  | 'requestHeaders'
  | 'responseHeaders'
>;

/** The fields of a decision that its changes are computed from. */
export type ShadowedDecision = ComparedDecision &
  Pick<Decision, 'matches'> & { readonly shadow: ComparedDecision | null };

const NO_CHANGES: readonly ShadowChange[] = Object.freeze([]);

/** The changes of one request, one `requests` each; empty without a shadow, or if it does not differ. */
export function shadowChanges(decision: ShadowedDecision): readonly ShadowChange[] {
  const { shadow, rule } = decision;
  if (shadow === null) return NO_CHANGES;
  const differences = differencesOf(decision, shadow);
  if (differences.length === 0) return NO_CHANGES;
  const from = outcomeText(decision);
  const instead = rule === null || isSameRule(rule, shadow.rule) ? '' : `${rule.type}/${rule.id}`;
  return attribute(differences, decision).map(({ match: { type, id }, changed }) => {
    const to =
      differences[0] === 'outcome' ? outcomeText(shadow) : `${from} with other ${changed.join(', ')}`;
    return { type, id, from, to, instead, requests: 1 };
  });
}

/** Whether the dry_run rules would have changed anything. */
export function isChangedByShadow(
  decision: ComparedDecision & { readonly shadow: ComparedDecision | null },
): boolean {
  return decision.shadow !== null && differencesOf(decision, decision.shadow).length > 0;
}

/** A dry_run rule and what it changes. */
interface Attribution {
  readonly match: Match;
  readonly changed: readonly Difference[];
}

function attribute(
  differences: readonly Difference[],
  { action, shadow, matches }: ShadowedDecision,
): readonly Attribution[] {
  const isForwarded = action === 'forward' && shadow!.action === 'forward';
  const dry = matches.filter(isFirstOfDryRun);
  if (!isForwarded) {
    const settled = dry.find((match) => isSameRule(match, shadow!.rule));
    if (settled !== undefined) return [{ match: settled, changed: differences }];
  }
  const acting = dry
    .map((match) => ({ match, changed: differences.filter((one) => ACTS_ON[match.effect].includes(one)) }))
    .filter(({ changed }) => changed.length > 0);
  return acting.length > 0 ? acting : dry.map((match) => ({ match, changed: differences }));
}

function isFirstOfDryRun(match: Match, at: number, matches: readonly Match[]): boolean {
  return match.mode === 'dry_run' && matches.findIndex((other) => isSameRule(other, match)) === at;
}

function isSameRule(one: RuleRef, other: RuleRef | null): boolean {
  return other !== null && one.type === other.type && one.id === other.id && one.key === other.key;
}

function differencesOf(decision: ComparedDecision, shadow: ComparedDecision): readonly Difference[] {
  if (decision.action !== shadow.action || decision.status !== shadow.status) return ['outcome'];
  const found = partDifferences(decision, shadow);
  const isSame =
    areSameHeaders(decision.requestHeaders, shadow.requestHeaders) &&
    areSameHeaders(decision.responseHeaders, shadow.responseHeaders);
  return isSame ? found : [...found, 'headers'];
}

/** Whether changes name the same headers in the same order; values are not logged, and so not compared. */
function areSameHeaders(
  one: readonly HeaderChange[] = NO_HEADERS,
  other: readonly HeaderChange[] = NO_HEADERS,
): boolean {
  return (
    one.length === other.length &&
    one.every(({ op, name }, at) => op === other[at]!.op && name === other[at]!.name)
  );
}

const NO_HEADERS: readonly HeaderChange[] = Object.freeze([]);

function partDifferences(decision: ComparedDecision, shadow: ComparedDecision): readonly Difference[] {
  switch (decision.action) {
    case 'forward':
      return forwardDifferences(decision, shadow);
    case 'redirect':
      return decision.location === shadow.location ? [] : ['location'];
    case 'respond':
      return isRespondedAlike(decision.rule, shadow.rule) ? [] : ['response'];
    default:
      return [];
  }
}

function isRespondedAlike(one: RuleRef | null, other: RuleRef | null): boolean {
  return one === null ? other === null : isSameRule(one, other);
}

function forwardDifferences(decision: ComparedDecision, shadow: ComparedDecision): readonly Difference[] {
  const found: Difference[] = [];
  if (!isSameOrigin(decision.origin, shadow.origin)) found.push('origin');
  if (decision.path !== shadow.path || decision.query !== shadow.query) found.push('path');
  if (!isSameDirective(decision.cache, shadow.cache)) found.push('cache');
  if (!areSameTags(decision.tags, shadow.tags)) found.push('tags');
  return found;
}

function isSameOrigin(one: Origin | null, other: Origin | null): boolean {
  if (one === null || other === null) return one === other;
  const isSameServer =
    one.address === other.address && one.port === other.port && one.scheme === other.scheme;
  return isSameServer && one.hostHeader === other.hostHeader;
}

function isSameDirective(one: CacheDirective | null, other: CacheDirective | null): boolean {
  if (one === null || other === null) return one === other;
  return one.mode === other.mode && one.edgeTtl === other.edgeTtl && one.browserTtl === other.browserTtl;
}

function areSameTags(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((tag, at) => tag === other[at]);
}
