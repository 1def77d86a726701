/**
 * From watching to enforcing: proposes exclusions of waf rules. In: the requests of a decision log, in any order. Out: for each
 * rule what it blocked, or would have, in groups with a verdict and reasons; and for each group the narrowest exclusions, with
 * how many requests they let through and which attacks of the log would no longer be stopped.
 */
import { parseRule } from '../../rules/model/parse.ts';
import type { WafExclusion } from '../../rules/model/rules/waf.ts';
import { type Group, groupsOf } from './groups.ts';
import type { GroupFacts, GroupVerdict, VerdictReason } from './judge.ts';
import { EXAMPLES, FEWEST_VISITORS, MAX_UNCLEAR_MEASURED } from './limits.ts';
import type { ObservedRequest } from './observe.ts';
import { covers, excludedTarget, patternsOf } from './places.ts';
import {
  type BlockedKind,
  BOUNDS,
  createTally,
  type Exceeded,
  type MatchCell,
  type TallyBounds,
  type TunedSubject,
  tallyRequest,
} from './tally.ts';

/** An exclusion with its effect on the requests of the log. */
export interface TunedExclusion {
  readonly exclusion: WafExclusion;
  /** Blocked requests with a match that it covers. */
  readonly requests: number;
  /** Those that it alone lets through, and those that it lets through with all exclusions that are proposed. */
  readonly alone: number;
  readonly together: number;
  /** Likely attacks among the latter, and the ids of some. */
  readonly attacks: number;
  readonly attackExamples: readonly string[];
}

/** What one signature matched in one target, in one part of the site. */
export interface TunedGroup {
  readonly id: number;
  /** The message of the signature; empty: the log has none. */
  readonly name: string;
  readonly category: string;
  readonly target: string;
  readonly verdict: GroupVerdict;
  readonly reasons: readonly VerdictReason[];
  readonly facts: GroupFacts;
  /** Wildcards over canonical paths. */
  readonly paths: readonly string[];
  readonly parts: readonly string[];
  /** Ids of decisions. */
  readonly examples: readonly string[];
  /** Proposed for a false positive; for an unclear group what would exclude it; empty for attacks, and what none can name. */
  readonly exclusions: readonly TunedExclusion[];
}

/** What is proposed for a rule. */
export interface TunedRule {
  readonly domain: string;
  /** `<type>/<key>`. */
  readonly rule: string;
  readonly threshold: number;
  /** Requests that the rule blocked, or would have, and those that all proposals together let through. */
  readonly blocked: number;
  readonly released: number;
  /** Likely attacks among all of them, and among the latter. */
  readonly attacks: number;
  readonly releasedAttacks: number;
  /** The most requests first. */
  readonly groups: readonly TunedGroup[];
}

/** The report of a log. */
export interface TuningReport {
  readonly requests: number;
  /** Requests with a verdict of a waf rule. */
  readonly inspected: number;
  /** Milliseconds since the epoch; `null`: there are no requests. */
  readonly from: number | null;
  readonly to: number | null;
  readonly rules: readonly TunedRule[];
  readonly exceeded: Exceeded;
}

/** Options of tuning. */
export interface TuningOptions {
  /** Visitors that a likely false positive has at least. Default: `FEWEST_VISITORS`. */
  readonly minVisitors?: number | undefined;
  /** The threshold of the rules. Default: what the log shows of each. */
  readonly threshold?: number | undefined;
  readonly bounds?: TallyBounds;
}

/** Tuning: takes requests, then reports. */
export interface Tuning {
  add(request: ObservedRequest): void;
  report(): TuningReport;
}

/** The threshold of a rule that states none. */
const DEFAULT_THRESHOLD = 5;

/** Starts tuning. */
export function createTuning(options: TuningOptions = {}): Tuning {
  const { minVisitors = FEWEST_VISITORS, threshold, bounds = BOUNDS } = options;
  const tally = createTally();
  return {
    add: (request) => tallyRequest(tally, request, bounds),
    report() {
      const { groups, suspects } = groupsOf(tally, { minVisitors });
      const subjects = [...tally.subjects.values()].filter(({ blocked }) => blocked > 0);
      const rules = subjects.map((subject) =>
        tuneRule(subject, {
          groups: groups.filter((group) => group.subject === subject),
          kinds: [...tally.kinds.values()].filter((kind) => kind.subject === subject),
          suspects,
          threshold: threshold ?? thresholdOf(subject),
        }),
      );
      return {
        requests: tally.requests,
        inspected: tally.inspected,
        from: tally.requests === 0 ? null : tally.from,
        to: tally.requests === 0 ? null : tally.to,
        rules: rules.sort((left, right) => right.blocked - left.blocked || compare(left.rule, right.rule)),
        exceeded: { ...tally.exceeded },
      };
    },
  };
}

