/**
 * Exclusions that false positives suggest. In: `waf` rules and the log entries of requests that each blocked, or would have
 * blocked. Out: a recommendation for each signature that `workbench/tuning` judges to be a likely false positive, with its
 * reasons. Entries are a sample of what was blocked and have no ordinary requests, so that more is asked for than of a whole
 * log: since the last change of the rule
 *
 * - at least twenty blocked requests of ten networks in six hours, none of them from a known bot,
 * - a page of the domain led to four fifths of them, by what the browser states,
 * - nine tenths of what the signature scored is in at most three places, each a target on a path or below one.
 *
 * An attacker can imitate each of these, so the message asks to look at the entries. Matches that an exclusion of the rule
 * covers already are not counted.
 */
import { timeText } from '../../base/text/time.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { WafExclusion } from '../../rules/model/rules/waf.ts';
import type { WafRule } from '../../rules/model/types.ts';
import type { ObservedMatch, ObservedVerdict } from '../../workbench/tuning/observe.ts';
import { covers } from '../../workbench/tuning/places.ts';
import { createTuning, type TunedGroup } from '../../workbench/tuning/tune.ts';
import {
  FALSE_POSITIVE_HOURS,
  FALSE_POSITIVE_PLACES,
  FALSE_POSITIVE_REQUESTS,
  FALSE_POSITIVE_SHARE,
  FALSE_POSITIVE_VISITORS,
  MAX_EXAMPLES,
} from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { type EntryRequest, ruleName, type StoredFacts } from './stored-facts.ts';

const HOUR_MS = 3_600_000;

/** The family. */
export function wafExclusions({ rules, entries }: StoredFacts): readonly DraftRecommendation[] {
  if (entries === null) return [];
  return rules.flatMap(({ rule, updatedAt }) => {
    if (rule.type !== 'waf' || !rule.enabled) return [];
    const logged = entries.find((one) => one.rule === ruleName(rule))?.requests ?? [];
    const blocked = logged.flatMap((request) => {
      const { at, effect, verdict } = request;
      if (at < updatedAt || effect !== 'block' || verdict === null) return [];
      return { ...request, verdict: withoutExcluded(rule, request, verdict) };
    });
    return falsePositives(rule, blocked);
  });
}

/** A request that the rule blocked, or would have. */
type BlockedEntry = EntryRequest & { readonly verdict: ObservedVerdict };

/** The verdict without matches that the rule excludes by now; where several lack scores of their own, also without targets. */
function withoutExcluded(rule: WafRule, { path }: EntryRequest, verdict: ObservedVerdict): ObservedVerdict {
  const matches = verdict.matches.filter((match) => !isExcluded(rule, path, match));
  return { ...verdict, matches: verdict.isScored ? matches : matches.map((one) => ({ ...one, target: '' })) };
}

function isExcluded(rule: WafRule, path: string, { id, target }: ObservedMatch): boolean {
  if (rule.rule_excludes.includes(String(id))) return true;
  return rule.exclusions.some(
    (one) =>
      one.id === id &&
      (one.target === '' || one.target === target || target.startsWith(`${one.target}:`)) &&
      covers(one.path, path),
  );
}

function falsePositives(rule: WafRule, blocked: readonly BlockedEntry[]): readonly DraftRecommendation[] {
  const tuning = createTuning({ minVisitors: FALSE_POSITIVE_VISITORS, threshold: rule.threshold });
  // Ordinary requests are not among the entries, so that the visitors of a section are not known.
  for (const { verdict, ...entry } of blocked)
    tuning.add({ ...entry, domain: '', isSampled: true, verdicts: [verdict] });
  const groups = tuning.report().rules.flatMap((tuned) => tuned.groups);
  const signatures = [...new Set(groups.map(({ id }) => id))].sort((left, right) => left - right);
  return signatures.flatMap((signature) => {
    const own = groups.filter(({ id }) => id === signature);
    return judgeSignature(signature, { rule, blocked, groups: own }) ?? [];
  });
}

/** The groups of one signature, among the requests that the rule blocked. */
interface SignatureGroups {
  readonly rule: WafRule;
  readonly blocked: readonly BlockedEntry[];
  readonly groups: readonly TunedGroup[];
}

function judgeSignature(
  signature: number,
  { rule, blocked, groups }: SignatureGroups,
): DraftRecommendation | null {
  const scored = blocked.filter(({ verdict }) => verdict.matches.some(({ id }) => id === signature));
  const likely = groups.filter(({ verdict }) => verdict === 'false_positive');
  const requests = scored.filter((entry) => likely.some((group) => isOfGroup(entry, group)));
  const visitors = new Set(requests.flatMap(({ visitor }) => visitor ?? [])).size;
  const hours = new Set(requests.map(({ at }) => Math.floor(at / HOUR_MS))).size;
  const places = likely.flatMap(placesOf);
  const isLikely =
    requests.length >= FALSE_POSITIVE_REQUESTS &&
    requests.length / scored.length >= FALSE_POSITIVE_SHARE &&
    hours >= FALSE_POSITIVE_HOURS &&
    !requests.some(({ isBot }) => isBot) &&
    places.length <= FALSE_POSITIVE_PLACES &&
    places.every(isNarrow);
  if (!isLikely) return null;
  const name = ruleName(rule);
  const times = requests.map(({ at }) => at);
  const did = rule.action_mode === 'enforce' ? 'blocked' : 'would have blocked';
  const reasons = [...new Set(likely.flatMap((group) => group.reasons.map(({ text }) => text)))];
  return {
    kind: 'waf_false_positive',
    subject: `${name}:${signature}`,
    severity: 'warning',
    message: `rule \`${name}\` ${did} ${requests.length} logged requests of ${visitors} visitors by signature ${signature}, a likely false positive: ${reasons.join('; ')}; look at the entries, and exclude it there only if the requests are harmless`,
    evidence: {
      rule: name,
      signature,
      from: timeText(Math.min(...times)),
      to: timeText(Math.max(...times) + 1),
      entries: blocked.length,
      requests: requests.length,
      visitors,
      hours,
      own_pages: requests.filter(({ fromOwnPage }) => fromOwnPage).length,
      reasons,
      places: [...places],
      examples: requests.slice(0, MAX_EXAMPLES).map(({ id }) => id),
    },
    change: exclude(rule, { signature, places }),
  };
}

function isOfGroup({ path, verdict }: BlockedEntry, { id, target, paths }: TunedGroup): boolean {
  return (
    verdict.matches.some((match) => match.id === id && match.target === target) &&
    paths.some((pattern) => covers(pattern, path))
  );
}

/** A target on the paths of one wildcard, with what an exclusion there would do. */
interface Place {
  readonly path: string;
  readonly target: string;
  readonly requests: number;
  readonly let_through: number;
  readonly attacks: number;
}

/** The places of a group, as its exclusions name them; where none can, as they were logged. */
function placesOf({ target, paths, facts, exclusions }: TunedGroup): readonly Place[] {
  if (exclusions.length === 0) {
    const { requests } = facts;
    return paths.map((path) => ({ path, target, requests, let_through: 0, attacks: 0 }));
  }
  return exclusions.map(({ exclusion, requests, together, attacks }) => ({
    path: exclusion.path,
    target: exclusion.target,
    requests,
    let_through: together,
    attacks,
  }));
}

/** Whether a place names a target, and paths below one first step. */
function isNarrow({ path, target }: Place): boolean {
  return (
    target !== '' &&
    !path.startsWith('/*') &&
    path.split('/').every((step) => step === '*' || !step.includes('*'))
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
