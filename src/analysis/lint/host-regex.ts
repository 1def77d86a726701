/**
 * Where a regex over hosts is open at an end. Regexes are unanchored (semantics §3), so `shop\.example\.com` also
 * matches `myshop.example.com`. An end counts as closed by an anchor, by a run of anything that was asked for
 * (`.*`), or by a dot (`\.example\.com$`, `^api\.`), since a label then ends there.
 */

export interface OpenEnds {
  readonly start: boolean;
  readonly end: boolean;
}

/** Judges every alternative of the pattern; an end is open when it is open in any of them. */
export function openEnds(pattern: string): OpenEnds {
  const bare = pattern.replace(/^\(\?[a-zA-Z-]*\)/, '');
  return { start: splitTop(bare).some(opensAtStart), end: splitTop(bare).some(opensAtEnd) };
}

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

function opensAtEnd(branch: string): boolean {
  if (/(?:^|[^\\])(?:\\\\)*\$$/.test(branch) || /\\z$/.test(branch)) return false;
  if (/(?:^|[^\\])\.[*+]$/.test(branch) || /(?:^|[^\\])(?:\\\\)*\\\.$/.test(branch) || branch.endsWith('[.]'))
    return false;
  const group = trailingGroup(branch);
  if (group === null) return true;
  const rest = branch.slice(0, branch.length - group.length);
  return splitTop(groupBody(group)).some((inner) => opensAtEnd(inner === '' ? rest : inner));
}

/** The alternatives of the outermost level. */
function splitTop(pattern: string): readonly string[] {
  const branches: string[] = [];
  let start = 0;
  for (const { at, depth } of walk(pattern)) {
    if (depth > 0 || pattern[at] !== '|') continue;
    branches.push(pattern.slice(start, at));
    start = at + 1;
  }
  return [...branches, pattern.slice(start)];
}

function leadingGroup(branch: string): string | null {
  if (!branch.startsWith('(')) return null;
  for (const { at, depth } of walk(branch))
    if (depth === 0 && branch[at] === ')') return branch.slice(0, at + 1);
  return null;
}

function trailingGroup(branch: string): string | null {
  if (!branch.endsWith(')')) return null;
  let opened = -1;
  let closed = -1;
  for (const { at, depth } of walk(branch)) {
    if (branch[at] === '(' && depth === 1) opened = at;
    if (branch[at] === ')' && depth === 0) closed = at;
  }
  return closed === branch.length - 1 && opened >= 0 ? branch.slice(opened) : null;
}

function groupBody(group: string): string {
  return group.slice(1, -1).replace(/^\?(?:[a-zA-Z-]*:|P?<[^>]*>)/, '');
}

/** The characters that have a meaning, outside escapes and classes; `depth` counts the parentheses around each. */
function* walk(pattern: string): Generator<{ readonly at: number; readonly depth: number }> {
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

function classEnd(pattern: string, open: number): number {
  let at = open + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1;
  return at;
}
