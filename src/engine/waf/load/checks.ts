/** Compiles operators to functions of a value, with the properties that exclude values before the function runs. */
import { KIND, KIND_BITS, KINDS } from '../../../base/octets/octet-kinds.ts';
import type { WafDetector, WafOperator, WafText } from '../../plan/signature-program.ts';
import { DETECTORS, isDetector } from '../detectors/detectors.ts';
import type { Meter } from '../octets/meter.ts';
import {
  ipMatch,
  NUMBER_OPERATORS,
  numberOf,
  PLAIN_OPERATORS,
  prepareByteRange,
  prepareIpMatch,
  TEXT_OPERATORS,
  validateByteRange,
} from '../operators/operators.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import { type Matcher, mayMatch, patternEnd, patternMatches, shortestMatch } from '../patterns/pattern.ts';
import { containsLiteralOf, type OperatorCheck } from '../request/target-classes.ts';
import { expand, type Transaction } from '../request/transaction.ts';
import type { InspectedValue } from '../request/values.ts';

/** What an operator is compiled from, besides its own fields. */
export interface CheckParts {
  /** By number of a pattern. */
  readonly matchers: readonly Matcher[];
  /** The literal index of the level. */
  readonly index: LiteralIndex;
  /** The set in the index of the literals that a pattern requires; -1: it requires none. */
  readonly setOfPattern: (pattern: number) => number;
  /** The set in the index of a list of phrases. */
  readonly setOfPhrases: (phrases: number) => number;
  /** The set in the index of a detector's triggers; -1: it declares none. */
  readonly setOfDetector: (detector: WafDetector) => number;
  /** The length in octets of a set's shortest literal. */
  readonly shortestOfSet: (set: number) => number;
  /** Returns a text with its macros expanded if it is the same in every inspection, else `null`. */
  readonly constant: (text: WafText) => string | null;
}

/** The set of literals of which every matching value contains one; -1: the operator requires none. */
export function setOf(operator: WafOperator, parts: CheckParts): number {
  if (operator.kind === 'rx') return parts.setOfPattern(operator.pattern);
  if (isDetector(operator.kind)) return parts.setOfDetector(operator.kind);
  return operator.kind === 'pm' ? parts.setOfPhrases(operator.phrases) : -1;
}

/** The length in octets of the shortest value that an operator can match; 0: values of any length. */
export function shortestFor(operator: WafOperator, parts: CheckParts): number {
  if (isDetector(operator.kind)) return DETECTORS[operator.kind].shortest;
  const set = setOf(operator, parts);
  if (set >= 0) return parts.shortestOfSet(set);
  switch (operator.kind) {
    case 'rx':
      return shortestMatch(parts.matchers[operator.pattern]!);
    case 'streq':
    case 'contains':
    case 'containsWord':
    case 'beginsWith':
    case 'endsWith':
    case 'strmatch':
      return parts.constant(operator.value)?.length ?? 0;
    default:
      return 0;
  }
}

/** `Detector.breadth` of an operator, 0 of one that is no detector. */
export function breadthOf({ kind }: WafOperator): number {
  return isDetector(kind) ? (DETECTORS[kind].breadth ?? 0) : 0;
}

/** The kinds of octets of which a value must contain at least one to match; -1: no such requirement. */
export function neededBy(operator: WafOperator, { matchers, constant }: CheckParts): number {
  if (isDetector(operator.kind)) return DETECTORS[operator.kind].kinds;
  switch (operator.kind) {
    case 'rx':
      return matchers[operator.pattern]!.pattern.needed;
    case 'streq':
    case 'contains':
    case 'containsWord':
    case 'beginsWith':
    case 'endsWith':
    case 'strmatch':
      return rarestKind(constant(operator.value) ?? '');
    // The `validate…` operators match invalid values only.
    case 'validateUrlEncoding':
      return KIND.percent;
    case 'validateUtf8Encoding':
      return KIND.high;
    case 'validateByteRange':
      // The kinds of octets that are not allowed.
      return operator.allowed.reduce((kinds, allowed, octet) => (allowed ? kinds : kinds | KINDS[octet]!), 0);
    default:
      // Among them the comparisons of numbers: the empty value counts as 0.
      return -1;
  }
}

