/**
 * The normalised request (semantics §1), read into one object that is reused for every request. Facts that few rules
 * need (address, bot) are read at their first use.
 */
import { isAsn } from '../../base/addresses/asn.ts';
import { type HostFacts, parseHost } from '../../base/addresses/host.ts';
import { parseIp } from '../../base/addresses/ip.ts';
import { parseTarget, type TargetFacts } from '../../base/paths/path.ts';
import { classifyUserAgent } from '../../base/text/user-agent.ts';
import { BOT_KINDS, DOMAIN_STATUSES, SEARCH_CRAWLERS } from '../../base/vocabulary/vocabulary.ts';
import { META, NONE } from '../plan/layout.ts';
import { findGroup, type LoadedPlan, textOf } from './loaded.ts';
import type { EdgeRequest } from './request.ts';

/** Kind number of a bot that none of the named kinds is: one more than they. */
export const OTHER_BOT = BOT_KINDS.length;
/** Value of a lazy fact that was not read for this request yet. */
const UNREAD = -2;

/** The facts of the current request. */
export interface Facts extends HostFacts, TargetFacts {
  request: EdgeRequest;
  https: boolean;
  /** The listener's port. */
  listenerPort: number;
  /** Number of the host's group, and the offset of its records in `words`. */
  groupNumber: number;
  group: number;
  ipFamily: number;
  readonly ipWords: Uint32Array;
  /** 26 × first letter + second letter; -1 unknown. */
  country: number;
  /** Number of the autonomous system (RFC 6793); 0 unknown. */
  asn: number;
  /** Place in BOT_KINDS, OTHER_BOT, -1 for no bot, or not read yet. */
  botKind: number;
  botVerified: boolean;
  ja4: string | null;
  ja4h: string | null;
  cleared: readonly unknown[];
  now: number;
  /** Bits (`characterBit`) of the path's characters; all ones when they are not used. */
  characters: number;
  /** The number of the request among those of the process, from 1. */
  round: number;
  /** Slots of the rules that have tagged the request in the current run. */
  readonly tagged: number[];
}

const NO_REQUEST: EdgeRequest = { scheme: '', method: '', host: '', target: '' };
const NOTHING_CLEARED: readonly unknown[] = [];

/** Facts before the first request. */
export function createFacts(): Facts {
  return {
    host: '',
    port: -1,
    literal: false,
    path: '/',
    pathWithoutParameters: null,
    forwarded: '/',
    query: null,
    encodedQuery: null,
    authority: null,
    authorityScheme: '',
    request: NO_REQUEST,
    https: true,
    listenerPort: 443,
    groupNumber: NONE,
    group: NONE,
    ipFamily: UNREAD,
    ipWords: new Uint32Array(4),
    country: -1,
    asn: 0,
    botKind: UNREAD,
    botVerified: false,
    ja4: null,
    ja4h: null,
    cleared: NOTHING_CLEARED,
    now: 0,
    characters: -1,
    round: 0,
    tagged: [],
  };
}

/** Drops the references to the request, so that its body does not stay in memory until the next request. */
export function releaseRequest(facts: Facts): void {
  facts.request = NO_REQUEST;
  facts.cleared = NOTHING_CLEARED;
}

/** The result of parsing a Host value; cached, since a domain's hosts are few and recur. */
interface KnownHost extends HostFacts {
  readonly valid: boolean;
  readonly owned: boolean;
  readonly group: number;
}

/** Cached values. An attacker who sends ever new ones only clears the map again and again. */
const MAX_KNOWN_HOSTS = 128;
/** Characters of the longest Host value that is cached. */
const MAX_KNOWN_LENGTH = 256;

/** Parsed Host values, by the value as sent. */
export type RegisteredHosts = Map<string, KnownHost>;

function knownHost(loaded: LoadedPlan, known: RegisteredHosts, text: string): KnownHost {
  const found = known.get(text);
  if (found !== undefined) return found;
  const facts: HostFacts = { host: '', port: -1, literal: false };
  const valid = parseHost(text, facts);
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  const owned = valid && !facts.literal && isWithin(facts.host, domain);
  const host: KnownHost = { ...facts, valid, owned, group: owned ? findGroup(loaded, facts.host) : NONE };
  if (text.length <= MAX_KNOWN_LENGTH) {
    if (known.size >= MAX_KNOWN_HOSTS) known.clear();
    known.set(text, host);
  }
  return host;
}

