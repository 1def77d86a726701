/**
 * One line of the decision log: the request, the decision with its plan and rules, and the response. The field `request` is
 * an `EdgeRequest` without its secrets, so that `edgeplan replay` can evaluate the same line under another rule set;
 * `withheld` names what it lacks.
 */
import { isAsn } from '../../../base/addresses/asn.ts';
import { LOGGED_HEADERS } from '../../../base/http/secret-names.ts';
import { type GatewayOutcome, type HeaderChange, originText } from '../../../engine/evaluator/decision.ts';
import { refText } from '../../../engine/evaluator/identity.ts';
import type { Decision, EdgeRequest, Match, Uninspected } from '../../../engine/evaluator/index.ts';
import { bodyOf, type RequestIdentity } from '../../../engine/evaluator/request.ts';
import type { Exchange } from '../../decide/exchange.ts';
import type { UnservedHost, UnservedReason } from '../../decide/unserved.ts';
import type { Unenforced } from '../../decide/verdict.ts';
import { MAX_HEADER, MAX_HOST, MAX_MATCHES, MAX_SIGNATURES, MAX_TARGET, MAX_WITHHELD } from '../limits.ts';
import type { OriginResult } from '../origin/request.ts';
import { redactTarget } from './redact.ts';
import type { RequestLogEntry } from './request-log.ts';
import { type LoggedSignature, logSignatures, type ShownParts, type Verdict } from './signatures.ts';

/** The format of a line; a change of its fields raises the version. */
export const LINE_FORMAT = 'edgeplan.decision/v1';
/** The format of a line in place of dropped ones. */
export const GAP_FORMAT = 'edgeplan.gap/v1';

/** The logged part of a decision: what a visitor, a cache or an origin can notice. */
export interface LoggedDecision {
  readonly action: Decision['action'];
  readonly status: number | null;
  /** `<type>/<id>` of the rule that settled the outcome. */
  readonly rule: string | null;
  readonly location: string | null;
  /** `scheme://address:port`. */
  readonly origin: string | null;
  readonly host_header: string | null;
  /** Path and query for the origin. */
  readonly path: string | null;
  readonly cache: {
    readonly mode: string;
    readonly edge_ttl_sec: number | null;
    readonly browser_ttl_sec: number | null;
  } | null;
  readonly tags: readonly string[];
  /** What the gateway made of the request; absent: none acted. */
  readonly gateway?: GatewayOutcome;
  /** What headers rules did to the request, `set x-name`; values are withheld, since they may be secrets. Absent: nothing. */
  readonly request_headers?: readonly string[];
  /** The same of the response. */
  readonly response_headers?: readonly string[];
}

/** The logged part of a request. Every field is one of `EdgeRequest`. */
export type LoggedRequest = Omit<EdgeRequest, 'body' | 'ja4h'>;

/** A line of the decision log. */
export interface DecisionLine {
  readonly format: typeof LINE_FORMAT;
  /** RFC 3339, UTC: the arrival of the request. */
  readonly time: string;
  readonly id: string;
  /** `null`: refused before any plan was evaluated; revision, digest, request and decision are `null` as well. */
  readonly domain: string | null;
  readonly revision: number | null;
  /** SHA-256 of the sealed plan, 64 hex digits. */
  readonly digest: string | null;
  /** The share of such requests that is logged, 0 to 1; `null`: all are. */
  readonly sampled: number | null;
  readonly request: LoggedRequest | null;
  /** Of a 421; absent in lines of versions before this field. */
  readonly unserved?: LoggedUnserved | null;
  /** What the request had and this line lacks: `target`, `body`, `claims`, names of headers. */
  readonly withheld: readonly string[];
  readonly decision: LoggedDecision | null;
  /** `<type>/<id>`, the rule's mode and effect; `waf`: the verdict of a waf rule under dry_run. */
  readonly matches: readonly LoggedMatch[];
  /** The error_page rules that matched the response; absent: none. */
  readonly page_matches?: readonly LoggedMatch[];
  /** The decision had every dry_run rule been enforced. */
  readonly shadow: LoggedDecision | null;
  readonly waf: LoggedVerdict | null;
  /** The response to the visitor; 0: a proxy in front of an agent forwarded the request, and its response is not seen. */
  readonly status: number;
  readonly octets: number;
  readonly duration_ms: number;
  /** Octets of the request's body that were received. This and the next four are absent in lines of earlier versions. */
  readonly octets_in?: number;
  /** Milliseconds to the head of the response; `null`: none was sent. */
  readonly ttfb_ms?: number | null;
  /** How the origin treated the request; `null`: it did not go to one. */
  readonly origin?: OriginResult | null;
  /** Milliseconds from the end of the request to the head of the origin's response; `null`: there was none. */
  readonly origin_ms?: number | null;
  /** The request counts for the uptime of a record with `monitor: true`. */
  readonly monitored?: boolean;
  readonly cache: string | null;
  /** The outcome of a request for Markdown. */
  readonly markdown: string | null;
  readonly fault: string | null;
  /** Parts of the decision that the proxy in front of an agent does not enforce; absent: none. */
  readonly unenforced?: readonly Unenforced[];
}