/** The kind of a text's octets that is rarest in values (last in `KIND_BITS`); -1: the text is empty. */
function rarestKind(text: string): number {
  let rarest = -1;
  for (let at = 0; at < text.length; at++) {
    const place = KIND_BITS.indexOf(KINDS[text.charCodeAt(at)]!);
    rarest = Math.max(rarest, place);
  }
  return rarest < 0 ? -1 : KIND_BITS[rarest]!;
}

/** The argument of an operator that compares with a text; `null`: the operator has none. */
function argumentOf(operator: WafOperator): WafText | null {
  return 'value' in operator ? operator.value : null;
}

/** Compiles an operator to a function of the value alone; `null`: its argument depends on the inspection. */
export function constantCheck(operator: WafOperator, parts: CheckParts): OperatorCheck | null {
  const written = argumentOf(operator);
  if (written === null) return checkWithoutText(operator, parts);
  const argument = parts.constant(written);
  return argument === null ? null : (value) => compare(operator, value.text, argument);
}

/** Compiles an operator whose argument has macros to a function of the value and of the transaction. */
export function openCheck(
  operator: WafOperator,
): (value: InspectedValue, transaction: Transaction) => boolean {
  const written = argumentOf(operator)!;
  return (value, transaction) => compare(operator, value.text, expand(written, transaction));
}

/** Compares the value with the expanded argument. The operators without a text argument never get here. */
function compare(operator: WafOperator, value: string, argument: string): boolean {
  switch (operator.kind) {
    case 'eq':
    case 'ge':
    case 'gt':
    case 'le':
    case 'lt':
      return NUMBER_OPERATORS[operator.kind](value, numberOf(argument));
    case 'streq':
    case 'contains':
    case 'containsWord':
    case 'beginsWith':
    case 'endsWith':
    case 'strmatch':
    case 'within':
      return TEXT_OPERATORS[operator.kind](value, argument);
    default:
      return false;
  }
}

/** Fixed step cost of a detector, and its cost per octet (high, because it parses the value in several contexts). */
const DETECTOR_STEPS = 150;
const DETECTOR_OCTET_STEPS = 12;

/**
 * Steps for a value that a detector reports, besides: its grammar has read further, and the rule records a match. A list of
 * thousands of attacks ends with the budget.
 */
const DETECTED_STEPS = 2_000;

/** Compiles an operator that does not compare with a text. */
function checkWithoutText(operator: WafOperator, parts: CheckParts): OperatorCheck {
  if (isDetector(operator.kind)) {
    const { find } = DETECTORS[operator.kind];
    return (value, meter) => {
      if (!chargeDetector(value, meter) || find(value.text) === null) return false;
      meter.left -= DETECTED_STEPS;
      return true;
    };
  }
  switch (operator.kind) {
    case 'rx':
      return patternCheck(operator.pattern, parts);
    case 'pm': {
      const set = parts.setOfPhrases(operator.phrases);
      return (value) => containsLiteralOf(value, parts.index, set);
    }
    case 'ipMatch': {
      const intervals = prepareIpMatch(operator.prefixes);
      return (value) => ipMatch(value.text, intervals);
    }
    case 'validateByteRange': {
      const allowed = prepareByteRange(operator.allowed);
      return (value) => validateByteRange(value.text, allowed);
    }
    case 'noMatch':
    case 'unconditionalMatch':
    case 'validateUrlEncoding':
    case 'validateUtf8Encoding': {
      const check = PLAIN_OPERATORS[operator.kind];
      return (value) => check(value.text);
    }
    default:
      return () => false;
  }
}

/** Charges a detector's steps; `false`: the budget is exhausted. */
function chargeDetector(value: InspectedValue, meter: Meter): boolean {
  meter.left -= DETECTOR_STEPS + DETECTOR_OCTET_STEPS * value.text.length;
  return meter.left >= 0;
}

/** Compiles `@rx`: the shape and the required literals are checked before the pattern's automaton runs. */
function patternCheck(pattern: number, parts: CheckParts): OperatorCheck {
  const matcher = parts.matchers[pattern]!;
  const set = parts.setOfPattern(pattern);
  if (set < 0) return (value, meter) => patternMatches(matcher, value, meter);
  return (value, meter) =>
    mayMatch(matcher, value.shape) &&
    containsLiteralOf(value, parts.index, set) &&
    patternEnd(matcher, value.text, meter) >= 0;
}
