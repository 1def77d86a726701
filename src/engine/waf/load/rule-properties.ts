/**
 * Finds the rules whose captured groups (TX.0 to TX.9) some rule reads, and those that only compare the score with a
 * threshold. Only for the former does an inspection search groups, which is slow; most rules of the Core Rule Set
 * capture only for their log line.
 */
import type {
  SignatureProgram,
  SignatureRule,
  WafCondition,
  WafLevel,
  WafOperator,
  WafSelector,
  WafSetVar,
  WafText,
} from '../../plan/signature-program.ts';
import { startMeter } from '../octets/meter.ts';
import { type Matcher, patternEnd } from '../patterns/pattern.ts';
import { plainText } from '../request/transaction.ts';
import { CAPTURE_NAMES } from '../request/tx.ts';

/**
 * Returns by rule whether its captures are needed: for all rules if some rule can read a capture of another rule, else
 * for the rules that read their own.
 */
export function capturesNeeded(
  program: SignatureProgram,
  level: WafLevel,
  matchers: readonly Matcher[],
): readonly boolean[] {
  const inspects = captureInspector(program, matchers);
  const reads = level.rules.map((rule) => readsCapture(rule, inspects));
  // A rule that reads a capture before it makes its own reads that of the last earlier rule that matched, so every rule
  // must then capture.
  const foreign = level.rules.some((rule, at) => reads[at]! && !capturesFirst(rule, inspects));
  return level.rules.map((_, at) => foreign || reads[at]!);
}

/** Whether the targets or the operator of a condition read a capture. */
type CaptureInspector = (condition: WafCondition) => boolean;

/** Whether a rule reads a capture in its message, a condition or a `setvar`. */
function readsCapture(rule: SignatureRule, inspects: CaptureInspector): boolean {
  return namesCapture(rule.message) || rule.conditions.some((one) => inspects(one) || writesCapture(one));
}

/** Whether a rule captures before it first reads a capture, so that it never reads one of another rule. */
function capturesFirst({ conditions }: SignatureRule, inspects: CaptureInspector): boolean {
  for (const condition of conditions) {
    if (inspects(condition)) return false;
    // A negated operator matches if its pattern does not, and then there are no groups.
    if (condition.capture && !condition.negated) return true;
    if (writesCapture(condition)) return false;
  }
  // Only its message reads a capture, which may then be one of an earlier rule.
  return false;
}

/** Returns a predicate: whether the targets or the operator of a condition read TX.0 to TX.9. */
function captureInspector(program: SignatureProgram, matchers: readonly Matcher[]): CaptureInspector {
  const selectsCapture = (selector: WafSelector): boolean => {
    if (selector.kind === 'all') return true;
    if (selector.kind === 'name') return isCaptureName(selector.name);
    const matcher = matchers[selector.pattern]!;
    const meter = startMeter(Number.MAX_SAFE_INTEGER);
    return CAPTURE_NAMES.some((name) => patternEnd(matcher, name, meter) >= 0);
  };
  const lists = program.targets.map(({ include }) =>
    include.some(({ variable, selector }) => variable === 'TX' && selectsCapture(selector)),
  );
  return ({ targets, operator }) => (targets >= 0 && lists[targets]!) || operatorReads(operator);
}

/** Whether a `setvar` of the condition uses a capture in its name or value. */
function writesCapture({ setVars }: WafCondition): boolean {
  return setVars.some((one) => namesCapture(one.name) || (one.kind !== 'unset' && namesCapture(one.value)));
}

/** Whether the argument of an operator has a macro of a capture. */
function operatorReads(operator: WafOperator): boolean {
  return 'value' in operator && namesCapture(operator.value);
}

/** Whether a text has a macro of a capture. */
function namesCapture(text: WafText): boolean {
  return text.some(
    (part) => part.kind === 'variable' && part.variable === 'TX' && isCaptureName(part.name ?? ''),
  );
}

/** Whether a name is 0 to 9. */
function isCaptureName(name: string): boolean {
  return CAPTURE_NAMES.includes(name);
}

// Finds the rules that only compare the score with a threshold (CRS 949110 and its siblings) and find no attack.

/** For each rule: whether it reads nothing but the score, or sums that include it, and writes nothing but copies of these. */
export function evaluatesScore(
  { targets }: SignatureProgram,
  { rules }: WafLevel,
  scores: ReadonlySet<string>,
): readonly boolean[] {
  const sums = sumsOf(rules, scores);
  const readsSums = targets.map(({ include }) =>
    include.every(
      ({ variable, selector, count }) =>
        !count && variable === 'TX' && selector.kind === 'name' && sums.has(selector.name.toLowerCase()),
    ),
  );
  // CRS 3.3's 949110 copies the score to another variable, for rules of phase 5.
  const copiesSum = (write: WafSetVar): boolean => {
    const name = plainText(write.name)?.toLowerCase();
    return write.kind === 'set' && name !== undefined && !scores.has(name) && usesAny(write.value, sums);
  };
  return rules.map(({ conditions }) =>
    conditions.every((one) => one.targets >= 0 && readsSums[one.targets]! && one.setVars.every(copiesSum)),
  );
}

/** The score's variables, and all variables whose value is computed from these, directly or not. */
function sumsOf(rules: readonly SignatureRule[], scores: ReadonlySet<string>): ReadonlySet<string> {
  const sums = new Set(scores);
  const writes = rules.flatMap(({ conditions }) => conditions.flatMap(({ setVars }) => setVars));
  // Repeated until nothing is added, since a sum may be computed from one that a later rule writes.
  for (let before = -1; before !== sums.size; ) {
    before = sums.size;
    for (const write of writes) {
      const name = plainText(write.name)?.toLowerCase();
      if (name !== undefined && write.kind !== 'unset' && usesAny(write.value, sums)) sums.add(name);
    }
  }
  return sums;
}

/** Whether a text has a macro of one of these TX variables. */
function usesAny(text: WafText, sums: ReadonlySet<string>): boolean {
  return text.some(
    (part) => part.kind === 'variable' && part.variable === 'TX' && sums.has(part.name?.toLowerCase() ?? ''),
  );
}
