/** The TX variables as far as they are known at one place of the rule list, for every request alike. */
import type { WafSetVar, WafText } from '../../plan/signature-program.ts';
import type { DraftCondition, DraftRule } from './draft.ts';
import { plainText } from './read-text.ts';

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
export function foldText(tx: KnownTx, text: WafText): WafText {
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
export function foldOperator(tx: KnownTx, operator: DraftCondition['operator']): DraftCondition['operator'] {
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
