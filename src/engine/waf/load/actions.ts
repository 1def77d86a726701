/**
 * Compiles the actions `setvar` and `ctl` of rules. Names and values of `setvar` without macros are computed once, the
 * rest in each inspection.
 */
import type {
  SignatureRule,
  WafControl,
  WafSetVar,
  WafTarget,
  WafText,
} from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { numberOf } from '../operators/operators.ts';
import { type Matcher, patternEnd } from '../patterns/pattern.ts';
import type { ExclusionSubject, TargetExclusion } from '../request/inspection.ts';
import type { Assignment, RuntimeControl } from '../request/rule-set.ts';
import { selects } from '../request/target-classes.ts';
import { expand, plainText, type Transaction } from '../request/transaction.ts';
import { readTx, writeTx } from '../request/tx.ts';
import { lowerTarget } from './target-classes.ts';

/** What an assignment is compiled from, besides the action. */
export interface AssignmentParts {
  /** Returns a text with its macros expanded if it is the same in every inspection, else `null`. */
  readonly constant: (text: WafText) => string | null;
  /** The TX variables whose sum is the score, in lower case. */
  readonly scores: ReadonlySet<string>;
}

/**
 * Compiles one `setvar`. Assignments to the score's variables return what they add, which becomes the score of the
 * rule.
 */
export function prepareAssignment(setVar: WafSetVar, parts: AssignmentParts): Assignment {
  const { scores } = parts;
  const whole = plainText(setVar.name)?.toLowerCase() ?? null;
  const nameFor = (transaction: Transaction): string =>
    whole ?? expand(setVar.name, transaction).toLowerCase();
  const write = prepareWrite(setVar, parts);
  const repeats = whole !== null && (setVar.kind === 'unset' || parts.constant(setVar.value) !== null);
  const run: Assignment['run'] = (transaction, times) => {
    const name = nameFor(transaction);
    if (!scores.has(name)) {
      write(transaction, name, times);
      return 0;
    }
    // A variable that is not set counts as 0, as in ModSecurity.
    const before = numberOf(readTx(transaction.tx, name) ?? '');
    write(transaction, name, times);
    return numberOf(readTx(transaction.tx, name) ?? '') - before;
  };
  return { run, repeats };
}

/** Compiles the write itself; the compiled function takes the variable's name in lower case. */
function prepareWrite(
  setVar: WafSetVar,
  { constant }: AssignmentParts,
): (transaction: Transaction, name: string, times: number) => void {
  switch (setVar.kind) {
    case 'unset':
      return ({ tx }, name) => writeTx(tx, name, null);
    case 'set': {
      const value = constant(setVar.value);
      if (value !== null) return ({ tx }, name) => writeTx(tx, name, value);
      return (transaction, name) => writeTx(transaction.tx, name, expand(setVar.value, transaction));
    }
    case 'add': {
      const known = constant(setVar.value);
      const change = known === null ? null : setVar.sign * numberOf(known);
      return (transaction, name, times) => {
        const by = change ?? setVar.sign * numberOf(expand(setVar.value, transaction));
        writeTx(transaction.tx, name, String(numberOf(readTx(transaction.tx, name) ?? '') + by * times));
      };
    }
    default:
      return setVar satisfies never;
  }
}

// Compiles `ctl` actions; the rules that an action removes are determined once, when the level is compiled.

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
    case 'decodeRequestBody':
      return (transaction) => {
        transaction.decodes = control.on;
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
