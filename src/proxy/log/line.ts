/**
 * One line of the decision log: who asked what, what was decided by which plan and rules, and what came of it. Its
 * `request` is an `EdgeRequest` as far as it may be told, so that `edgeplan replay` can put the same line to another
 * rule set; what it lacks is named under `withheld`.
 */
import { refText } from '../../evaluator/identity.ts';
import type { Decision, EdgeRequest, Match, Uninspected } from '../../evaluator/index.ts';
import { bodyOf } from '../../evaluator/request-body.ts';
import type { Exchange } from '../exchange.ts';
import { MAX_HEADER, MAX_HOST, MAX_MATCHES, MAX_TARGET, MAX_WITHHELD } from './limits.ts';
import { LOGGED_HEADERS, redactTarget } from './redact.ts';
import type { RequestLogEntry } from './request-log.ts';

export const LINE_FORMAT = 'edgeplan.decision/v1';
export const GAP_FORMAT = 'edgeplan.gap/v1';

/** A decision as the log tells it: what a visitor, a cache or an origin would notice. */
export interface LoggedDecision {
  readonly action: Decision['action'];
  readonly status: number | null;
  /** `<type>/<id>` of who settled it. */
  readonly rule: string | null;
  readonly location: string | null;
  /** `scheme://address:port`. */
  readonly origin: string | null;
  readonly host_header: string | null;
  /** Path and query that the origin gets. */
  readonly path: string | null;
  readonly cache: {
    readonly mode: string;
    readonly edge_ttl_sec: number | null;
    readonly browser_ttl_sec: number | null;
  } | null;
  readonly tags: readonly string[];
}

/** The request's part. Every field is one of `EdgeRequest`. */
export type LoggedRequest = Omit<EdgeRequest, 'body' | 'ja4h'>;

export interface DecisionLine {
  readonly format: typeof LINE_FORMAT;
  /** RFC 3339, UTC: when the request began. */
  readonly time: string;
  readonly id: string;
  /** `null`, with everything that hangs on it: refused before anybody's plan was asked. */
  readonly domain: string | null;
  readonly revision: number | null;
  /** SHA-256 of the sealed plan, 64 hex digits. */
  readonly digest: string | null;
  /** The share of such requests that is written down, where not all are. */
  readonly sampled: number | null;
  readonly request: LoggedRequest | null;
  /** What the request held and this line does not: `target`, `body`, names of headers. */
  readonly withheld: readonly string[];
  readonly decision: LoggedDecision | null;
  /** `<type>/<id>`, how the rule acts, and what it did; `waf`: what the signatures of one under dry_run found. */
  readonly matches: readonly (Pick<Match, 'mode' | 'effect'> & {
    readonly rule: string;
    readonly waf?: ToldVerdict;
  })[];
  /** The decision had every dry_run rule been enforced. */
  readonly shadow: LoggedDecision | null;
  readonly waf: ToldVerdict | null;
  /** What the visitor got. */
  readonly status: number;
  readonly octets: number;
  readonly duration_ms: number;
  readonly cache: string | null;
  /** What became of a page that was asked for as Markdown. */
  readonly markdown: string | null;
  readonly fault: string | null;
}

/** What signatures found; what is absent is `false`, or nothing. */
interface ToldVerdict {
  readonly score: number;
  readonly ids: readonly number[];
  /** What the signatures matched on, `ARGS:id`, each once; never the pieces themselves. */
  readonly targets?: readonly string[];
  /** The body was longer than the rule inspects. */
  readonly truncated?: boolean;
  /** The step budget ran out, which counts as reaching the threshold. */
  readonly exhausted?: boolean;
  /** What kept the body from being read. */
  readonly body_error?: string;
  /** Why the body was not inspected whole. */
  readonly uninspected?: Uninspected;
}

/** Says how many lines are missing at this place. */
export interface GapLine {
  readonly format: typeof GAP_FORMAT;
  readonly time: string;
  readonly dropped: number;
}

export function decisionLine(entry: RequestLogEntry, sampled: number | null): DecisionLine {
  const { exchange, id, status, octets, cache, markdown, fault } = entry;
  const began = exchange?.startedAt ?? Date.now() - entry.durationMs;
  const told = exchange === null ? NOTHING : tellExchange(exchange);
  return {
    format: LINE_FORMAT,
    time: new Date(began).toISOString(),
    id,
    ...told.plan,
    sampled,
    ...told.request,
    ...told.decision,
    status,
    octets,
    duration_ms: Math.round(entry.durationMs * 1_000) / 1_000,
    cache,
    markdown,
    fault,
  };
}