/** The threshold that the log shows: the default one unless it contradicts the log, else the lowest score that was blocked. */
function thresholdOf({ lowest, highest }: TunedSubject): number {
  if (highest < DEFAULT_THRESHOLD && DEFAULT_THRESHOLD <= lowest) return DEFAULT_THRESHOLD;
  return Number.isFinite(lowest) ? lowest : Math.max(DEFAULT_THRESHOLD, highest + 1);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** What is known of a rule. */
interface RuleFindings {
  readonly groups: readonly Group[];
  readonly kinds: readonly BlockedKind[];
  readonly suspects: ReadonlySet<number>;
  readonly threshold: number;
}

function tuneRule(subject: TunedSubject, { groups, kinds, suspects, threshold }: RuleFindings): TunedRule {
  const attackCells = new Set(
    groups.filter(({ judged }) => judged.verdict === 'attack').flatMap(({ cells }) => cells),
  );
  const isAttack = ({ visitor, matches }: BlockedKind): boolean =>
    (visitor !== null && suspects.has(visitor)) ||
    matches.some(({ cell }) => cell !== null && attackCells.has(cell));
  const cells = groups.flatMap((group) => group.cells);
  const proposed = new Set(
    groups
      .filter(({ judged }) => judged.verdict === 'false_positive')
      .flatMap(exclusionsOf)
      .flatMap((exclusion) => cells.filter((cell) => isCovered(cell, exclusion))),
  );
  const scored: Scored = { cells, kinds, isAttack, threshold, proposed };
  const released = kinds.filter((kind) => isReleased(kind, { covered: proposed, threshold }));
  return {
    domain: subject.domain,
    rule: subject.rule,
    threshold,
    blocked: subject.blocked,
    released: requestsOf(released),
    attacks: requestsOf(kinds.filter(isAttack)),
    releasedAttacks: requestsOf(released.filter(isAttack)),
    groups: tuneGroups(groups, scored),
  };
}

/** The groups, the most requests first; the same log in another order gives the same. */
function tuneGroups(groups: readonly Group[], scored: Scored): readonly TunedGroup[] {
  const placed = groups.map((group) => ({ group, paths: patternsOf(group.cells.map(({ path }) => path)) }));
  placed.sort(
    (left, right) =>
      right.group.facts.requests - left.group.facts.requests ||
      left.group.id - right.group.id ||
      compare(left.group.target, right.group.target) ||
      compare(left.paths.join(' '), right.paths.join(' ')),
  );
  let unclear = 0;
  return placed.map(({ group, paths }) => {
    const { verdict } = group.judged;
    const isMeasured =
      verdict === 'false_positive' || (verdict === 'unclear' && ++unclear <= MAX_UNCLEAR_MEASURED);
    const exclusions = isMeasured ? exclusionsOf(group) : [];
    return tuneGroup(group, { paths, exclusions: exclusions.map((one) => measure(one, scored)) });
  });
}

function requestsOf(kinds: readonly BlockedKind[]): number {
  return kinds.reduce((sum, { requests }) => sum + requests, 0);
}

/** What exclusions are measured on. */
interface Scored {
  readonly cells: readonly MatchCell[];
  readonly kinds: readonly BlockedKind[];
  readonly isAttack: (kind: BlockedKind) => boolean;
  readonly threshold: number;
  /** The cells that all proposals cover. */
  readonly proposed: ReadonlySet<MatchCell>;
}

function tuneGroup(
  { id, target, cells, facts, judged }: Group,
  { paths, exclusions }: Pick<TunedGroup, 'paths' | 'exclusions'>,
): TunedGroup {
  const first = (of: (cell: MatchCell) => Iterable<string>): readonly string[] =>
    [...new Set(cells.flatMap((cell) => [...of(cell)]))].slice(0, EXAMPLES);
  return {
    ...{ id, target, facts, paths, exclusions, ...judged },
    name: cells.find(({ name }) => name !== '')?.name ?? '',
    category: cells.find(({ category }) => category !== '')?.category ?? '',
    parts: first((cell) => cell.parts),
    examples: first((cell) => cell.examples),
  };
}

/** The narrowest exclusions that cover a group. */
function exclusionsOf({ id, target, cells }: Group): readonly WafExclusion[] {
  const named = excludedTarget(target);
  if (named === null) return [];
  return patternsOf(cells.map(({ path }) => path))
    .map((path) => ({ id, tag: '', target: named, path }))
    .filter((exclusion) => parseRule('waf', { exclusions: [exclusion] }).ok);
}

function measure(
  exclusion: WafExclusion,
  { cells, kinds, isAttack, threshold, proposed }: Scored,
): TunedExclusion {
  const own = new Set(cells.filter((cell) => isCovered(cell, exclusion)));
  const touched = kinds.filter(({ matches }) => matches.some(({ cell }) => cell !== null && own.has(cell)));
  const alone = touched.filter((kind) => isReleased(kind, { covered: own, threshold }));
  const both = new Set([...own, ...proposed]);
  const together = touched.filter((kind) => isReleased(kind, { covered: both, threshold }));
  const attacks = together.filter(isAttack);
  return {
    exclusion,
    requests: requestsOf(touched),
    alone: requestsOf(alone),
    together: requestsOf(together),
    attacks: requestsOf(attacks),
    attackExamples: attacks.slice(0, EXAMPLES).map(({ example }) => example),
  };
}

function isCovered(cell: MatchCell, { id, target, path }: WafExclusion): boolean {
  return (
    id === cell.id && coversTarget(target, cell.target) && (path === cell.path || covers(path, cell.path))
  );
}

function coversTarget(excluded: string, target: string): boolean {
  return excluded === '' || excluded === target || target.startsWith(`${excluded}:`);
}

/** Whether the score without the covered matches stays below the threshold, and nothing else blocks the request. */
function isReleased(
  { matches, rest, verdict }: BlockedKind,
  { covered, threshold }: { readonly covered: ReadonlySet<MatchCell>; readonly threshold: number },
): boolean {
  const { score, isScored, isForced, isUninspected } = verdict;
  // A body below the threshold that was not inspected whole was refused for that, and is again.
  if (isForced || (isUninspected && score < threshold)) return false;
  const left = matches.filter(({ cell }) => cell === null || !covered.has(cell));
  if (left.length === matches.length) return false;
  // Without scores of its matches only a request that loses all of them is known to pass.
  if (!isScored) return left.length === 0;
  return rest + left.reduce((sum, match) => sum + match.score, 0) < threshold;
}
