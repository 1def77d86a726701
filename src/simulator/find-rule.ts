/** Finds the rule a person means. */
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

/** The key closest to `text` by single-character edits, when one is close enough to be a slip. */
export function closestKey(rules: readonly RuleNote[], text: string): string | null {
  let best: { key: string; distance: number } | null = null;
  for (const { key } of rules) {
    if (key === null || Math.abs(key.length - text.length) > 2) continue;
    const distance = edits(key, text);
    if (distance <= 2 && distance < (best?.distance ?? 3)) best = { key, distance };
  }
  return best?.key ?? null;
}

/** Levenshtein distance, by rows. */
function edits(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
