/**
 * Checks host and path entries of a rule's filters. An entry that can never match is a mistake, which the write refuses
 * (semantics §1.1, §3).
 */
import { hostPieces, normalizeName } from '../../base/addresses/host.ts';
import { decodeEscapes, hasBadEscape } from '../../base/octets/octets.ts';
import { pathPieces } from '../../base/paths/path.ts';
import { MAX_HOST_OCTETS, MAX_LABEL_OCTETS } from '../../base/vocabulary/limits.ts';
import type { Problem } from './report.ts';

/**
 * The mistake of an entry. `mild`: the entry is valid but very likely not intended, so it gives a warning. `atWrite`: it
 * is an error at a write, and a warning for a stored rule. Otherwise it is an error.
 */
export type EntryProblem = Problem & { readonly mild?: true; readonly atWrite?: true };

/** Checks one non-empty wildcard or exact host entry. */
export function judgeHostEntry(entry: string, type: 'exact' | 'wildcard'): EntryProblem | null {
  const shape = judgeHostText(entry);
  if (shape !== null) return shape;
  const accepted = type === 'wildcard' ? hostPieces(entry) !== null : normalizeName(entry) !== null;
  if (!accepted) return explainHost(entry, type);
  if (type === 'exact' && entry.includes('*')) {
    const remedy = 'set `host_match_type` to `wildcard`';
    const message = 'matches no ordinary host: a star is literal in an exact entry';
    return { code: 'literal_star', message, remedy, mild: true };
  }
  return null;
}

/** The mistakes that are visible in the text of an entry: a scheme, a path, a port, an empty label. */
function judgeHostText(entry: string): Problem | null {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(entry))
    return hostProblem('must be a host name', 'leave out the scheme');
  if (entry.includes('/'))
    return hostProblem('must be a host name', 'leave out the path; paths go to `path_includes`');
  if (/:[0-9]*$/.test(entry))
    return hostProblem('must be a host name', 'leave out the port; hosts match on every port');
  const name = entry.endsWith('.') ? entry.slice(0, -1) : entry;
  if (name.startsWith('.'))
    return hostProblem('must not start with a dot', `write \`*${name}\` for its subdomains`);
  if (name === '' || name.includes('..')) return hostProblem('must not hold an empty label');
  return null;
}

/** Why a host entry has no canonical form: forbidden octets, a name IDNA refuses (UTS 46), or a length. */
function explainHost(entry: string, type: 'exact' | 'wildcard'): Problem {
  if (/[\u0000- \u007f]/.test(entry)) return hostProblem('must not hold a space or a control character');
  const mark = /[#%,<>?@[\\\]^|:]/.exec(entry);
  if (mark !== null) return hostProblem(`must not hold \`${mark[0]}\`, which no host name has`);
  if (type === 'wildcard' && entry.split('.').some((label) => label.includes('*') && !isAscii(label))) {
    return hostProblem(
      'must not mix a star and letters outside ASCII in one label',
      'write the label in punycode',
    );
  }
  if (!isAscii(entry)) return hostProblem('must be a name that IDNA can bring to ASCII (UTS 46)');
  const bounds = `${MAX_LABEL_OCTETS} octets a label and ${MAX_HOST_OCTETS} in all`;
  return hostProblem(`must be a host name of at most ${bounds}`);
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

/** A problem with the code `invalid_host`. */
function hostProblem(message: string, remedy?: string): Problem {
  return { code: 'invalid_host', message, ...(remedy === undefined ? {} : { remedy }) };
}

/** The problem of a regex in a list of wildcards; the linter of stored rules reports it too. */
export const REGEX_IN_WILDCARD = {
  code: 'regex_in_wildcard',
  message: 'looks like a regex, and under `wildcard` everything but `*` is literal',
  remedy: 'set `path_match_type` to `regex`, or write a wildcard',
} as const satisfies Problem;

/** Checks one non-empty wildcard path entry against the canonical form of paths (semantics §1.1). */
export function judgePathEntry(entry: string): EntryProblem | null {
  if (hasBadEscape(entry)) {
    return pathProblem('must not hold a bad percent escape', 'write a literal `%` as `%25`');
  }
  const text = decodeEscapes(entry);
  if (text.includes('\\'))
    return pathProblem('could never match: `\\` becomes `/` in every path', 'write `/`');
  if (text.includes('//'))
    return pathProblem('could never match: empty segments are dropped from every path');
  if (text.split('/').some(isResolved)) {
    return pathProblem(
      'could never match: dot segments are resolved in every path',
      'write the resolved path',
    );
  }
  if (pathPieces(entry) === null) return pathProblem('could never match any path');
  if (text.startsWith('^')) return { ...REGEX_IN_WILDCARD, atWrite: true };
  if (!/^[/*]/.test(text)) {
    const message = 'matches no path: every path starts with `/`';
    const start = entry.slice(0, 60);
    return { code: 'relative_path', message, remedy: `write \`/${start}\` or \`*${start}\``, atWrite: true };
  }
  if (entry.includes('?') || entry.includes('#')) {
    const message = 'holds a `?` or `#`: the query and the fragment are not part of the path';
    return { code: 'query_in_path', message, mild: true };
  }
  return null;
}

/**
 * Whether a canonical path never contains this segment: `.`, `..`, either before parameters, or `;…` (semantics §1.1).
 */
function isResolved(segment: string): boolean {
  const semicolon = segment.indexOf(';');
  const head = semicolon < 0 ? segment : segment.slice(0, semicolon);
  return head === '.' || head === '..' || (semicolon === 0 && segment !== '');
}

/** A problem with the code `invalid_path`. */
function pathProblem(message: string, remedy?: string): Problem {
  return { code: 'invalid_path', message, ...(remedy === undefined ? {} : { remedy }) };
}
