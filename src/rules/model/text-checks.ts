/**
 * Checks the texts of fields: host and path entries of a rule's filters, and what nodes write into a request line, a
 * Host header or a Location, that is addresses, targets and header values. An entry that can never match is a mistake,
 * which the write refuses (semantics §1.1, §3).
 */
import { type HostFacts, hostPieces, normalizeName, parseHost } from '../../base/addresses/host.ts';
import { compareIp, parseIp, parseIpEntry, parseIpv4 } from '../../base/addresses/ip.ts';
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { decodeEscapes, hasBadEscape } from '../../base/octets/octets.ts';
import { hasDotSegment, pathPieces } from '../../base/paths/path.ts';
import { MAX_HOST_OCTETS, MAX_LABEL_OCTETS } from '../../base/vocabulary/limits.ts';
import { ORIGIN_SCHEMES } from '../../base/vocabulary/vocabulary.ts';
import { anyCase, checked, filledText, originCountry, port } from './fields.ts';
import type { FormScope } from './form.ts';
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

/** Warns about the prefixes of a list, at `path`, whose addresses have host bits. The entries are as they were written. */
export function warnHostBits(entries: readonly string[], path: FieldPath, scope: FormScope): void {
  for (const [index, written] of entries.entries()) {
    if (scope.full()) return;
    const problem = judgeHostBits(written);
    if (problem !== null) scope.warn([...path, index], problem);
  }
}

/** The problem of a prefix whose address has bits beyond its length, or `null`. */
function judgeHostBits(written: string): Problem | null {
  const slash = written.indexOf('/');
  if (slash < 0) return null;
  const prefix = parseIpEntry(written);
  const address = parseIpEntry(written.slice(0, slash));
  if (!prefix.ok || !address.ok || compareIp(prefix.first, address.first) === 0) return null;
  return {
    code: 'host_bits',
    message: `has bits set beyond its prefix length, so it is all of \`${prefix.canonical}\``,
    found: quoteValue(written),
    remedy: `write \`${prefix.canonical}\` for the network, or \`${address.canonical}\` for the one address`,
  };
}

// Checks fields that nodes write into a request line, a Host header or a Location: addresses, targets and header
// values.

/** Refuses control characters, space and `\`, which would split a header or change an authority (semantics §5). */
function judgeRaw(value: string): Problem | null {
  if (!/[\u0000-\u0020\u007f\\]/.test(value)) return null;
  return { code: 'forbidden_character', message: 'must not hold a control character, a space or `\\`' };
}

/** Checks the address of an origin: a strict IP address or an ASCII host name, without scheme, port or brackets. */
export function judgeAddress(value: string): Problem | null {
  if (parseIp(value, new Uint32Array(4)) !== 0) return null;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value))
    return addressProblem('leave out the scheme; it goes to `scheme`');
  if (value.startsWith('[')) return addressProblem('write the address without brackets');
  if (/:[0-9]+$/.test(value) && value.indexOf(':') === value.lastIndexOf(':')) {
    return addressProblem('leave out the port; it goes to `port`');
  }
  if (/[^\u0000-\u007f]/.test(value)) return addressProblem('write the name in punycode (`xn--…`)');
  const name = normalizeName(value);
  if (name === null || !/^[a-z0-9._-]+$/.test(name)) return addressProblem();
  // A name whose last label is a number is read as an address by some resolvers (WHATWG URL, "ends in a number").
  if (/(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(name)) {
    return addressProblem('an IPv4 address is four numbers from 0 to 255 without leading zeros');
  }
  return null;
}

/** A problem with the code `invalid_address`. */
function addressProblem(remedy?: string): Problem {
  const message = 'must be an IP address or a host name';
  return { code: 'invalid_address', message, ...(remedy === undefined ? {} : { remedy }) };
}

/**
 * Checks a Host header value: an ASCII host with an optional port (RFC 9110 §7.2); empty: the origin gets the request's
 * host.
 */
export function judgeHostHeader(value: string): Problem | null {
  if (value === '') return null;
  const raw = judgeRaw(value);
  if (raw !== null) return raw;
  if (isAuthority(value)) return null;
  const remedy = /[^\u0000-\u007f]/.test(value) ? { remedy: 'write the name in punycode (`xn--…`)' } : {};
  return { code: 'invalid_host', message: 'must be a host name, with `:port` where it needs one', ...remedy };
}