/** A rule that matched. */
export interface LoggedMatch extends Pick<Match, 'mode' | 'effect'> {
  /** `<type>/<id>`. */
  readonly rule: string;
  readonly waf?: LoggedVerdict;
}

/** Which host of a 421 is not served, and why. */
export interface LoggedUnserved {
  readonly host: string;
  /** The name in the TLS handshake. */
  readonly server_name: string | null;
  readonly reason: UnservedReason;
}

/** The logged part of a WAF verdict; an absent field is `false` or empty. */
interface LoggedVerdict {
  readonly score: number;
  readonly ids: readonly number[];
  /** The variables that signatures matched, `ARGS:id`, each once. */
  readonly targets?: readonly string[];
  /** The signatures with what they matched, those with the highest scores; absent in lines of earlier versions. */
  readonly matches?: readonly LoggedSignature[];
  /** A signature denies the request, whatever the score. */
  readonly denied?: boolean;
  /** The body was longer than the rule inspects. */
  readonly truncated?: boolean;
  /** The step budget was exhausted, which counts as reaching the threshold. */
  readonly exhausted?: boolean;
  /** Why the body could not be parsed. */
  readonly body_error?: string;
  /** Why the body was not inspected whole. */
  readonly uninspected?: Uninspected;
}

/** A line that states how many lines are missing at its place. */
export interface GapLine {
  readonly format: typeof GAP_FORMAT;
  readonly time: string;
  readonly dropped: number;
}

/** The line for a finished request. @param sampled the share of such requests that is logged; `null`: all are */
export function decisionLine(entry: RequestLogEntry, sampled: number | null): DecisionLine {
  const { exchange, id, status, octets, cache, markdown, fault } = entry;
  const began = exchange?.startedAt ?? Date.now() - entry.durationMs;
  const { unserved = null, unenforced = [] } = entry;
  const logged = exchange === null ? NO_EXCHANGE : logExchange(exchange);
  return {
    format: LINE_FORMAT,
    time: new Date(began).toISOString(),
    id,
    ...logged.plan,
    sampled,
    ...logged.request,
    unserved: unserved === null ? null : logUnserved(unserved),
    ...logged.decision,
    status,
    octets,
    duration_ms: roundMs(entry.durationMs),
    octets_in: entry.octetsIn,
    ttfb_ms: entry.firstOctetMs === null ? null : roundMs(entry.firstOctetMs),
    origin: entry.origin,
    origin_ms: entry.originMs === null ? null : roundMs(entry.originMs),
    monitored: entry.monitored,
    cache,
    markdown,
    fault,
    ...(unenforced.length === 0 ? {} : { unenforced }),
  };
}

