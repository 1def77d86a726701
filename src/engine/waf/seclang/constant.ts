/**
 * Evaluates what is the same for every request: the TX variables known at a place of the rule list, and conditions that
 * compare them.
 */
import type { WafSetVar, WafText, WafTransformation } from '../../plan/signature-program.ts';
import { ALWAYS_EMPTY, type DraftCondition, type DraftRule } from './draft.ts';
import { plainText } from './lower-targets.ts';
import { matchesText, signaturePattern } from './patterns.ts';

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
    const read = source === null ? null : signaturePattern(source, false);
    return read?.ok === true ? matchesText(read.pattern, value) : null;
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

// The TX variables as far as they are known at one place of the rule list, for every request alike.

/** The threshold is set in each inspection (`WafSettings.threshold`): it exists, and its value is not known. */
export const THRESHOLD = 'inbound_anomaly_score_threshold';

/** The variables in which the Core Rule Set stores the paranoia level: two names of version 4, two of version 3. */
export const LEVEL_VARIABLES = [
  'blocking_paranoia_level',
  'detection_paranoia_level',
  'executing_paranoia_level',
  'paranoia_level',
] as const;

/** Variables that settings determine: assignments in the text have no effect on them. */
export const PINNED: ReadonlySet<string> = new Set<string>([...LEVEL_VARIABLES, THRESHOLD]);

/** What is known of a variable: its value; that it is not set; that it is set; nothing. */
export type Known =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'absent' }
  /** There is a value, and it is not known. */
  | { readonly kind: 'present' }
  | { readonly kind: 'unknown' };

/** A set of names: some by name, some by prefix; the prefix `''` means all. */
interface NameSet {
  readonly names: Set<string>;
  /** In lower case. */
  readonly prefixes: Set<string>;
}

/** The state of TX at one place. */
export interface KnownTx {
  /** By name, the known value. */
  readonly values: Map<string, string>;
  /** The initial values of the level, before its first remaining rule. */
  readonly first: Map<string, string>;
  /** Variables of unknown value. */
  readonly unknown: NameSet;
  /** Variables that a remaining rule reads or writes: their initial values can no longer change. */
  readonly used: NameSet;
}

/** The state before the first rule of a level. */
export function createKnownTx(level: number): KnownTx {
  const set = (): NameSet => ({ names: new Set(), prefixes: new Set() });
  const levels = LEVEL_VARIABLES.map((name) => [name, String(level)] as const);
  return {
    values: new Map(levels),
    first: new Map(levels),
    unknown: set(),
    used: set(),
  };
}

/** Whether a set includes a name. */
function includes({ names, prefixes }: NameSet, name: string): boolean {
  if (names.has(name)) return true;
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}

/** Whether a name is TX.0 to TX.9, the groups of a capture. */
function isGroup(name: string): boolean {
  return /^\d$/.test(name);
}

/** What is known of one variable. */
export function lookUp({ values, unknown }: KnownTx, written: string): Known {
  const name = written.toLowerCase();
  if (isGroup(name) || includes(unknown, name)) return { kind: 'unknown' };
  if (name === THRESHOLD) return { kind: 'present' };
  const text = values.get(name);
  return text === undefined ? { kind: 'absent' } : { kind: 'value', text };
}

/** Whether a remaining rule has read or written a variable. */
export function isUsed({ used }: KnownTx, name: string): boolean {
  return isGroup(name) || includes(used, name);
}

/** Marks variables as unknown, since a rule may or may not have written them. */
export function invalidate(tx: KnownTx, setVars: readonly WafSetVar[]): void {
  for (const { name } of setVars) addName(tx.unknown, name);
}

/** Adds a name to a set; a name with macros by its prefix. */
function addName({ names, prefixes }: NameSet, name: WafText): void {
  const plain = plainText(name);
  const [first] = name;
  if (plain !== null) names.add(plain.toLowerCase());
  else prefixes.add(first?.kind === 'literal' ? first.text.toLowerCase() : '');
}

/** Marks the variables that a remaining rule reads and writes as used. */
export function markUsed({ used }: KnownTx, rule: DraftRule): void {
  const read = (text: WafText): void => {
    for (const part of text) {
      if (part.kind === 'literal' || part.variable !== 'TX') continue;
      if (part.name === null) used.prefixes.add('');
      else used.names.add(part.name.toLowerCase());
    }
  };
  read(rule.message);
  read(rule.logData);
  for (const condition of rule.conditions) {
    for (const { variable, selector } of condition.targets?.include ?? []) {
      if (variable !== 'TX') continue;
      if (selector.kind === 'name') used.names.add(selector.name.toLowerCase());
      else used.prefixes.add('');
    }
    if ('value' in condition.operator) read(condition.operator.value);
    if (condition.operator.kind === 'rx') read(condition.operator.text);
    for (const setVar of condition.setVars) {
      addName(used, setVar.name);
      read(setVar.name);
      if (setVar.kind !== 'unset') read(setVar.value);
    }
  }
}

/** Replaces known variables in a text by their values. */
function foldText(tx: KnownTx, text: WafText): WafText {
  const parts: WafText[number][] = [];
  for (const part of text) {
    const known =
      part.kind === 'variable' && part.variable === 'TX' && part.name !== null ? lookUp(tx, part.name) : null;
    const folded: WafText[number] = known?.kind === 'value' ? { kind: 'literal', text: known.text } : part;
    const last = parts.at(-1);
    if (folded.kind === 'literal' && last?.kind === 'literal') {
      parts[parts.length - 1] = { kind: 'literal', text: last.text + folded.text };
    } else {
      parts.push(folded);
    }
  }
  return parts;
}

/**
 * Replaces known variables in a rule by their values; `tx` must already exclude variables that the rule itself
 * writes.
 */
export function foldRule(tx: KnownTx, rule: DraftRule): DraftRule {
  const foldCondition = (condition: DraftCondition): DraftCondition => ({
    ...condition,
    operator: foldOperator(tx, condition.operator),
    setVars: condition.setVars.map((setVar) => foldSetVar(tx, setVar)),
  });
  const [first, ...rest] = rule.conditions;
  return {
    ...rule,
    conditions: [foldCondition(first), ...rest.map(foldCondition)],
    message: foldText(tx, rule.message),
    logData: foldText(tx, rule.logData),
  };
}

/** Replaces known variables in the argument of an operator. */
function foldOperator(tx: KnownTx, operator: DraftCondition['operator']): DraftCondition['operator'] {
  if (operator.kind === 'rx') return { ...operator, text: foldText(tx, operator.text) };
  return 'value' in operator ? { ...operator, value: foldText(tx, operator.value) } : operator;
}

/** Replaces known variables in an assignment. */
function foldSetVar(tx: KnownTx, setVar: WafSetVar): WafSetVar {
  const name = foldText(tx, setVar.name);
  return setVar.kind === 'unset'
    ? { ...setVar, name }
    : { ...setVar, name, value: foldText(tx, setVar.value) };
}
