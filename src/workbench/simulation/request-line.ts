/**
 * Reads a request from a URL and curl's options. The path is not normalised (curl would resolve `/a/../b` first),
 * because a simulator shows what an edge does with such a path.
 */
import { parseAsn } from '../../base/addresses/asn.ts';
import { COUNTRIES, meantCountry } from '../../base/addresses/countries.ts';
import { parseIp } from '../../base/addresses/ip.ts';
import { MAX_ASN } from '../../base/vocabulary/limits.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { EdgeRequest, RequestIdentity } from '../../engine/evaluator/request.ts';
import { nearest } from '../../rules/model/nearest.ts';

/** The options that describe a request, named as commander names them. */
export interface RequestFlags {
  readonly method?: string | undefined;
  readonly head?: boolean | undefined;
  /** `Name: value` each. */
  readonly header?: readonly string[] | undefined;
  readonly userAgent?: string | undefined;
  readonly referer?: string | undefined;
  readonly cookie?: string | undefined;
  readonly data?: string | undefined;
  readonly ip?: string | undefined;
  readonly country?: string | undefined;
  /** The number of an autonomous system, also with `AS` before it. */
  readonly asn?: string | undefined;
  /** `kind`, `kind:verified` or `none`. */
  readonly bot?: string | undefined;
  readonly ja4?: string | undefined;
  readonly ja4h?: string | undefined;
  readonly cleared?: readonly string[] | undefined;
  /** The username of the consumer whose credentials are valid. */
  readonly consumer?: string | undefined;
  /** `name=value` each. */
  readonly claim?: readonly string[] | undefined;
  readonly scope?: readonly string[] | undefined;
  /** Until when the quota of the consumer is exhausted; as `at`. */
  readonly quotaExhausted?: string | undefined;
  /** RFC 3339, or milliseconds since the epoch. */
  readonly at?: string | undefined;
}

/** A value that was typed, or a message that states its mistake. */
export type Typed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

/** A successful result. */
function good<T>(value: T): Typed<T> {
  return { ok: true, value };
}

/** A failed result. */
function bad(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}

/** A URL, split; `target` is path and query as typed. */
export interface Address {
  readonly scheme: string;
  readonly host: string;
  readonly target: string;
}

/**
 * Splits a URL without normalising path and query. The fragment is dropped, as clients never send it. The scheme
 * defaults to https.
 */