/** Milliseconds, to the microsecond. */
function roundMs(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

function logUnserved({ host, serverName, reason }: UnservedHost): LoggedUnserved {
  const server_name = serverName === null ? null : cut(serverName, MAX_HOST);
  return { host: cut(host, MAX_HOST), server_name, reason };
}

type PlanPart = Pick<DecisionLine, 'domain' | 'revision' | 'digest'>;
type RequestPart = Pick<DecisionLine, 'request' | 'withheld'>;
type DecisionPart = Pick<DecisionLine, 'decision' | 'matches' | 'page_matches' | 'shadow' | 'waf'>;

interface LoggedExchange {
  readonly plan: PlanPart;
  readonly request: RequestPart;
  readonly decision: DecisionPart;
}

const NO_EXCHANGE: LoggedExchange = {
  plan: { domain: null, revision: null, digest: null },
  request: { request: null, withheld: [] },
  decision: { decision: null, matches: [], shadow: null, waf: null },
};

function logExchange({ domain, request, decision, pageMatches = [] }: Exchange): LoggedExchange {
  const { waf, shadow } = decision;
  const matches = decision.matches.slice(0, MAX_MATCHES);
  const verdicts = matches.filter((match) => match.waf !== undefined).length + (waf === null ? 0 : 1);
  const secrets = domain.evaluator.credentialParameters();
  const shown: ShownParts = {
    request,
    secrets,
    most: Math.max(1, Math.floor(MAX_SIGNATURES / Math.max(1, verdicts))),
  };
  return {
    plan: { domain: domain.name, revision: domain.revision, digest: domain.digest },
    request: logRequest(request, secrets),
    decision: {
      decision: loggedDecision(decision, secrets),
      matches: matches.map((match) => logMatch(match, shown)),
      ...(pageMatches.length === 0
        ? {}
        : { page_matches: pageMatches.slice(0, MAX_MATCHES).map((match) => logMatch(match, shown)) }),
      shadow: shadow === null ? null : loggedDecision(shadow, secrets),
      waf: waf === null ? null : logVerdict(waf, shown),
    },
  };
}

function logMatch(match: Match, shown: ShownParts): LoggedMatch {
  return {
    rule: refText(match),
    mode: match.mode,
    effect: match.effect,
    ...(match.waf === undefined ? {} : { waf: logVerdict(match.waf, shown) }),
  };
}

function logVerdict(
  { score, ids, truncated, exhausted, denied, bodyError, matches, uninspected }: Verdict,
  shown: ShownParts,
): LoggedVerdict {
  const targets = new Set(matches.map(({ variable }) => cut(variable, MAX_HOST)));
  targets.delete('');
  const signatures = logSignatures(matches, shown);
  return {
    score,
    ids: ids.slice(0, MAX_MATCHES),
    ...(targets.size === 0 ? {} : { targets: [...targets].slice(0, MAX_MATCHES) }),
    ...(signatures.length === 0 ? {} : { matches: signatures }),
    ...(denied ? { denied } : {}),
    ...(truncated ? { truncated } : {}),
    ...(exhausted ? { exhausted } : {}),
    ...(bodyError === null ? {} : { body_error: bodyError }),
    ...(uninspected === null ? {} : { uninspected }),
  };
}

function logRequest(request: EdgeRequest, secrets: ReadonlySet<string>): RequestPart {
  const withheld: string[] = [];
  const target = cut(redactTarget(request.target, secrets), MAX_TARGET);
  if (target !== request.target) withheld.push('target');
  const body = bodyOf(request);
  if (body === 'unread' || (body !== null && body.length > 0)) withheld.push('body');
  const headers: Record<string, string | readonly string[]> = {};
  for (const name in request.headers) {
    const value = request.headers[name];
    if (value === undefined || name === 'host') continue;
    const safe = LOGGED_HEADERS.has(name) ? logHeader(name, value, secrets) : null;
    if (safe !== null) headers[name] = safe;
    if (safe !== value && withheld.length < MAX_WITHHELD) withheld.push(cut(name, MAX_HOST));
  }
  const { scheme, method, protocol, port, ip, country, bot, ja4, now, cleared } = request;
  const asn = isAsn(request.asn) ? request.asn : undefined;
  const line = { scheme, method: cut(method, MAX_HOST), host: cutHost(request.host), target };
  const facts = { protocol, port, headers, ip, country, asn, bot, ja4, now, cleared };
  const identity = loggedIdentity(request.identity);
  if (request.identity?.claims !== undefined) withheld.push('claims');
  return { request: { ...line, ...facts, ...(identity === null ? {} : { identity }) }, withheld };
}

/** Whose request it is, without the claims of its token, which may name a person; `null`: no credentials were verified. */
function loggedIdentity(identity: EdgeRequest['identity']): RequestIdentity | null {
  if (identity === undefined || identity === null) return null;
  const { consumer, verified, scopes, failure } = identity;
  return {
    consumer,
    ...(verified === undefined ? {} : { verified }),
    ...(scopes === undefined
      ? {}
      : { scopes: scopes.slice(0, MAX_MATCHES).map((scope) => cut(scope, MAX_HOST)) }),
    ...(failure === undefined || failure === null ? {} : { failure }),
  };
}

/** The loggable part of a header; the very same value if nothing had to be removed, so that callers can compare. */
function logHeader(
  name: string,
  value: string | readonly string[],
  secrets: ReadonlySet<string>,
): string | readonly string[] {
  const shorten = (one: string): string =>
    cut(name === 'referer' ? redactTarget(one, secrets) : one, MAX_HEADER);
  return typeof value === 'string' ? shorten(value) : value.slice(0, MAX_WITHHELD).map(shorten);
}

function cutHost(host: string | readonly string[]): string | readonly string[] {
  return typeof host === 'string' ? cut(host, MAX_HOST) : host.slice(0, 2).map((one) => cut(one, MAX_HOST));
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most);
}

/** The logged part of a decision, without secrets; `replay` reduces new decisions in the same way and compares. */
export function loggedDecision(decision: Decision, secrets?: ReadonlySet<string>): LoggedDecision {
  const { action, status, origin, cache, location, path, query } = decision;
  const forwarded = path === null ? null : query === null ? path : `${path}?${query}`;
  return {
    action,
    status,
    rule: decision.rule === null ? null : refText(decision.rule),
    location: location === null ? null : cut(redactTarget(location, secrets), MAX_TARGET),
    origin: origin === null ? null : originText(origin),
    host_header: origin === null ? null : origin.hostHeader,
    path: forwarded === null ? null : cut(redactTarget(forwarded, secrets), MAX_TARGET),
    cache:
      cache === null
        ? null
        : { mode: cache.mode, edge_ttl_sec: cache.edgeTtl, browser_ttl_sec: cache.browserTtl },
    tags: decision.tags.slice(0, MAX_MATCHES),
    ...(decision.gateway === undefined ? {} : { gateway: decision.gateway }),
    ...loggedHeaders('request_headers', decision.requestHeaders),
    ...loggedHeaders('response_headers', decision.responseHeaders),
  };
}

function loggedHeaders(
  field: 'request_headers' | 'response_headers',
  changes: readonly HeaderChange[] | undefined,
): Partial<LoggedDecision> {
  if (changes === undefined) return {};
  return { [field]: changes.slice(0, MAX_MATCHES).map(({ op, name }) => `${op} ${cut(name, MAX_HOST)}`) };
}