/**
 * Whether a text is an ASCII host or a bracketed IPv6 literal, with an optional port and no user name (RFC 3986 §3.2).
 */
function isAuthority(value: string): boolean {
  const facts: HostFacts = { host: '', port: -1, literal: false };
  if (!/^[a-z0-9._:[\]-]+$/i.test(value) || !parseHost(value, facts)) return false;
  if (facts.literal || parseIpv4(facts.host) >= 0) return true;
  return !/(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(facts.host);
}

/** Whether the path of a target has a segment `.` or `..`, percent-encoded or not. */
function holdsDotSegment(target: string): boolean {
  const path = target.replace(/[?#].*$/s, '').replace(/^https?:\/\/[^/]*/i, '');
  return path !== '' && hasDotSegment(path);
}

/** Checks the target of a redirect: an absolute http or https address, or a path that starts with exactly one `/`. */
export function judgeRedirectTarget(value: string): Problem | null {
  if (value === '') return targetProblem('must not be empty');
  const raw = judgeRaw(value);
  if (raw !== null) return raw;
  if (holdsDotSegment(value)) {
    const message = 'must not hold a dot segment: browsers resolve it, and the redirect may lead to itself';
    return { code: 'dot_segment', message, remedy: 'write the resolved path' };
  }
  if (value.startsWith('/')) {
    if (!value.startsWith('//')) return null;
    return targetProblem(
      'must start with exactly one `/`: `//` names another host',
      'write `https://…` to mean that',
    );
  }
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(value);
  if (absolute === null) {
    const remedy = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[:/?#]|$)/i.test(value)
      ? `write \`https://${value.slice(0, 60)}\``
      : undefined;
    return targetProblem(
      'must be an absolute http or https address, or a path that starts with one `/`',
      remedy,
    );
  }
  if (isAuthority(absolute[1]!)) return null;
  if (absolute[1]!.includes('@')) return targetProblem('must not hold a user name before its host');
  if (absolute[1]!.includes('$')) {
    const remedy = 'name the host; groups of `target_mode: captures` may be in the path, query and fragment';
    return targetProblem('must name an ASCII host after `://`, as literal text', remedy);
  }
  const remedy = /[^\u0000-\u007f]/.test(absolute[1]!) ? 'write the host in punycode (`xn--…`)' : undefined;
  return targetProblem('must name an ASCII host after `://`; the target is literal text', remedy);
}

/** A problem with the code `invalid_target`. */
function targetProblem(message: string, remedy?: string): Problem {
  return { code: 'invalid_target', message, ...(remedy === undefined ? {} : { remedy }) };
}

/** Checks the path target of a rewrite: `/…` without query or fragment, or empty (semantics §5). */
export function judgePathTarget(value: string): Problem | null {
  if (value === '') return null;
  if (value.includes('?')) return targetProblem('must not hold `?`', 'put the query into `query_target`');
  if (!value.startsWith('/')) return targetProblem('must start with `/`; empty keeps the path');
  return judgeQueryTarget(value);
}

/** Checks the query target of a rewrite, which has no leading `?` and no fragment. */
export function judgeQueryTarget(value: string): Problem | null {
  const raw = judgeRaw(value);
  if (raw !== null) return raw;
  return value.includes('#') ? targetProblem('must not hold `#`: an origin never gets a fragment') : null;
}

/** Checks the target of a health probe: a path, with an optional query. */
export function judgeProbePath(value: string): Problem | null {
  return value.startsWith('/') ? judgeQueryTarget(value) : targetProblem('must start with `/`');
}

// Where an origin is, as rules that name origins have it: the fields that `origin_route` and `origin_pool` share.

export const ADDRESS_FIELDS = {
  address: checked(filledText(), judgeAddress)
    .describe('IP address or host name of the origin')
    .meta({ examples: ['198.51.100.30'] }),
  port: port()
    .nullable()
    .default(null)
    .describe('port of the origin; null: 443 for `https`, 80 for `http`')
    .meta({ examples: [8080] }),
  scheme: anyCase(ORIGIN_SCHEMES)
    .default('https')
    .describe('protocol of connections to the origin')
    .meta({ examples: ['http'] }),
};

export const ORIGIN_COUNTRY = originCountry()
  .describe('country of the origin (ISO 3166-1 alpha-2); a note without effect')
  .meta({ examples: ['DE'] });
