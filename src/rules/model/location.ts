/**
 * Checks fields that nodes write into a request line, a Host header or a Location: addresses, targets and header
 * values.
 */
import { type HostFacts, normalizeName, parseHost } from '../../base/addresses/host.ts';
import { parseIp, parseIpv4 } from '../../base/addresses/ip.ts';
import { hasDotSegment } from '../../base/paths/path.ts';
import type { Problem } from './report.ts';

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
