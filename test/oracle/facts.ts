/** The gate (semantics §1, §2): a request becomes facts, or is refused with a status. */
import type { DnsRecord, Domain } from '../../src/rules/model/types.ts';
import { type NamedRecord, owns, parseAuthority, recordsOf } from './host.ts';
import { type Address, parseAddress } from './ip.ts';
import { defaultPort, readTarget, type Target } from './path.ts';
import type { EdgeRequest } from './types.ts';

export interface Facts extends Target {
  /** The entries of lists by `@name`. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** The entries of lists of redirects by `@name`. */
  readonly redirects: ReadonlyMap<string, readonly Redirected[]>;
  readonly request: EdgeRequest;
  readonly scheme: 'http' | 'https';
  readonly method: unknown;
  readonly host: string;
  /** The port Host was written with. */
  readonly port: number | null;
  /** The port the listener has. */
  readonly listenerPort: number;
  /** The host's proxied records, by id. */
  readonly records: readonly DnsRecord[];
  readonly ip: Address | null;
  readonly country: string | null;
  /** The number of the visitor's autonomous system. */
  readonly asn: number | null;
  readonly bot: { readonly kind: string; readonly verified: boolean } | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  readonly cleared: readonly unknown[];
  /** Milliseconds. */
  readonly now: number;
}

/** The kinds a User-Agent can name, in the API document's order; the first named wins. */
const NAMED_BOTS = [
  'gptbot',
  'oai-searchbot',
  'chatgpt-user',
  'claudebot',
  'claude-user',
  'perplexitybot',
  'perplexity-user',
  'googlebot',
  'bingbot',
  'ccbot',
  'bytespider',
  'meta-externalagent',
  'amazonbot',
  'applebot',
  'duckduckbot',
  'yandexbot',
  'ahrefsbot',
  'semrushbot',
  'mj12bot',
];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function userAgent(headers: unknown): string {
  if (!isObject(headers)) return '';
  const value = Object.entries(headers).find(([name]) => name.toLowerCase() === 'user-agent')?.[1];
  return text(Array.isArray(value) ? value[0] : value) ?? '';
}

function botOf(request: Record<string, unknown>): Facts['bot'] {
  const given = request['bot'];
  if (given === undefined) {
    const agent = userAgent(request['headers']).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const kind = NAMED_BOTS.find((name) => agent.includes(name));
    return kind === undefined ? null : { kind, verified: false };
  }
  if (!isObject(given) || typeof given['kind'] !== 'string') return null;
  return { kind: given['kind'], verified: given['verified'] === true };
}

function countryOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^[A-Za-z]{2}$/.test(value)) return null;
  const code = value.toUpperCase();
  return code === 'XX' ? null : code;
}

function asnOf(value: unknown): number | null {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 4_294_967_295
    ? (value as number)
    : null;
}

function hostText(value: unknown): string | null {
  return text(Array.isArray(value) && value.length === 1 ? value[0] : value);
}

/** An entry of a list of redirects. */
export interface Redirected {
  readonly from: string;
  readonly to: string;
  /** Absent: the status of the rule. */
  readonly status?: number | undefined;
}

/** Where requests arrive: a domain, its records, and the clock for requests without a `now`. */
export interface Place {
  readonly domain: Domain;
  readonly named: readonly NamedRecord[];
  readonly clock: () => number;
  /** The entries of lists by `@name`; absent: there is no list. */
  readonly lists?: ReadonlyMap<string, readonly string[]>;
  readonly redirects?: ReadonlyMap<string, readonly Redirected[]>;
}

function listenerPort(port: unknown, scheme: 'http' | 'https'): number {
  const valid = Number.isInteger(port) && (port as number) >= 1 && (port as number) <= 65_535;
  return valid ? (port as number) : defaultPort(scheme);
}

/** The facts of a request, or the status it is refused with. */
export function gate(
  given: EdgeRequest,
  { domain, named, clock, lists = new Map(), redirects = new Map() }: Place,
): Facts | number {
  const request: Record<string, unknown> = isObject(given) ? given : {};
  const scheme = text(request['scheme'])?.toLowerCase() === 'http' ? 'http' : 'https';
  const sentHost = hostText(request['host']);
  const authority = sentHost === null ? null : parseAuthority(sentHost);
  if (authority === null) return 400;
  if (!owns(domain.name, authority.host)) return 421;
  const target = readTarget(request['target'], authority, scheme);
  if (typeof target === 'number') return target;
  if (!['active', 'moved'].includes(domain.status) || domain.suspended) return 421;
  const records = recordsOf(authority.host, domain.name, named);
  if (records.length === 0) return 421;
  return {
    ...target,
    ...authority,
    lists,
    redirects,
    request: given,
    scheme,
    method: request['method'],
    listenerPort: listenerPort(request['port'], scheme),
    records,
    ip: parseAddress(request['ip']),
    country: countryOf(request['country']),
    asn: asnOf(request['asn']),
    bot: botOf(request),
    ja4: text(request['ja4']),
    ja4h: text(request['ja4h']),
    cleared: Array.isArray(request['cleared']) ? request['cleared'] : [],
    now: Number.isFinite(request['now']) ? (request['now'] as number) : clock(),
  };
}
