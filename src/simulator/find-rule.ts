/** Finds the rule a person means. */
import { nearest } from '../model/nearest.ts';
import type { RuleNote } from './document.ts';
import { refOf } from './document.ts';

/**
 * All rules that `text` may mean: an id (`41`, `#41`), a type and id (`drop/41`, `drop#41`), a key, or a type and key.
 * A key that is a number loses against an id.
 */
export function findRules(rules: readonly RuleNote[], text: string): readonly RuleNote[] {
  const wanted = text.replace(/\s*#/, text.startsWith('#') ? '' : '/');
  const byRef = rules.filter((rule) => refOf(rule) === wanted || String(rule.id) === wanted);
  if (byRef.length > 0) return byRef;
  return rules.filter((rule) => rule.key !== null && namesOf(rule).includes(text));
}

function namesOf({ type, key }: RuleNote): readonly string[] {
  return key === null ? [] : [key, `${type}/${key}`];
}

/** The key that was probably meant, `null` when none is near. */
export function closestKey(rules: readonly RuleNote[], text: string): string | null {
  return nearest(text, rules.flatMap(namesOf));
}

const IDS_TOLD = 3;

/** What to write instead of a name that no rule has. */
export function remedyFor(rules: readonly RuleNote[], text: string): string {
  const list = '--all lists every rule';
  if (text.trim() === '') return `write an id, a key or <type>/<id or key>; ${list}`;
  const close = closestKey(rules, text);
  if (close !== null) return `did you mean ${close}?`;
  const digits = /(?:^|[/#])(\d+)$/.exec(text)?.[1];
  if (digits === undefined) return list;
  const id = Number(digits);
  const near = [...rules].sort((a, b) => Math.abs(a.id - id) - Math.abs(b.id - id)).slice(0, IDS_TOLD);
  const exact = near.filter((rule) => rule.id === id).map(refOf);
  if (exact.length > 0) return `did you mean ${exact.join(' or ')}?`;
  const ids = near.map((rule) => rule.id).sort((a, b) => a - b);
  return `the nearest ${ids.length === 1 ? 'id is' : 'ids are'} ${ids.join(', ')}; ${list}`;
}
