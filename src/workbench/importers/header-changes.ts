/** Changes of headers, as other products have them, as the fields of a rule of type headers (semantics §14). */
import type { HeaderOp, HeaderSide } from '../../base/vocabulary/vocabulary.ts';
import { judgeHeaderName, judgeHeaderValue } from '../../rules/model/header-values.ts';

/** One header that is set, added or removed. */
export interface ImportedChange {
  readonly side: HeaderSide;
  readonly op: HeaderOp;
  readonly name: string;
  /** Text with the variables of rules; empty under `remove`. */
  readonly value: string;
}

/** The fields of a rule, `null` where no change is left, and why changes are left out. */
export interface ReadChanges {
  readonly fields: object | null;
  readonly refused: readonly string[];
}

/** A literal text as part of the value of a header. */
export function literalValue(text: string): string {
  return text.replaceAll('$', '$$$$');
}

/** The changes of one message. */
interface SideFields {
  readonly set?: Readonly<Record<string, string>>;
  readonly add?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
}

/** The fields of a rule with those changes that a rule can make. */
export function headerFields(changes: readonly ImportedChange[]): ReadChanges {
  const sides: Partial<Record<HeaderSide, SideFields>> = {};
  const refused: string[] = [];
  const named = new Set<string>();
  for (const { side, op, name, value } of changes) {
    const place = `${side} ${name.toLowerCase()}`;
    const problem = judgeHeaderName(name, { side, op }) ?? (op === 'remove' ? null : judgeHeaderValue(value));
    if (problem !== null || named.has(place)) {
      const reason = problem?.message ?? 'is changed twice';
      refused.push(`\`${name}\` is not carried over: it ${reason}`);
      continue;
    }
    named.add(place);
    const parts = sides[side] ?? {};
    const names = parts.remove ?? [];
    sides[side] =
      op === 'remove'
        ? { ...parts, remove: [...names, name] }
        : { ...parts, [op]: { ...parts[op], [name]: value } };
  }
  return { fields: named.size === 0 ? null : sides, refused };
}
