/** Evaluates conditions that do not depend on the request: comparisons of TX variables with known values. */
import { captureGroups } from '../../../base/regex/regex.ts';
import type { WafSetVar, WafTransformation } from '../../plan/signature-program.ts';
import type { DraftCondition, DraftRule } from './draft.ts';
import { ALWAYS_EMPTY } from './draft.ts';
import { foldOperator, foldText, invalidate, type KnownTx, lookUp } from './known-tx.ts';
import { signaturePattern } from './patterns.ts';
import { plainText } from './read-text.ts';

/** Whether a rule never matches, always matches, or depends on the request. */
export type ConstantOutcome = 'never' | 'always' | 'open';

/**
 * Evaluates a rule. The actions of earlier conditions of a chain are executed even if a later one fails, so such a
 * rule is never dropped as one that never matches.
 */
export function outcomeOf(rule: DraftRule, tx: KnownTx): ConstantOutcome {
  // Variables that the rule itself writes are unknown to its later conditions.
  const during = copy(tx);
  let outcome: ConstantOutcome = 'always';
  let acted = false;
  for (const condition of rule.conditions) {
    const holds = conditionOutcome(condition, during);
    if (holds === 'never') return acted ? 'open' : 'never';
    if (holds === 'open') outcome = 'open';
    acted ||= condition.setVars.length > 0 || condition.controls.length > 0 || condition.capture;
    invalidate(during, condition.setVars);
  }
  return outcome;
}

/** A copy to which `invalidate` can be applied. */
function copy(tx: KnownTx): KnownTx {
  const { names, prefixes } = tx.unknown;
  return { ...tx, unknown: { names: new Set(names), prefixes: new Set(prefixes) } };
}

/** Evaluates one condition. */
function conditionOutcome(condition: DraftCondition, tx: KnownTx): ConstantOutcome {
  if (condition.targets === null) return 'always';
  if (condition.unsupported.length > 0) return 'open';
  const values = valuesOf(condition, tx);
  if (values === null) return 'open';
  if (values.length === 0) return 'never';
  if (values.length > 1) return 'open';
  const value = transformed(values[0]!, condition);
  const matches = value === null ? null : compare(condition, value, tx);
  if (matches === null) return 'open';
  return matches !== condition.negated ? 'always' : 'never';
}

/** The values that a condition inspects; `null`: the values depend on the request. */
function valuesOf({ targets }: DraftCondition, tx: KnownTx): readonly string[] | null {
  const values: string[] = [];
  for (const { variable, selector, count } of targets?.include ?? []) {
    if (variable === ALWAYS_EMPTY) {
      if (count) values.push('0');
      continue;
    }
    if (variable !== 'TX' || selector.kind !== 'name') return null;
    const known = lookUp(tx, selector.name);
    if (known.kind === 'unknown' || (known.kind === 'present' && !count)) return null;
    if (count) values.push(known.kind === 'absent' ? '0' : '1');
    else if (known.kind === 'value') values.push(known.text);
  }
  return values.length > 0 && (targets?.exclude.length ?? 0) > 0 ? null : values;
}

/** The value after the transformations of the condition; `null`: it is not computed at compile time. */
function transformed(value: string, { chain, multiMatch }: DraftCondition): string | null {
  if (multiMatch && chain.length > 0) return null;
  let text: string | null = value;
  for (const transformation of chain) text = text === null ? null : transform(text, transformation);
  return text;
}

/**
 * Applies a transformation to constant text; `null`: it is not computed at compile time. Only transformations that
 * rules apply to TX variables are implemented.
 */
function transform(text: string, transformation: WafTransformation): string | null {
  switch (transformation) {
    case 'lowercase':
      return /^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : null;
    case 'length':
      return String(text.length);
    case 'urlDecode':
    case 'urlDecodeUni':
      return /[%+]/.test(text) ? null : text;
    default:
      return null;
  }
}

/** Parses a number as C's `atoi` does; text without number is 0. */
function numberOf(text: string): number {
  return Number(/^\s*[+-]?\d{1,15}/.exec(text)?.[0] ?? 0);
}

/** Whether an operator matches a known value; `null`: it is not known at compile time. */
function compare({ operator: written }: DraftCondition, value: string, tx: KnownTx): boolean | null {
  const operator = foldOperator(tx, written);
  if (operator.kind === 'unconditionalMatch') return true;
  if (operator.kind === 'noMatch') return false;
  if (operator.kind === 'rx') {
    const source = plainText(operator.text);
    const pattern = source === null ? null : signaturePattern(source, false);
    if (pattern === null || !pattern.ok) return null;
    return captureGroups(pattern.pattern.source, pattern.pattern.ignoreCase, value) !== null;
  }
  const argument = 'value' in operator ? plainText(operator.value) : null;
  if (argument === null) return null;
  switch (operator.kind) {
    case 'eq':
      return numberOf(value) === numberOf(argument);
    case 'ge':
      return numberOf(value) >= numberOf(argument);
    case 'gt':
      return numberOf(value) > numberOf(argument);
    case 'le':
      return numberOf(value) <= numberOf(argument);
    case 'lt':
      return numberOf(value) < numberOf(argument);
    case 'streq':
      return value === argument;
    case 'contains':
      return value.includes(argument);
    case 'beginsWith':
      return value.startsWith(argument);
    case 'endsWith':
      return value.endsWith(argument);
    case 'within':
      return argument.includes(value);
    default:
      return null;
  }
}

/** The result of assignments: by variable, its new text; `null`: unset. */
export type Writes = ReadonlyMap<string, string | null>;

/** Evaluates assignments; `null`: one depends on the request. */
export function writesOf(setVars: readonly WafSetVar[], tx: KnownTx): Writes | null {
  const writes = new Map<string, string | null>();
  const during: KnownTx = { ...tx, values: new Map(tx.values) };
  for (const setVar of setVars) {
    const name = plainText(foldText(during, setVar.name))?.toLowerCase();
    if (name === undefined) return null;
    if (setVar.kind === 'unset') {
      writes.set(name, null);
      during.values.delete(name);
      continue;
    }
    const value = plainText(foldText(during, setVar.value));
    const before = lookUp(during, name);
    if (
      value === null ||
      (setVar.kind === 'add' && (before.kind === 'unknown' || before.kind === 'present'))
    ) {
      return null;
    }
    const start = before.kind === 'value' ? numberOf(before.text) : 0;
    const text = setVar.kind === 'set' ? value : String(start + setVar.sign * numberOf(value));
    writes.set(name, text);
    during.values.set(name, text);
  }
  return writes;
}
