/**
 * Gates: cheap tests that decide whether a dear one is run. A rule whose first condition is a detector, and whose second
 * one searches what the first has matched for a pattern, matches nothing where no member matches the pattern. So the pattern
 * is a test of the members themselves, the gate, and the detector runs only in requests in which the gate has a hit. Most
 * requests have none, and the members that the detector finds in the others are the same as ever, as are the reports.
 */
import type { WafCondition } from '../../plan/signature-program.ts';
import { DETECTORS, isDetector } from '../detectors/detectors.ts';
import type { ChainLink, CompiledRule } from '../request/rule-set.ts';

/** The places in `rules` of the rules with a gate. A test that a rule without a gate needs, too, has none. */
export function gatedRules(rules: readonly CompiledRule[]): readonly number[] {
  const gated = rules.flatMap(({ rule, links }, at) => (rule.phase === 2 && hasGate(links) ? [at] : []));
  const dear = (at: number): number => rules[at]!.links[0]!.test;
  return gated.filter((place) =>
    rules.every(
      ({ links }, at) =>
        (gated.includes(at) && links.every(({ test }, link) => link === 0 || test !== dear(place))) ||
        links.every(({ test }) => test !== dear(place)),
    ),
  );
}

/** Whether the conditions are a detector and a pattern in what it matched, and matching the first alone has no effect. */
function hasGate([first, second]: readonly ChainLink[]): boolean {
  if (first === undefined || second === undefined || first.test < 0) return false;
  const { operator, negated, multiMatch, capture, setVars, controls } = first.condition;
  if (!isDetector(operator.kind) || DETECTORS[operator.kind].triggers !== undefined) return false;
  if (negated || multiMatch || capture || setVars.length > 0 || controls.length > 0) return false;
  return isSearch(second);
}

/** Whether a condition is a pattern in all members that the conditions before it matched. */
function isSearch({ condition, targets }: ChainLink): boolean {
  const { operator, negated, multiMatch } = condition;
  if (operator.kind !== 'rx' || negated || multiMatch || targets === null) return false;
  const [target, ...others] = targets.include;
  if (target === undefined || others.length > 0 || targets.exclude.length > 0) return false;
  return target.variable === 'MATCHED_VARS' && target.selector.kind === 'all' && !target.count;
}

/** The gate of a rule: its second condition on the members of its first one, behind the transformations of both. */
export function gateOf({ links }: CompiledRule, chain: number): WafCondition {
  const [first, second] = links as readonly [ChainLink, ChainLink];
  return { ...second.condition, targets: first.condition.targets, chain };
}
