/** Finds the rule a person means. */
import { nearest } from '../model/nearest.ts';
import type { RuleNote } from './document.ts';
import { refOf } from './document.ts';

/**
 * All rules that `text` may mean: an id (`41`, `#41`), a type and id (`drop/41`, `drop#41`), or a key. A key that is a
 * number loses against an id.
 */
export function findRules(rules: readonly RuleNote[], text: string): readonly RuleNote[] {
  const wanted = text.replace(/\s*#/, text.startsWith('#') ? '' : '/');
  const byRef = rules.filter((rule) => refOf(rule) === wanted || String(rule.id) === wanted);
  return byRef.length > 0 ? byRef : rules.filter((rule) => rule.key === text);
}

/** The key that was probably meant, `null` when none is near. */
export function closestKey(rules: readonly RuleNote[], text: string): string | null {
  return nearest(
    text,
    rules.flatMap((rule) => rule.key ?? []),
  );
}
