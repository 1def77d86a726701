/** What is known of TX variables at one place of a rule list, whatever the request is. */
import type { WafSetVar, WafText } from '../../plan/signature-program.ts';
import type { DraftCondition, DraftRule } from './draft.ts';
import { plainText } from './read-text.ts';

/** The threshold is set at run time (`WafSettings.threshold`): it is there and may be anything. */
export const THRESHOLD = 'inbound_anomaly_score_threshold';

/** Where the Core Rule Set keeps the level: version 4's two names and version 3's. */
export const LEVEL_VARIABLES = [
  'blocking_paranoia_level',
  'detection_paranoia_level',
  'executing_paranoia_level',
  'paranoia_level',
] as const;

/** Names that the text may give a value to and that keep the one they have. */
export const PINNED: ReadonlySet<string> = new Set<string>([...LEVEL_VARIABLES, THRESHOLD]);

export type Known =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'absent' }
  /** There is a value, and it is not known. */
  | { readonly kind: 'present' }
  | { readonly kind: 'unknown' };

/** Names: some by name, some by how they start, or all. */
interface NameSet {
  readonly names: Set<string>;
  readonly prefixes: Set<string>;
}

export interface Knowledge {
  /** What variables hold here. */
  readonly values: Map<string, string>;
  /** What they hold before the first rule that runs. */
  readonly first: Map<string, string>;
  /** May hold anything. */
  readonly unknown: NameSet;
  /** A rule that runs reads or writes them: what they hold before the first rule can no longer be changed. */
  readonly touched: NameSet;
}

/** What is known before the first rule. */
export function createKnowledge(level: number): Knowledge {
  const set = (): NameSet => ({ names: new Set(), prefixes: new Set() });
  const levels = LEVEL_VARIABLES.map((name) => [name, String(level)] as const);
  return {
    values: new Map(levels),
    first: new Map(levels),
    unknown: set(),
    touched: set(),
  };
}

function includes({ names, prefixes }: NameSet, name: string): boolean {
  if (names.has(name)) return true;
  for (const prefix of prefixes) if (name.startsWith(prefix)) return true;
  return false;
}

/** TX.0 to TX.9 are a capture's groups. */
function isGroup(name: string): boolean {
  return /^\d$/.test(name);
}

/** What is known of one variable. */
export function lookUp({ values, unknown }: Knowledge, written: string): Known {
  const name = written.toLowerCase();
  if (isGroup(name) || includes(unknown, name)) return { kind: 'unknown' };
  if (name === THRESHOLD) return { kind: 'present' };
  const text = values.get(name);
  return text === undefined ? { kind: 'absent' } : { kind: 'value', text };
}

/** Whether a rule that runs has read or written a variable. */
export function isTouched({ touched }: Knowledge, name: string): boolean {
  return isGroup(name) || includes(touched, name);
}

/** A rule may or may not have written these: nothing is known of them any more. */
export function forget(knowledge: Knowledge, setVars: readonly WafSetVar[]): void {
  for (const { name } of setVars) addName(knowledge.unknown, name);
}

function addName({ names, prefixes }: NameSet, name: WafText): void {
  const plain = plainText(name);
  const [first] = name;
  if (plain !== null) names.add(plain.toLowerCase());
  else prefixes.add(first?.kind === 'literal' ? first.text.toLowerCase() : '');
}

/** Notes what a rule that runs reads and writes. */
export function touch({ touched }: Knowledge, rule: DraftRule): void {
  const read = (text: WafText): void => {
    for (const part of text) {
      if (part.kind === 'literal' || part.variable !== 'TX') continue;
      if (part.name === null) touched.prefixes.add('');
      else touched.names.add(part.name.toLowerCase());
    }
  };
  read(rule.message);
  read(rule.logData);
  for (const condition of rule.conditions) {
    for (const { variable, selector } of condition.targets?.include ?? []) {
      if (variable !== 'TX') continue;
      if (selector.kind === 'name') touched.names.add(selector.name.toLowerCase());
      else touched.prefixes.add('');
    }
    if ('value' in condition.operator) read(condition.operator.value);
    if (condition.operator.kind === 'rx') read(condition.operator.text);
    for (const setVar of condition.setVars) {
      addName(touched, setVar.name);
      read(setVar.name);
      if (setVar.kind !== 'unset') read(setVar.value);
    }
  }
}

/** A text with the variables that are known put in. */
export function foldText(knowledge: Knowledge, text: WafText): WafText {
  const parts: WafText[number][] = [];
  for (const part of text) {
    const known =
      part.kind === 'variable' && part.variable === 'TX' && part.name !== null
        ? lookUp(knowledge, part.name)
        : null;
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

/** A rule with the variables that are known put in; `knowledge` must not hold what the rule itself writes. */
export function foldRule(knowledge: Knowledge, rule: DraftRule): DraftRule {
  const foldCondition = (condition: DraftCondition): DraftCondition => ({
    ...condition,
    operator: foldOperator(knowledge, condition.operator),
    setVars: condition.setVars.map((setVar) => foldSetVar(knowledge, setVar)),
  });
  const [first, ...rest] = rule.conditions;
  return {
    ...rule,
    conditions: [foldCondition(first), ...rest.map(foldCondition)],
    message: foldText(knowledge, rule.message),
    logData: foldText(knowledge, rule.logData),
  };
}

/** An operator with the variables that are known put in. */
export function foldOperator(
  knowledge: Knowledge,
  operator: DraftCondition['operator'],
): DraftCondition['operator'] {
  if (operator.kind === 'rx') return { ...operator, text: foldText(knowledge, operator.text) };
  return 'value' in operator ? { ...operator, value: foldText(knowledge, operator.value) } : operator;
}

function foldSetVar(knowledge: Knowledge, setVar: WafSetVar): WafSetVar {
  const name = foldText(knowledge, setVar.name);
  return setVar.kind === 'unset'
    ? { ...setVar, name }
    : { ...setVar, name, value: foldText(knowledge, setVar.value) };
}
