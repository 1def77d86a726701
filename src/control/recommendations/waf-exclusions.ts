/**
 * Exclusions that false positives suggest. In: `waf` rules and the log entries of requests that each blocked, or would have
 * blocked. Out: a recommendation for each signature that looks like a false positive. It does if, since the last change of the
 * rule,
 *
 * - at least twenty blocked requests were scored by this signature alone, and they are nine tenths of those it scored,
 * - they came from at least ten networks, in at least six different hours, and none of them from a known bot,
 * - a page of the domain led to four fifths of them, by what the browser states,
 * - they have at most three pairs of path and inspected variable.
 *
 * An attacker can imitate each of these, so the message asks to look at the entries, and the proposed exclusion covers the
 * variable on the path alone. Requests that an exclusion of the rule covers already are not counted.
 */
import { timeText } from '../../base/text/time.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { WafExclusion } from '../../rules/model/rules/waf.ts';
import type { WafRule } from '../../rules/model/types.ts';
import {
  FALSE_POSITIVE_ALONE,
  FALSE_POSITIVE_HOURS,
  FALSE_POSITIVE_OWN_PAGE,
  FALSE_POSITIVE_PLACES,
  FALSE_POSITIVE_REQUESTS,
  FALSE_POSITIVE_VISITORS,
  MAX_EXAMPLES,
} from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { type EntryRequest, type RuleFact, ruleName, type StoredFacts } from './stored-facts.ts';

const HOUR_MS = 3_600_000;

/** The family. */
export function wafExclusions({ rules, entries }: StoredFacts): readonly DraftRecommendation[] {
  if (entries === null) return [];
  return rules.flatMap(({ rule, updatedAt }) => {
    if (rule.type !== 'waf' || !rule.enabled) return [];
    const logged = entries.find((one) => one.rule === ruleName(rule))?.requests ?? [];
    const blocked = logged.filter(({ at, effect }) => at >= updatedAt && effect === 'block');
    return falsePositives({ rule, updatedAt, blocked });
  });
}

/** A rule, and the entries of requests that it blocked since its last change. */
interface BlockedBy extends Pick<RuleFact, 'updatedAt'> {
  readonly rule: WafRule;
  readonly blocked: readonly EntryRequest[];
}

function falsePositives(by: BlockedBy): readonly DraftRecommendation[] {
  const signatures = [...new Set(by.blocked.flatMap(({ verdict }) => verdict?.ids ?? []))];
  return signatures
    .sort((left, right) => left - right)
    .flatMap((signature) => judgeSignature(signature, by) ?? []);
}

/** A path, and the only variable in which the signature matched there. */
interface Place {
  readonly path: string;
  readonly target: string;
  readonly requests: number;
}

function judgeSignature(signature: number, { rule, blocked }: BlockedBy): DraftRecommendation | null {
  const scored = blocked.filter(({ verdict }) => verdict?.ids.includes(signature));
  const alone = scored.filter(
    (request) => request.verdict!.ids.length === 1 && !isExcluded(rule, { signature, request }),
  );
  const visitors = new Set(alone.flatMap(({ visitor }) => visitor ?? [])).size;
  const hours = new Set(alone.map(({ at }) => Math.floor(at / HOUR_MS))).size;
  const ownPages = alone.filter(({ fromOwnPage }) => fromOwnPage).length;
  const places = placesOf(alone);
  const isLikely =
    alone.length >= FALSE_POSITIVE_REQUESTS &&
    alone.length / scored.length >= FALSE_POSITIVE_ALONE &&
    visitors >= FALSE_POSITIVE_VISITORS &&
    hours >= FALSE_POSITIVE_HOURS &&
    ownPages / alone.length >= FALSE_POSITIVE_OWN_PAGE &&
    !alone.some(({ isBot }) => isBot) &&
    places !== null;
  if (!isLikely) return null;
  const name = ruleName(rule);
  const times = alone.map(({ at }) => at);
  const did = rule.action_mode === 'enforce' ? 'blocked' : 'would have blocked';
  return {
    kind: 'waf_false_positive',
    subject: `${name}:${signature}`,
    severity: 'warning',
    message: `rule \`${name}\` ${did} ${alone.length} logged requests of ${visitors} visitors that signature ${signature} alone scored; look at the entries, and exclude it there only if the requests are harmless`,
    evidence: {
      rule: name,
      signature,
      from: timeText(Math.min(...times)),
      to: timeText(Math.max(...times) + 1),
      entries: blocked.length,
      requests: alone.length,
      visitors,
      hours,
      own_pages: ownPages,
      places: [...places],
      examples: alone.slice(0, MAX_EXAMPLES).map(({ id }) => id),
    },
    change: exclude(rule, { signature, places }),
  };
}

/** The places of the requests, the most frequent first; `null`: there are too many, or no exclusion can name one. */
function placesOf(requests: readonly EntryRequest[]): readonly Place[] | null {
  const places = new Map<string, Place>();
  for (const { path, verdict } of requests) {
    const [target = '', ...others] = verdict?.targets ?? [];
    // A star or an escape would mean something else in an exclusion (semantics §1.1).
    if (target === '' || others.length > 0 || /[*%]/.test(path) || target.includes('*')) return null;
    const key = `${target} ${path}`;
    places.set(key, { path, target, requests: (places.get(key)?.requests ?? 0) + 1 });
    if (places.size > FALSE_POSITIVE_PLACES) return null;
  }
  // By name where the numbers are equal: the same entries in another order propose the same change.
  return [...places]
    .sort(([one, left], [other, right]) => right.requests - left.requests || (one < other ? -1 : 1))
    .map(([, place]) => place);
}

/** Whether the rule leaves out the signature in the variable that it matched. */
function isExcluded(
  rule: WafRule,
  { signature, request }: { readonly signature: number; readonly request: EntryRequest },
): boolean {
  const { path, verdict } = request;
  if (rule.rule_excludes.includes(String(signature))) return true;
  return rule.exclusions.some(
    (one) =>
      one.id === signature &&
      (one.target === '' || verdict?.targets.includes(one.target) === true) &&
      (one.path === '/*' || one.path === path),
  );
}

function exclude(
  rule: WafRule,
  { signature, places }: { readonly signature: number; readonly places: readonly Place[] },
): DraftRecommendation['change'] {
  const added = places.map(({ path, target }): WafExclusion => ({ id: signature, tag: '', target, path }));
  const changed: WafRule = { ...rule, exclusions: [...rule.exclusions, ...added] };
  const { id: _, type, ...fields } = changed;
  // A variable that no exclusion can name, or a rule with as many exclusions as it may have.
  if (!parseRule(type, fields).ok) return null;
  const list = places.map(({ path, target }) => `${target} on ${path}`).join(', ');
  return {
    summary: `signature ${signature} of rule ${ruleName(rule)} does not inspect ${list}`,
    rules: [changed],
  };
}
