/**
 * Finds host regexes that are not anchored at an end. Regexes are unanchored (semantics §3), so
 * `shop\.example\.com` also matches `myshop.example.com`. An end counts as closed by an anchor, by an explicit run
 * of any characters (`.*`), or by a dot (`\.example\.com$`, `^api\.`), since a label ends there.
 */

/** Which ends of a regex are open. */
export interface OpenEnds {
  readonly start: boolean;
  readonly end: boolean;
}

/** Checks every alternative of the pattern; an end is open when any alternative leaves it open. */
export function openEnds(pattern: string): OpenEnds {
  const bare = pattern.replace(/^\(\?[a-zA-Z-]*\)/, '');
  return { start: splitTop(bare).some(opensAtStart), end: splitTop(bare).some(opensAtEnd) };
}

/** Whether an alternative can match in the middle of a host's label at its start. */
function opensAtStart(branch: string): boolean {
  if (/^(?:\^|\\A|\\\.|\[\.\]|\.[*+])/.test(branch)) return false;
  const group = leadingGroup(branch);
  if (group === null) return true;
  const rest = branch.slice(group.length);
  const optional = /^[?*]/.test(rest);
  const inside = splitTop(groupBody(group)).some((inner) => inner !== '' && opensAtStart(inner));
  const empty = splitTop(groupBody(group)).includes('') || optional;
  return inside || (empty && opensAtStart(rest.replace(/^[?*+]\??/, '')));
}

/** Whether an alternative can match in the middle of a host's label at its end. */
function opensAtEnd(branch: string): boolean {
  if (/(?:^|[^\\])(?:\\\\)*\$$/.test(branch) || /\\z$/.test(branch)) return false;
  if (/(?:^|[^\\])\.[*+]$/.test(branch) || /(?:^|[^\\])(?:\\\\)*\\\.$/.test(branch) || branch.endsWith('[.]'))
    return false;
  const group = trailingGroup(branch);
  if (group === null) return true;
  const rest = branch.slice(0, branch.length - group.length);
  return splitTop(groupBody(group)).some((inner) => opensAtEnd(inner === '' ? rest : inner));
}

/** Splits a pattern at the `|` of the outermost level. */
function splitTop(pattern: string): readonly string[] {
  const branches: string[] = [];
  let start = 0;
  for (const { at, depth } of positions(pattern)) {
    if (depth > 0 || pattern[at] !== '|') continue;
    branches.push(pattern.slice(start, at));
    start = at + 1;
  }
  return [...branches, pattern.slice(start)];
}

/** The group at the start, with its parentheses; `null` when there is none. */
function leadingGroup(branch: string): string | null {
  if (!branch.startsWith('(')) return null;
  for (const { at, depth } of positions(branch))
    if (depth === 0 && branch[at] === ')') return branch.slice(0, at + 1);
  return null;
}

/** The group at the end, with its parentheses; `null` when there is none. */
function trailingGroup(branch: string): string | null {
  if (!branch.endsWith(')')) return null;
  let opened = -1;
  let closed = -1;
  for (const { at, depth } of positions(branch)) {
    if (branch[at] === '(' && depth === 1) opened = at;
    if (branch[at] === ')' && depth === 0) closed = at;
  }
  return closed === branch.length - 1 && opened >= 0 ? branch.slice(opened) : null;
}

/** A group without its parentheses, flags and name. */
function groupBody(group: string): string {
  return group.slice(1, -1).replace(/^\?(?:[a-zA-Z-]*:|P?<[^>]*>)/, '');
}

/** Yields the positions outside escapes and classes; `depth` is the number of enclosing parentheses. */
function* positions(pattern: string): Generator<{ readonly at: number; readonly depth: number }> {
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '[') at = classEnd(pattern, at);
    else {
      if (character === '(') depth++;
      if (character === ')') depth--;
      yield { at, depth };
    }
  }
}

/** The position of the `]` that closes a class. */
function classEnd(pattern: string, open: number): number {
  let at = open + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1;
  return at;
}
