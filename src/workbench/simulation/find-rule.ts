/** Finds the rules that a typed name may refer to, and suggests names for one that matches none. */
import { nearest } from '../../rules/model/nearest.ts';
import type { RuleNote } from './document.ts';
import { refOf } from './document.ts';
import { shellWord } from './shell-word.ts';

/**
 * Returns all rules that `text` may refer to: by id (`41`, `#41`), type and id (`drop/41`, `drop#41`), key, or type
 * and key. An id takes precedence over a key that is a number.
 */
export function findRules(rules: readonly RuleNote[], text: string): readonly RuleNote[] {
  const wanted = text.replace(/\s*#/, text.startsWith('#') ? '' : '/');
  const byRef = rules.filter((rule) => refOf(rule) === wanted || String(rule.id) === wanted);
  if (byRef.length > 0) return byRef;
  return rules.filter((rule) => rule.key !== null && namesOf(rule).includes(text));
}

/** The names by which a rule with a key is found. */
function namesOf({ type, key }: RuleNote): readonly string[] {
  return key === null ? [] : [key, `${type}/${key}`];
}

/**
 * The shortest name that finds this rule alone: its key, `<type>/<key>`, its id or `<type>/<id>`, as one word of a
 * shell.
 */
export function nameToType(rules: readonly RuleNote[], rule: RuleNote): string {
  const names = [...namesOf(rule), String(rule.id)];
  const name = names.find((one) => findRules(rules, one).length === 1) ?? refOf(rule);
  return shellWord(name);
}

/** The nearest key; `null` when none is near. */
export function closestKey(rules: readonly RuleNote[], text: string): string | null {
  return nearest(text, rules.flatMap(namesOf));
}

/** The number of ids that a remedy lists. */
const IDS_LISTED = 3;

/** The remedy for a name that no rule has: the nearest key, else the nearest ids. */
export function remedyFor(rules: readonly RuleNote[], text: string): string {
  const list = '--all lists every rule';
  if (text.trim() === '') return `write an id, a key or <type>/<id or key>; ${list}`;
  const close = closestKey(rules, text);
  if (close !== null) return `did you mean ${close}?`;
  const digits = /(?:^|[/#])(\d+)$/.exec(text)?.[1];
  if (digits === undefined) return list;
  const id = Number(digits);
  const near = [...rules].sort((a, b) => Math.abs(a.id - id) - Math.abs(b.id - id)).slice(0, IDS_LISTED);
  const exact = near.filter((rule) => rule.id === id).map(refOf);
  if (exact.length > 0) return `did you mean ${exact.join(' or ')}?`;
  const ids = near.map((rule) => rule.id).sort((a, b) => a - b);
  return `the nearest ${ids.length === 1 ? 'id is' : 'ids are'} ${ids.join(', ')}; ${list}`;
}