export function readUrl(text: string): Typed<Address> {
  const parts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([^/?#]*)([^#]*)/.exec(text);
  const scheme = (parts?.[1] ?? 'https').toLowerCase();
  const host = parts?.[2] ?? '';
  const rest = parts?.[3] ?? '';
  if (scheme !== 'http' && scheme !== 'https') return bad(`\`${text}\` is not an http or https URL`);
  if (host === '') return bad(`\`${text}\` has no host; give a whole URL such as https://example.com/path`);
  if (host.includes('@'))
    return bad(`\`${text}\` contains a user name; send it with -H 'Authorization: …' instead`);
  return good({ scheme, host, target: rest.startsWith('/') ? rest : `/${rest}` });
}

/** Reads a time as milliseconds since the epoch: RFC 3339 with a zone, or a number of milliseconds. */
export function readTime(text: string): Typed<number> {
  if (/^\d{1,15}$/.test(text)) return good(Number(text));
  const shaped = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/.test(text);
  const time = shaped ? Date.parse(text.replace(' ', 'T').toUpperCase()) : Number.NaN;
  if (Number.isNaN(time)) {
    return bad(`\`${text}\` is not a time; write 2026-01-31T12:00:00Z or milliseconds since the epoch`);
  }
  return good(time);
}

/** Reads `kind`, `kind:verified` or `none`. */
function readBot(text: string): Typed<EdgeRequest['bot']> {
  if (text === 'none') return good(null);
  const [kind = '', mark, ...more] = text.split(':');
  if (!BOT_KINDS.some((known) => known === kind)) {
    const closest = nearest(kind, BOT_KINDS);
    const known =
      closest === null ? `the kinds are ${BOT_KINDS.join(', ')}, or none` : `did you mean ${closest}?`;
    return bad(`\`${kind}\` is not a kind of bot; ${known}`);
  }
  if (more.length > 0 || (mark !== undefined && mark !== 'verified')) {
    return bad(`\`${text}\` is not a bot; write ${kind} or ${kind}:verified`);
  }
  return good({ kind, verified: mark === 'verified' });
}

/** Headers by lower-case name, or claims; a list is what is given several times. */
type Headers = Record<string, string | string[]>;

/** Adds a header or a claim; a repeated one becomes a list. */
function addValue(headers: Headers, name: string, value: string): void {
  const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
  headers[name] = earlier === undefined ? value : [...(Array.isArray(earlier) ? earlier : [earlier]), value];
}

/** Reads curl's forms: `Name: value`, `Name;` for an empty value, `Name:` to remove the header. */
function readHeaders(flags: RequestFlags): Typed<Headers> {
  const headers: Headers = Object.create(null);
  if (flags.userAgent !== undefined) addValue(headers, 'user-agent', flags.userAgent);
  if (flags.referer !== undefined) addValue(headers, 'referer', flags.referer);
  if (flags.cookie !== undefined) addValue(headers, 'cookie', flags.cookie);
  for (const text of flags.header ?? []) {
    const parts = /^([^\s:;]+)\s*(?:;\s*$|:(.*)$)/s.exec(text);
    if (parts === null) return bad(`\`${text}\` is not a header; write 'Name: value'`);
    const name = (parts[1] ?? '').toLowerCase();
    const value = parts[2]?.trim();
    if (value === '') delete headers[name];
    else addValue(headers, name, value ?? '');
  }
  if (flags.data !== undefined && !('content-type' in headers)) {
    headers['content-type'] = 'application/x-www-form-urlencoded';
  }
  return good(headers);
}

/** The first mistake in address, country, autonomous system and clearances; `null`: all are right. */
function checkFacts(flags: RequestFlags): string | null {
  const { ip, country, asn, cleared } = flags;
  if (ip !== undefined && parseIp(ip, new Uint32Array(4)) === 0)
    return `\`${ip}\` is not an IPv4 or IPv6 address`;
  if (country !== undefined && !COUNTRIES.has(country.toUpperCase())) {
    const meant = meantCountry(country.toUpperCase());
    const remedy = meant === null ? 'write two letters such as DE (ISO 3166-1)' : `did you mean ${meant}?`;
    return `\`${country}\` is not a country; ${remedy}`;
  }
  if (asn !== undefined && parseAsn(asn) === null)
    return `\`${asn}\` is not the number of an autonomous system; write 1 to ${MAX_ASN}`;
  const odd = cleared?.find((entry) => !/^[a-z_]+\/~?[a-z0-9-]+$/.test(entry));
  return odd === undefined
    ? null
    : `\`${odd}\` is not a challenge; write <type>/<id or key> such as captcha/9`;
}

/**
 * Reads whose request it is; `undefined`: no flag says. A claim that is given several times is a list. Credentials with claims or
 * scopes and without a consumer are those of a token that names none.
 */
function readIdentity({
  consumer,
  claim = [],
  scope = [],
  quotaExhausted,
}: RequestFlags): Typed<RequestIdentity | undefined> {
  if (quotaExhausted !== undefined && consumer === undefined)
    return bad('--quota-exhausted is of a consumer; add --consumer');
  if (consumer === undefined && claim.length === 0 && scope.length === 0) return good(undefined);
  if (consumer === '') return bad('--consumer has no username');
  const claims: Headers = Object.create(null);
  for (const text of claim) {
    const at = text.indexOf('=');
    if (at < 1) return bad(`\`${text}\` is not a claim; write name=value`);
    addValue(claims, text.slice(0, at), text.slice(at + 1));
  }
  const empty = scope.find((one) => one === '' || /\s/.test(one));
  if (empty !== undefined)
    return bad(`\`${empty}\` is not a scope; a scope has no blank, and --scope may be repeated`);
  const exhausted = quotaExhausted === undefined ? null : readTime(quotaExhausted);
  if (exhausted?.ok === false) return exhausted;
  return good({
    consumer: consumer ?? null,
    ...(claim.length === 0 ? {} : { claims: { ...claims } }),
    ...(scope.length === 0 ? {} : { scopes: scope }),
    ...(exhausted === null ? {} : { exhaustedUntil: exhausted.value }),
  });
}

/**
 * Builds the request of a URL and flags. `now` is always set, so that the result does not depend on when it is
 * computed.
 */
export function readRequest(url: string, flags: RequestFlags & { readonly now: number }): Typed<EdgeRequest> {
  const address = readUrl(url);
  if (!address.ok) return address;
  const headers = readHeaders(flags);
  if (!headers.ok) return headers;
  const wrong = checkFacts(flags);
  if (wrong !== null) return bad(wrong);
  const bot = flags.bot === undefined ? good(undefined) : readBot(flags.bot);
  if (!bot.ok) return bot;
  const identity = readIdentity(flags);
  if (!identity.ok) return identity;
  const implied = flags.head === true ? 'HEAD' : flags.data === undefined ? 'GET' : 'POST';
  const { host: sent, ...others } = headers.value;
  return good({
    ...address.value,
    method: flags.method ?? implied,
    host: sent ?? address.value.host,
    headers: others,
    now: flags.now,
    ...(flags.ip === undefined ? {} : { ip: flags.ip }),
    ...(flags.country === undefined ? {} : { country: flags.country.toUpperCase() }),
    ...(flags.asn === undefined ? {} : { asn: parseAsn(flags.asn) }),
    ...(bot.value === undefined ? {} : { bot: bot.value }),
    ...(flags.ja4 === undefined ? {} : { ja4: flags.ja4 }),
    ...(flags.ja4h === undefined ? {} : { ja4h: flags.ja4h }),
    ...(flags.data === undefined ? {} : { body: flags.data }),
    ...(flags.cleared === undefined || flags.cleared.length === 0 ? {} : { cleared: flags.cleared }),
    ...(identity.value === undefined ? {} : { identity: identity.value }),
  });
}