/** Whether a host is the domain's name or lies below it. */
export function isWithin(host: string, domain: string): boolean {
  if (host === domain) return true;
  return host.endsWith(domain) && host.charCodeAt(host.length - domain.length - 1) === 46;
}

/** What an evaluator reads requests with. */
export interface FactsInput {
  readonly loaded: LoadedPlan;
  readonly known: RegisteredHosts;
  readonly clock: () => number;
}

/** Reads a request and checks it at the gate. 0: go on; 400, 414 or 421: refused with that status. */
export function readFacts(facts: Facts, request: EdgeRequest, input: FactsInput): 0 | 400 | 414 | 421 {
  const { plan } = input.loaded;
  facts.request = request;
  facts.round++;
  if (facts.tagged.length > 0) facts.tagged.length = 0;
  facts.https = !(typeof request.scheme === 'string' && isHttp(request.scheme));
  facts.listenerPort = listenerPort(request.port, facts.https);
  const hostText = singleText(request.host);
  if (hostText === null) return 400;
  const host = knownHost(input.loaded, input.known, hostText);
  if (!host.valid) return 400;
  facts.host = host.host;
  facts.port = host.port;
  if (!host.owned) return 421;
  if (typeof request.target !== 'string') return 400;
  const refused = parseTarget(request.target, facts);
  if (refused !== 0) return refused;
  if (facts.authority !== null && !agrees(facts)) return 400;
  if (!servesNow(plan)) return 421;
  if (host.group === NONE) return 421;
  facts.groupNumber = host.group;
  facts.group = plan.words[plan.meta[META.groups]! + host.group]!;
  readVisitor(facts, request);
  facts.now = typeof request.now === 'number' && Number.isFinite(request.now) ? request.now : input.clock();
  return 0;
}

/** Whether the domain's state lets it serve at all. */
export function servesNow({ meta }: LoadedPlan['plan']): boolean {
  const status = DOMAIN_STATUSES[meta[META.status]!];
  return (status === 'active' || status === 'moved') && meta[META.suspended] !== 1;
}

function listenerPort(port: unknown, https: boolean): number {
  const valid = typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;
  return valid ? port : defaultPort(https);
}

/** Also in other case, and with the colon of `new URL(…).protocol`. */
function isHttp(scheme: string): boolean {
  if (scheme === 'http') return true;
  const { length } = scheme;
  return (length === 4 || (length === 5 && scheme[4] === ':')) && scheme.slice(0, 4).toLowerCase() === 'http';
}

/** A header value that must come once. */
function singleText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : null;
}

/** Whether an absolute-form target names the host and port that the Host header names. */
function agrees(facts: Facts): boolean {
  const authority: HostFacts = { host: '', port: -1, literal: false };
  if (!parseHost(facts.authority!, authority) || authority.host !== facts.host) return false;
  if (authority.port === -1 && facts.port === -1) return true;
  const port = authority.port === -1 ? defaultPort(facts.authorityScheme === 'https') : authority.port;
  return port === (facts.port === -1 ? defaultPort(facts.https) : facts.port);
}

/** 443 or 80. */
export function defaultPort(https: boolean): number {
  return https ? 443 : 80;
}

function readVisitor(facts: Facts, request: EdgeRequest): void {
  facts.ipFamily = UNREAD;
  facts.botKind = UNREAD;
  facts.botVerified = false;
  facts.country = countryOf(request.country);
  facts.asn = isAsn(request.asn) ? request.asn : 0;
  facts.ja4 = typeof request.ja4 === 'string' ? request.ja4 : null;
  facts.ja4h = typeof request.ja4h === 'string' ? request.ja4h : null;
  facts.cleared = Array.isArray(request.cleared) ? request.cleared : NOTHING_CLEARED;
}

/** `XX` means unknown. */
const UNKNOWN_COUNTRY = 23 * 26 + 23;

/** 26 × first letter + second letter of a two-letter code, or -1. */
function countryOf(code: unknown): number {
  if (typeof code !== 'string' || code.length !== 2) return -1;
  const first = (code.charCodeAt(0) & ~32) - 65;
  const second = (code.charCodeAt(1) & ~32) - 65;
  if (first < 0 || first > 25 || second < 0 || second > 25) return -1;
  const number = first * 26 + second;
  return number === UNKNOWN_COUNTRY ? -1 : number;
}

