/**
 * Substitutions of `RewriteRule` as targets of rules. In: the substitution, and what is known of the request. Out: a path or a URL
 * with captures `${1}`, and what becomes of the query; or the reason why no target is exact.
 */
import { type KnownWorld, knownValue } from './variables.ts';

/** Which regex has the groups of `$1` and of `%1`, and the values of `%1` where they are known. */
export interface KnownGroups {
  /** `$1` is the path without its first slash, or the whole path; `null`: a part. */
  readonly path: 'rest' | 'whole' | null;
  /** Numbers of groups that hold a slash which Apache's do not have. */
  readonly tainted: readonly number[];
  /** Values of `%0`, `%1`, …; `'path'`: groups of the regex over the path; `null`: not known. */
  readonly conditions: readonly (string | null)[] | 'path' | null;
}

/** A target. */
export interface SubstitutedTarget {
  /** Literal text with `${1}`, and `$$` for `$`. */
  readonly path: string;
  /** Whether the path of the visitor follows. */
  readonly appendsPath: boolean;
  /** `null`: the query of the visitor stays; empty: none. */
  readonly query: string | null;
  readonly hasCaptures: boolean;
  /** The query of the visitor follows that of the target. */
  readonly appendsQuery: boolean;
}

/** Flags that decide about the target. */
export interface TargetFlags {
  readonly appendsQuery: boolean;
  readonly dropsQuery: boolean;
  readonly isRedirect: boolean;
  readonly noEscape: boolean;
}

/** The marks of a path that Apache leaves as they are. */
const UNESCAPED = /[A-Za-z0-9$\-_.+!*'(),:@&=/~;]/;

/** Reads a substitution; a text is the reason why there is no target. */
export function readTarget(
  written: string,
  {
    world,
    groups,
    flags,
  }: { readonly world: KnownWorld; readonly groups: KnownGroups; readonly flags: TargetFlags },
): SubstitutedTarget | string {
  let path = '';
  let query: string | null = null;
  let appendsPath = false;
  let hasCaptures = false;
  let preservesQuery = false;
  const add = (text: string): void => {
    if (query === null)
      path += flags.isRedirect && !flags.noEscape ? escaped(text) : text.replaceAll(' ', '%20');
    else query += text.replaceAll(' ', '%20');
  };
  const pieces = written.match(/\\.|\$\d|%\d|%\{[^}]*\}|\$\{[^}]*\}|\?|[^\\$%?]+|[\\$%]/gs) ?? [];
  for (const [index, piece] of pieces.entries()) {
    if (appendsPath && query === null && piece !== '?')
      return 'text after the path of the visitor has no equivalent';
    if (piece === '?' && query === null) query = '';
    else if (/^\\./s.test(piece)) add(literal(piece.slice(1)));
    else if (/^\$\d$/.test(piece) || (/^%\d$/.test(piece) && groups.conditions === 'path')) {
      const isLast = index === pieces.length - 1 || pieces[index + 1] === '?';
      if (piece === '$1' && query === null && isLast && isWholePath(path, groups)) {
        if (groups.path === 'rest') path = path.slice(0, -1);
        appendsPath = true;
        continue;
      }
      const reason = captureReason(piece, { path, query, groups });
      if (reason !== null) return reason;
      path += `\${${piece[1]}}`;
      hasCaptures = true;
    } else if (/^%\d$/.test(piece)) {
      const value =
        groups.conditions === null || groups.conditions === 'path'
          ? undefined
          : groups.conditions[Number(piece[1])];
      if (value === undefined) return `\`${piece}\` is a group of a condition that is not known`;
      add(literal(value ?? ''));
    } else if (/^%\{QUERY_STRING\}$/i.test(piece)) {
      if (query !== '' || index !== pieces.length - 1)
        return '`%{QUERY_STRING}` has an equivalent at the end alone';
      preservesQuery = true;
    } else if (/^%\{REQUEST_URI\}$/i.test(piece)) {
      if (query !== null) return 'a query has no captures';
      if (path.endsWith('/')) return '`%{REQUEST_URI}` after a slash gives two, and a rule writes one';
      appendsPath = true;
    } else if (piece.startsWith('%{') || piece.startsWith('${')) {
      const value = piece.startsWith('%{') ? knownValue(piece.slice(2, -1), world) : null;
      if (value === null) return `\`${piece}\` has no equivalent in a target`;
      add(literal(value));
    } else add(literal(piece));
  }
  const isPreserved = (query === null && !flags.dropsQuery) || preservesQuery;
  const appendsQuery = query !== null && flags.appendsQuery && !flags.dropsQuery;
  if (query === '' && appendsQuery) query = null;
  return {
    path,
    appendsPath,
    hasCaptures,
    query: isPreserved ? null : (query ?? (appendsQuery ? null : '')),
    appendsQuery,
  };
}

/** Whether `$1` at the end of a target appends the path of the visitor. */
function isWholePath(path: string, { path: whole }: KnownGroups): boolean {
  if (whole === 'whole') return path === '' || !path.endsWith('/');
  return whole === 'rest' && path.endsWith('/') && !path.endsWith('//');
}

function literal(text: string): string {
  return text.replaceAll('$', '$$$$');
}

/** Why a capture cannot be written; `null`: it can. */
function captureReason(
  piece: string,
  {
    path,
    query,
    groups,
  }: { readonly path: string; readonly query: string | null; readonly groups: KnownGroups },
): string | null {
  if (query !== null) return `\`${piece}\` is in the query, which has no captures`;
  if (piece[1] === '0') return `\`${piece}\` is the whole match, which has no equivalent`;
  if (piece[0] === '$' && groups.conditions === 'path')
    return `\`${piece}\` and groups of a condition are of two patterns`;
  if (groups.tainted.includes(Number(piece[1]))) return `\`${piece}\` may have a slash more than in Apache`;
  return /^https?:\/\/[^/]*$/.test(path) ? `\`${piece}\` is in the host, which is literal text` : null;
}

/** Text of a URL as Apache escapes it. */
function escaped(text: string): string {
  return text.replace(/./gsu, (mark) => (UNESCAPED.test(mark) ? mark : encodeURIComponent(mark)));
}
