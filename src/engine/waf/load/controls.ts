/** Compiles `ctl` actions; the rules that an action removes are determined once, when the level is compiled. */
import type { SignatureRule, WafControl, WafTarget } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { type Matcher, patternEnd } from '../patterns/pattern.ts';
import type { ExclusionSubject, TargetExclusion } from '../request/exclusions.ts';
import type { RuntimeControl } from '../request/rule-set.ts';
import { selects } from '../request/target-classes.ts';
import { lowerTarget } from './target-classes.ts';

/** What a control is compiled from, besides the action. */
export interface ControlParts {
  /** The rules of the level, of which a control removes some. */
  readonly rules: readonly SignatureRule[];
  /** By number of a pattern. */
  readonly matchers: readonly Matcher[];
}

/** Compiles one `ctl`. */
export function prepareControl(control: WafControl, parts: ControlParts): RuntimeControl {
  switch (control.kind) {
    case 'forceRequestBodyVariable':
      return (transaction) => {
        transaction.forced = control.on;
      };
    case 'requestBodyProcessor':
      return (transaction) => {
        transaction.processor = control.processor;
      };
    case 'ruleEngine':
      return (transaction) => {
        transaction.engine = control.mode;
      };
    // Removals append to the exclusions of this transaction: they apply to later rules of the same inspection only.
    case 'ruleRemoveById':
    case 'ruleRemoveByTag': {
      const subject = subjectOf(control, parts);
      return ({ exclusions }) => {
        exclusions.rules.push(subject);
      };
    }
    case 'ruleRemoveTargetById':
    case 'ruleRemoveTargetByTag': {
      const exclusion = {
        subject: subjectOf(control, parts),
        covers: coverageOf(lowerTarget(control.target), parts.matchers),
      };
      return ({ exclusions }) => {
        exclusions.targets.push(exclusion);
      };
    }
    default:
      return control satisfies never;
  }
}

/** Whether a target covers a member, by the member's variable and name. */
function coverageOf(target: WafTarget, matchers: readonly Matcher[]): TargetExclusion['covers'] {
  return (variable, name) => variable === target.variable && selects(target, name, matchers);
}

/** The controls that name rules: by ranges of ids, or by a pattern of tags. */
type RuleControl = Extract<WafControl, { readonly ranges: unknown } | { readonly pattern: number }>;

/** The rules that a control applies to. */
function subjectOf(control: RuleControl, { rules, matchers }: ControlParts): ExclusionSubject {
  const meter: Meter = { left: Number.MAX_SAFE_INTEGER, inspection: 0 };
  // Tags are matched without step budget: once a level, not in a request.
  const concerned = new Set(
    rules.filter(({ id, tags }) =>
      'ranges' in control
        ? control.ranges.some(({ from, to }) => id >= from && id <= to)
        : tags.some((tag) => patternEnd(matchers[control.pattern]!, tag, meter) >= 0),
    ),
  );
  return (rule) => concerned.has(rule);
}