/** 4 or 6 with the address in `ipWords`, 0 when it is unknown. */
export function ipOf(facts: Facts): number {
  if (facts.ipFamily === UNREAD) {
    const { ip } = facts.request;
    facts.ipFamily = typeof ip === 'string' ? parseIp(ip, facts.ipWords) : 0;
  }
  return facts.ipFamily;
}

/** The bot's kind number, or -1; `botVerified` is set with it. */
export function botOf(facts: Facts): number {
  if (facts.botKind === UNREAD) readBot(facts);
  return facts.botKind;
}

function readBot(facts: Facts): void {
  const bot: unknown = facts.request.bot;
  if (bot === undefined) {
    const agent = headerOf(facts.request, 'user-agent');
    facts.botKind = agent === null ? -1 : classifyUserAgent(agent);
    return;
  }
  facts.botKind = -1;
  if (typeof bot !== 'object' || bot === null || !('kind' in bot) || typeof bot.kind !== 'string') return;
  const kind = (BOT_KINDS as readonly string[]).indexOf(bot.kind);
  facts.botKind = kind < 0 ? OTHER_BOT : kind;
  facts.botVerified = 'verified' in bot && bot.verified === true;
}

/** The value of a header as the caller gave it; names are lower case by contract, and compared without case if they are not. */
export function headerField(request: EdgeRequest, name: string): unknown {
  const headers: unknown = request.headers;
  if (typeof headers !== 'object' || headers === null) return undefined;
  const fields = headers as Record<string, unknown>;
  let value = fields[name];
  if (value === undefined) {
    for (const key in fields)
      if (key.length === name.length && key.toLowerCase() === name) value = fields[key];
  }
  return value;
}

/** The first value of a header. */
export function headerOf(request: EdgeRequest, name: string): string | null {
  const value = headerField(request, name);
  if (typeof value === 'string') return value;
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : null;
}

// The requests that pass phases untouched (semantics §4), as bits, so that one `&` answers for a phase and a request.

/**
 * `acme`: the request of an ACME server for a token. `pinned`: a bot_route rule has pinned the origin. `crawler`: a
 * verified search crawler. `admitted`: a gateway has admitted the request.
 */
export const EXEMPT = { acme: 1, pinned: 2, crawler: 4, admitted: 8 } as const;

/** The exemptions that the request's facts give; `pinned` and `admitted` are added by the phases bot_route and gateway. */
export function exemptionsOf(facts: Facts): number {
  const acme = isAcmeChallenge(facts) ? EXEMPT.acme : 0;
  return isVerifiedCrawler(facts) ? acme | EXEMPT.crawler : acme;
}

function isVerifiedCrawler(facts: Facts): boolean {
  const { bot } = facts.request;
  if (bot === undefined || bot === null) return false;
  const kind = BOT_KINDS[botOf(facts)];
  return facts.botVerified && (SEARCH_CRAWLERS as readonly (string | undefined)[]).includes(kind);
}

// Paths that rules treat apart (semantics §4).

/** Where an ACME server asks for tokens (RFC 8555 §8.3). */
export const ACME_PREFIX = '/.well-known/acme-challenge/';
/** Paths that the edge answers itself. */
export const EDGE_PREFIX = '/.well-known/edgeplan/';

/** A request of an ACME server for a token (RFC 8555 §8.3), which no rule may stand in the way of. */
function isAcmeChallenge(facts: Facts): boolean {
  const { path, query, request } = facts;
  if ((query !== null && query !== '') || !path.startsWith(ACME_PREFIX) || path.length === ACME_PREFIX.length)
    return false;
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  for (let at = ACME_PREFIX.length; at < path.length; at++)
    if (!isTokenCode(path.charCodeAt(at))) return false;
  return true;
}

/** base64url (RFC 4648 §5). */
function isTokenCode(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 95;
}

/** Paths the edge answers itself, challenges among them: no challenge may stand in the way of being solved. */
export function isEdgeOwn(facts: Facts): boolean {
  return (
    facts.path.startsWith(EDGE_PREFIX) || (facts.pathWithoutParameters?.startsWith(EDGE_PREFIX) ?? false)
  );
}
