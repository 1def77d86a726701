/**
 * Texts into which a rule inserts groups of its path patterns: literal text, references to groups `$1`, `${1}` and `${name}`,
 * and `$$` for a literal `$` (semantics §5 rewrite, §14).
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import type { FormScope } from './form.ts';

/** A piece of a target. `index` counts groups from 1; 0, the whole match, cannot be written. */
export type TargetPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'group'; readonly index: number }
  | { readonly kind: 'name'; readonly name: string };

/**
 * The pieces of a target in order, adjacent texts joined; or the first invalid text `at`, and its message and remedy.
 */
export type Substitution =
  | { readonly ok: true; readonly pieces: readonly TargetPiece[] }
  | { readonly ok: false; readonly at: string; readonly reason: string; readonly remedy: string };

/**
 * Splits a target into literal text and references. Group numbers have at most five digits; whether a group exists is
 * not checked.
 */
export function parseSubstitution(target: string): Substitution {
  const pieces: TargetPiece[] = [];
  let text = '';
  let position = 0;
  while (position < target.length) {
    const dollar = target.indexOf('$', position);
    if (dollar < 0) break;
    text += target.slice(position, dollar);
    if (target[dollar + 1] === '$') {
      text += '$';
      position = dollar + 2;
      continue;
    }
    // At most 200 characters: a longer name in braces is refused as no reference.
    const reference = /^\$(?:([0-9]+)|\{([0-9]+|[A-Za-z_][A-Za-z0-9_]*)\})/.exec(
      target.slice(dollar, dollar + 200),
    );
    if (reference === null) return refuse(target, dollar);
    const inner = reference[1] ?? reference[2]!;
    const numeric = /^[0-9]+$/.test(inner);
    // Languages read `$01` and `$0` differently, so both are refused.
    if (numeric && !/^[1-9][0-9]{0,4}$/.test(inner)) return refuseNumber(reference[0]);
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
    pieces.push(numeric ? { kind: 'group', index: Number(inner) } : { kind: 'name', name: inner });
    position = dollar + reference[0].length;
  }
  text += target.slice(position);
  if (text !== '') pieces.push({ kind: 'text', text });
  return { ok: true, pieces };
}

/** The refusal of a `$` that starts no reference; `at` has at most 8 characters. */
function refuse(target: string, dollar: number): Substitution {
  const at = target.slice(dollar, dollar + 8);
  if (at.startsWith('${')) {
    const reason = 'holds a `${` that is no reference to a group';
    return { ok: false, at, reason, remedy: 'write `${1}` or `${name}`, or `$$` for a literal `$`' };
  }
  return { ok: false, at, reason: 'holds a lone `$`', remedy: 'write `$$` for a literal `$`' };
}

/** The refusal of group 0, of a leading zero, and of more than five digits. */
function refuseNumber(at: string): Substitution {
  const remedy =
    'groups are numbered from 1 without leading zeros; put the whole pattern in `( )` to refer to all of it';
  return { ok: false, at, reason: 'refers to a group by a number that groups do not have', remedy };
}

/** A text with references, and the field that has it. */
interface ReferringText {
  readonly field: string;
  readonly target: string;
  /** The patterns whose groups it may name. */
  readonly includes: readonly string[] | undefined;
}

/**
 * Checks that each reference names a group of some include entry, and that capturing from each entry is cheap enough.
 */
export function checkReferences({ field, target, includes }: ReferringText, scope: FormScope): void {
  const parsed = parseSubstitution(target);
  if (!parsed.ok) {
    const { at, reason: message, remedy } = parsed;
    scope.error([field], { code: 'invalid_reference', message, found: quoteValue(at), remedy });
    return;
  }
  if (parsed.pieces.every((piece) => piece.kind === 'text')) return;
  let groups = 0;
  const names = new Set<string>();
  for (const [index, include] of (includes ?? []).entries()) {
    const pattern = scope.patterns.check(include, { ignoreCase: false, of: 'path' });
    // A refused pattern has its own error, and its groups are unknown, so no reference can be checked.
    if (pattern.ok !== true) return;
    const costly = scope.patterns.captures(include);
    if (costly !== null) {
      const found = quoteValue(include);
      scope.error(['path_includes', index], { code: 'capture_budget', message: costly, found });
    }
    groups = Math.max(groups, pattern.groups);
    for (const name of pattern.names) names.add(name);
  }
  for (const piece of parsed.pieces) {
    const found = piece.kind === 'name' && !names.has(piece.name) ? `\${${piece.name}}` : null;
    const missing = piece.kind === 'group' && piece.index > groups ? `$${piece.index}` : found;
    if (missing === null) continue;
    const message = 'refers to a group that no entry of `path_includes` has';
    scope.error([field], { code: 'unknown_group', message, found: quoteValue(missing) });
  }
}
