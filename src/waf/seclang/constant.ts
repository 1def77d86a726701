/** Conditions that no request has a say in: comparisons of TX variables whose values are known. */
import { captureGroups } from '../../base/regex.ts';
import type { WafSetVar, WafTransformation } from '../../plan/signature-program.ts';
import type { DraftCondition, DraftRule } from './draft.ts';
import { NOTHING } from './draft.ts';
import { foldOperator, foldText, forget, type Knowledge, lookUp } from './knowledge.ts';
import { signaturePattern } from './patterns.ts';
import { plainText } from './read-text.ts';

/** A rule never matches, always does, or that depends on the request. */
export type ConstantOutcome = 'never' | 'always' | 'open';

/**
 * What becomes of a rule. Actions of a chain's earlier rules are done even where a later one fails, so such a rule is
 * only dropped when there are none.
 */
export function outcomeOf(rule: DraftRule, knowledge: Knowledge): ConstantOutcome {
  // What the rule itself writes is known to none of its later conditions.
  const during = copy(knowledge);
  let outcome: ConstantOutcome = 'always';
  let acted = false;
  for (const condition of rule.conditions) {
    const holds = conditionOutcome(condition, during);
    if (holds === 'never') return acted ? 'open' : 'never';
    if (holds === 'open') outcome = 'open';
    acted ||= condition.setVars.length > 0 || condition.controls.length > 0 || condition.capture;
    forget(during, condition.setVars);
  }
  return outcome;
}

function copy(knowledge: Knowledge): Knowledge {
  const { names, prefixes } = knowledge.unknown;
  return { ...knowledge, unknown: { names: new Set(names), prefixes: new Set(prefixes) } };
}

function conditionOutcome(condition: DraftCondition, knowledge: Knowledge): ConstantOutcome {
  if (condition.targets === null) return 'always';
  if (condition.unsupported.length > 0) return 'open';
  const values = valuesOf(condition, knowledge);
  if (values === null) return 'open';
  if (values.length === 0) return 'never';
  if (values.length > 1) return 'open';
  const value = transformed(values[0]!, condition);
  const matches = value === null ? null : compare(condition, value, knowledge);
  if (matches === null) return 'open';
  return matches !== condition.negated ? 'always' : 'never';
}

/** The values a condition looks at; `null` where a request has a say in them. */
function valuesOf({ targets }: DraftCondition, knowledge: Knowledge): readonly string[] | null {
  const values: string[] = [];
  for (const { variable, selector, count } of targets?.include ?? []) {
    if (variable === NOTHING) {
      if (count) values.push('0');
      continue;
    }
    if (variable !== 'TX' || selector.kind !== 'name') return null;
    const known = lookUp(knowledge, selector.name);
    if (known.kind === 'unknown' || (known.kind === 'present' && !count)) return null;
    if (count) values.push(known.kind === 'absent' ? '0' : '1');
    else if (known.kind === 'value') values.push(known.text);
  }
  return values.length > 0 && (targets?.exclude.length ?? 0) > 0 ? null : values;
}

/** The value after its transformations; `null` where that is left to the run time. */
function transformed(value: string, { chain, multiMatch }: DraftCondition): string | null {
  if (multiMatch && chain.length > 0) return null;
  let text: string | null = value;
  for (const transformation of chain) text = text === null ? null : transform(text, transformation);
  return text;
}

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

/** As `atoi` reads it: what is no number is 0. */
function numberOf(text: string): number {
  return Number(/^\s*[+-]?\d{1,15}/.exec(text)?.[0] ?? 0);
}

/** Whether an operator matches; `null` where that cannot be told yet. */
function compare({ operator: written }: DraftCondition, value: string, knowledge: Knowledge): boolean | null {
  const operator = foldOperator(knowledge, written);
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

/** What certain assignments come to: the variables and their new texts, `null` for one that is taken away. */
export type Writes = ReadonlyMap<string, string | null>;

/** Carries assignments out; `null` where a request has a say in one. */
export function writesOf(setVars: readonly WafSetVar[], knowledge: Knowledge): Writes | null {
  const writes = new Map<string, string | null>();
  const during: Knowledge = { ...knowledge, values: new Map(knowledge.values) };
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
