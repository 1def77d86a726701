/** Whose captures anyone reads: finding groups is dear, and most rules capture for their log line alone. */
import type {
  SignatureProgram,
  SignatureRule,
  WafCondition,
  WafLevel,
  WafOperator,
  WafSelector,
  WafText,
} from '../../plan/signature-program.ts';
import { startMeter } from '../octets/meter.ts';
import { type Matcher, patternEnd } from '../patterns/pattern.ts';
import { CAPTURE_NAMES } from '../request/tx.ts';

/**
 * By rule, whether its captures are to be found: all of them when some rule reads a capture that is not its own, else
 * those of rules that read their own.
 */
export function capturesNeeded(
  program: SignatureProgram,
  level: WafLevel,
  matchers: readonly Matcher[],
): readonly boolean[] {
  const looks = captureReader(program, matchers);
  const reads = level.rules.map((rule) => readsCapture(rule, looks));
  const foreign = level.rules.some((rule, at) => reads[at]! && !capturesFirst(rule, looks));
  return level.rules.map((_, at) => foreign || reads[at]!);
}

/** Whether a condition looks at a capture. */
type CaptureReader = (condition: WafCondition) => boolean;

function readsCapture(rule: SignatureRule, looks: CaptureReader): boolean {
  return namesCapture(rule.message) || rule.conditions.some((one) => looks(one) || notesCapture(one));
}

/** Whether a rule has captured by itself whenever it reads a capture. */
function capturesFirst({ conditions }: SignatureRule, looks: CaptureReader): boolean {
  for (const condition of conditions) {
    if (looks(condition)) return false;
    // What does not match a pattern has no groups.
    if (condition.capture && !condition.negated) return true;
    if (notesCapture(condition)) return false;
  }
  return false;
}

function captureReader(program: SignatureProgram, matchers: readonly Matcher[]): CaptureReader {
  const takesCapture = (selector: WafSelector): boolean => {
    if (selector.kind === 'all') return true;
    if (selector.kind === 'name') return isCaptureName(selector.name);
    const matcher = matchers[selector.pattern]!;
    const meter = startMeter(Number.MAX_SAFE_INTEGER);
    return CAPTURE_NAMES.some((name) => patternEnd(matcher, name, meter) >= 0);
  };
  const lists = program.targets.map(({ include }) =>
    include.some(({ variable, selector }) => variable === 'TX' && takesCapture(selector)),
  );
  return ({ targets, operator }) => (targets >= 0 && lists[targets]!) || operatorReads(operator);
}

function notesCapture({ setVars }: WafCondition): boolean {
  return setVars.some((one) => namesCapture(one.name) || (one.kind !== 'unset' && namesCapture(one.value)));
}

function operatorReads(operator: WafOperator): boolean {
  return 'value' in operator && namesCapture(operator.value);
}

function namesCapture(text: WafText): boolean {
  return text.some(
    (part) => part.kind === 'variable' && part.variable === 'TX' && isCaptureName(part.name ?? ''),
  );
}

function isCaptureName(name: string): boolean {
  return CAPTURE_NAMES.includes(name);
}