type PlanPart = Pick<DecisionLine, 'domain' | 'revision' | 'digest'>;
type RequestPart = Pick<DecisionLine, 'request' | 'withheld'>;
type DecisionPart = Pick<DecisionLine, 'decision' | 'matches' | 'shadow' | 'waf'>;

interface Told {
  readonly plan: PlanPart;
  readonly request: RequestPart;
  readonly decision: DecisionPart;
}

const NOTHING: Told = {
  plan: { domain: null, revision: null, digest: null },
  request: { request: null, withheld: [] },
  decision: { decision: null, matches: [], shadow: null, waf: null },
};

function tellExchange({ domain, request, decision }: Exchange): Told {
  const { waf, shadow } = decision;
  return {
    plan: { domain: domain.name, revision: domain.revision, digest: domain.digest },
    request: tellRequest(request),
    decision: {
      decision: loggedDecision(decision),
      matches: decision.matches.slice(0, MAX_MATCHES).map((match) => ({
        rule: refText(match),
        mode: match.mode,
        effect: match.effect,
        ...(match.waf === undefined ? {} : { waf: tellVerdict(match.waf) }),
      })),
      shadow: shadow === null ? null : loggedDecision(shadow),
      waf: waf === null ? null : tellVerdict(waf),
    },
  };
}

function tellVerdict({
  score,
  ids,
  truncated,
  exhausted,
  bodyError,
  matches,
  uninspected,
}: NonNullable<Decision['waf']>): ToldVerdict {
  const targets = new Set(matches.map(({ variable }) => cut(variable, MAX_HOST)));
  targets.delete('');
  return {
    score,
    ids: ids.slice(0, MAX_MATCHES),
    ...(targets.size === 0 ? {} : { targets: [...targets].slice(0, MAX_MATCHES) }),
    ...(truncated ? { truncated } : {}),
    ...(exhausted ? { exhausted } : {}),
    ...(bodyError === null ? {} : { body_error: bodyError }),
    ...(uninspected === null ? {} : { uninspected }),
  };
}

function tellRequest(request: EdgeRequest): RequestPart {
  const withheld: string[] = [];
  const target = cut(redactTarget(request.target), MAX_TARGET);
  if (target !== request.target) withheld.push('target');
  const body = bodyOf(request);
  if (body === 'unread' || (body !== null && body.length > 0)) withheld.push('body');
  const headers: Record<string, string | readonly string[]> = {};
  for (const name in request.headers) {
    const value = request.headers[name];
    if (value === undefined || name === 'host') continue;
    const safe = LOGGED_HEADERS.has(name) ? tellHeader(name, value) : null;
    if (safe !== null) headers[name] = safe;
    if (safe !== value && withheld.length < MAX_WITHHELD) withheld.push(cut(name, MAX_HOST));
  }
  const { scheme, method, protocol, port, ip, country, bot, ja4, now, cleared } = request;
  const told = { scheme, method: cut(method, MAX_HOST), host: cutHost(request.host), target };
  const facts = { protocol, port, headers, ip, country, bot, ja4, now, cleared };
  return { request: { ...told, ...facts }, withheld };
}

/** As it is when nothing had to go, so that the caller sees whether it had. */
function tellHeader(name: string, value: string | readonly string[]): string | readonly string[] {
  const tell = (one: string): string => cut(name === 'referer' ? redactTarget(one) : one, MAX_HEADER);
  return typeof value === 'string' ? tell(value) : value.slice(0, MAX_WITHHELD).map(tell);
}

function cutHost(host: string | readonly string[]): string | readonly string[] {
  return typeof host === 'string' ? cut(host, MAX_HOST) : host.slice(0, 2).map((one) => cut(one, MAX_HOST));
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most);
}

/** A decision without what is nobody's business; `replay` tells new ones the same way before it compares. */
export function loggedDecision(decision: Decision): LoggedDecision {
  const { action, status, origin, cache, location, path, query } = decision;
  const forwarded = path === null ? null : query === null ? path : `${path}?${query}`;
  return {
    action,
    status,
    rule: decision.rule === null ? null : refText(decision.rule),
    location: location === null ? null : cut(redactTarget(location), MAX_TARGET),
    origin: origin === null ? null : urlOf(origin),
    host_header: origin === null ? null : origin.hostHeader,
    path: forwarded === null ? null : cut(redactTarget(forwarded), MAX_TARGET),
    cache:
      cache === null
        ? null
        : { mode: cache.mode, edge_ttl_sec: cache.edgeTtl, browser_ttl_sec: cache.browserTtl },
    tags: decision.tags.slice(0, MAX_MATCHES),
  };
}

function urlOf({ scheme, address, port }: NonNullable<Decision['origin']>): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return port === null ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
