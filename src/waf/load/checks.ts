/** Operators as functions of a value. */
import { KIND, KIND_BITS, KINDS } from '../../base/octet-kinds.ts';
import type { WafOperator, WafText } from '../../plan/signature-program.ts';
import { GLANCED_KINDS } from '../detectors/sqli/glance.ts';
import { detectSqli, SHORTEST_SQLI } from '../detectors/sqli.ts';
import { detectXss, SHORTEST_XSS } from '../detectors/xss.ts';
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
import { containsLiteralOf, type OperatorCheck } from '../request/conditions.ts';
import { expand } from '../request/macros.ts';
import type { Transaction } from '../request/transaction.ts';
import type { InspectedValue } from '../request/values.ts';

/** What a check may need beside the value. */
export interface CheckParts {
  readonly matchers: readonly Matcher[];
  readonly index: LiteralIndex;
  /** The set of a pattern's required literals, or of a list of phrases, in the index; -1: none. */
  readonly setOfPattern: (pattern: number) => number;
  readonly setOfPhrases: (phrases: number) => number;
  /** The octets of a set's shortest literal. */
  readonly shortestOfSet: (set: number) => number;
  /** A text that is the same in every inspection; `null`: it is not. */
  readonly constant: (text: WafText) => string | null;
}

/** An operator's set of literals of which one must be in the value; -1: there is none. */
export function setOf(operator: WafOperator, parts: CheckParts): number {
  if (operator.kind === 'rx') return parts.setOfPattern(operator.pattern);
  return operator.kind === 'pm' ? parts.setOfPhrases(operator.phrases) : -1;
}

/** Octets that a value must have for an operator to hold; 0: any value may do. */
export function shortestFor(operator: WafOperator, parts: CheckParts): number {
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
    case 'detectSQLi':
      return SHORTEST_SQLI;
    case 'detectXSS':
      return SHORTEST_XSS;
    default:
      return 0;
  }
}

/** The kinds of octets of which a value must hold one for an operator to hold; -1: any value may do. */
export function neededBy(operator: WafOperator, { matchers, constant }: CheckParts): number {
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
    case 'detectSQLi':
      return GLANCED_KINDS;
    case 'detectXSS':
      return KIND.angle | KIND.equals;
    case 'validateUrlEncoding':
      return KIND.percent;
    case 'validateUtf8Encoding':
      return KIND.high;
    case 'validateByteRange':
      return operator.allowed.reduce((kinds, allowed, octet) => (allowed ? kinds : kinds | KINDS[octet]!), 0);
    default:
      return -1;
  }
}

/** The kind of a text's octets that values hold least often; -1: the text is empty. */
function rarestKind(text: string): number {
  let rarest = -1;
  for (let at = 0; at < text.length; at++) {
    const place = KIND_BITS.indexOf(KINDS[text.charCodeAt(at)]!);
    rarest = Math.max(rarest, place);
  }
  return rarest < 0 ? -1 : KIND_BITS[rarest]!;
}

/** The argument of an operator that takes a text. */
function argumentOf(operator: WafOperator): WafText | null {
  return 'value' in operator ? operator.value : null;
}

/** The operator as a function of the value alone; `null`: it depends on what the inspection has come to. */
export function constantCheck(operator: WafOperator, parts: CheckParts): OperatorCheck | null {
  const written = argumentOf(operator);
  if (written === null) return ownCheck(operator, parts);
  const argument = parts.constant(written);
  return argument === null ? null : (value) => compare(operator, value.text, argument);
}

/** The operator as a function of the value and of the inspection. */
export function openCheck(
  operator: WafOperator,
): (value: InspectedValue, transaction: Transaction) => boolean {
  const written = argumentOf(operator)!;
  return (value, transaction) => compare(operator, value.text, expand(written, transaction));
}

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

/** Steps of a detector, and for each octet: it reads a value under several readings. */
const DETECTOR_STEPS = 150;
const DETECTOR_OCTET_STEPS = 12;

function ownCheck(operator: WafOperator, parts: CheckParts): OperatorCheck {
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
    case 'detectSQLi':
      return (value, meter) => affords(value, meter) && detectSqli(value.text) !== null;
    case 'detectXSS':
      return (value, meter) => affords(value, meter) && detectXss(value.text);
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

function affords(value: InspectedValue, meter: Meter): boolean {
  meter.left -= DETECTOR_STEPS + DETECTOR_OCTET_STEPS * value.text.length;
  return meter.left >= 0;
}

function patternCheck(pattern: number, parts: CheckParts): OperatorCheck {
  const matcher = parts.matchers[pattern]!;
  const set = parts.setOfPattern(pattern);
  if (set < 0) return (value, meter) => patternMatches(matcher, value, meter);
  return (value, meter) =>
    mayMatch(matcher, value.shape) &&
    containsLiteralOf(value, parts.index, set) &&
    patternEnd(matcher, value.text, meter) >= 0;
}
