/**
 * A request the way people type one: a URL and curl's own options. The path is taken as typed (curl would resolve
 * `/a/../b` first), since telling what an edge does with such a path is what a simulator is for.
 */
import { parseIp } from '../base/ip.ts';
import { BOT_KINDS } from '../base/vocabulary.ts';
import type { EdgeRequest } from '../evaluator/request.ts';
import { nearest } from '../model/nearest.ts';

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
  /** `kind`, `kind:verified` or `none`. */
  readonly bot?: string | undefined;
  readonly ja4?: string | undefined;
  readonly ja4h?: string | undefined;
  readonly cleared?: readonly string[] | undefined;
  /** RFC 3339, or milliseconds since the epoch. */
  readonly at?: string | undefined;
}

/** What was typed, or the sentence that says what is wrong with it. */
export type Typed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

function good<T>(value: T): Typed<T> {
  return { ok: true, value };
}

function bad(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}

export interface Address {
  readonly scheme: string;
  readonly host: string;
  readonly target: string;
}

/** Splits a URL without touching its path and query; the fragment never leaves a client. */
export function readUrl(text: string): Typed<Address> {
  const parts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?([^/?#]*)([^#]*)/.exec(text);
  const scheme = (parts?.[1] ?? 'https').toLowerCase();
  const host = parts?.[2] ?? '';
  const rest = parts?.[3] ?? '';
  if (scheme !== 'http' && scheme !== 'https') return bad(`\`${text}\` is not an http or https URL`);
  if (host === '') return bad(`\`${text}\` names no host; give a whole URL such as https://example.com/path`);
  if (host.includes('@'))
    return bad(`\`${text}\` holds a user name; send it with -H 'Authorization: …' instead`);
  return good({ scheme, host, target: rest.startsWith('/') ? rest : `/${rest}` });
}

/** RFC 3339 with a zone, or milliseconds since the epoch. */
export function readTime(text: string): Typed<number> {
  if (/^\d{1,15}$/.test(text)) return good(Number(text));
  const shaped = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/.test(text);
  const time = shaped ? Date.parse(text.replace(' ', 'T').toUpperCase()) : Number.NaN;
  if (Number.isNaN(time)) {
    return bad(`\`${text}\` is not a time; write 2026-01-31T12:00:00Z or milliseconds since the epoch`);
  }
  return good(time);
}

function readBot(text: string): Typed<EdgeRequest['bot']> {
  if (text === 'none') return good(null);
  const [kind = '', mark, ...more] = text.split(':');
  if (!BOT_KINDS.some((known) => known === kind)) {
    const meant = nearest(kind, BOT_KINDS);
    const known =
      meant === null ? `the kinds are ${BOT_KINDS.join(', ')}, or none` : `did you mean ${meant}?`;
    return bad(`\`${kind}\` is not a kind of bot; ${known}`);
  }
  if (more.length > 0 || (mark !== undefined && mark !== 'verified')) {
    return bad(`\`${text}\` is not a bot; write ${kind} or ${kind}:verified`);
  }
  return good({ kind, verified: mark === 'verified' });
}

type Headers = Record<string, string | string[]>;

function addHeader(headers: Headers, name: string, value: string): void {
  const held = Object.hasOwn(headers, name) ? headers[name] : undefined;
  headers[name] = held === undefined ? value : [...(Array.isArray(held) ? held : [held]), value];
}

/** curl's forms: `Name: value`, `Name;` for an empty value, `Name:` for none at all. */
function readHeaders(flags: RequestFlags): Typed<Headers> {
  const headers: Headers = Object.create(null);
  if (flags.userAgent !== undefined) addHeader(headers, 'user-agent', flags.userAgent);
  if (flags.referer !== undefined) addHeader(headers, 'referer', flags.referer);
  if (flags.cookie !== undefined) addHeader(headers, 'cookie', flags.cookie);
  for (const text of flags.header ?? []) {
    const parts = /^([^\s:;]+)\s*(?:;\s*$|:(.*)$)/s.exec(text);
    if (parts === null) return bad(`\`${text}\` is not a header; write 'Name: value'`);
    const name = (parts[1] ?? '').toLowerCase();
    const value = parts[2]?.trim();
    if (value === '') delete headers[name];
    else addHeader(headers, name, value ?? '');
  }
  if (flags.data !== undefined && !('content-type' in headers)) {
    headers['content-type'] = 'application/x-www-form-urlencoded';
  }
  return good(headers);
}

function checkFacts(flags: RequestFlags): string | null {
  const { ip, country, cleared } = flags;
  if (ip !== undefined && parseIp(ip, new Uint32Array(4)) === 0)
    return `\`${ip}\` is not an IPv4 or IPv6 address`;
  if (country !== undefined && !/^[A-Za-z]{2}$/.test(country)) {
    return `\`${country}\` is not a country; write two letters such as DE`;
  }
  const odd = cleared?.find((entry) => !/^[a-z_]+\/~?[a-z0-9-]+$/.test(entry));
  return odd === undefined
    ? null
    : `\`${odd}\` is not a challenge; write <type>/<id or key> such as captcha/9`;
}

/** The request a URL and flags stand for. `now` is always set, so that nothing hangs on when the answer is worked out. */
export function readRequest(url: string, flags: RequestFlags & { readonly now: number }): Typed<EdgeRequest> {
  const address = readUrl(url);
  if (!address.ok) return address;
  const headers = readHeaders(flags);
  if (!headers.ok) return headers;
  const wrong = checkFacts(flags);
  if (wrong !== null) return bad(wrong);
  const bot = flags.bot === undefined ? good(undefined) : readBot(flags.bot);
  if (!bot.ok) return bot;
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
    ...(bot.value === undefined ? {} : { bot: bot.value }),
    ...(flags.ja4 === undefined ? {} : { ja4: flags.ja4 }),
    ...(flags.ja4h === undefined ? {} : { ja4h: flags.ja4h }),
    ...(flags.data === undefined ? {} : { body: flags.data }),
    ...(flags.cleared === undefined || flags.cleared.length === 0 ? {} : { cleared: flags.cleared }),
  });
}
