/**
 * Who made a logged answer, by what each format has of it: the proxy by a rule of its own, or an origin. In: fields of a
 * line as text. Out: an `AnswerSource`; `unknown` wherever a log can mean both.
 */
import type { AnswerSource } from './entry.ts';

/**
 * Whether a proxy answers with the status when its origin cannot be reached or does not answer: 502 and 504 (RFC 9110
 * §15.6), 520 to 527 and 530 of Cloudflare.
 */
export function isGatewayFailure(status: number): boolean {
  return status === 502 || status === 504 || (status >= 520 && status <= 527) || status === 530;
}

/** States of a cache in which an answer of the origin comes from it, as nginx and Cloudflare name them. */
const CACHED: ReadonlySet<string> = new Set(['hit', 'stale', 'updating', 'revalidated']);

/** What a log has of the upstream side. */
export interface UpstreamFields {
  /** The status of the answer. */
  readonly status: number;
  /** The upstream's status, or of several tries all of them; empty: no upstream was asked. `null`: the log has no such field. */
  readonly upstream: string | null;
  /** The state of the cache; empty: none. */
  readonly cache: string;
}

/** The source by the status of the upstream. */
export function upstreamSource({ status, upstream, cache }: UpstreamFields): AnswerSource {
  if (CACHED.has(cache.toLowerCase())) return 'origin';
  if (upstream === null) return 'unknown';
  // nginx has the status 502 as that of an upstream that it could not connect to.
  if (isGatewayFailure(status)) return 'failure';
  if (upstream === '') return 'proxy';
  // `502, 200` are two tries, `200 : 404` an internal redirect; another status than the last is one of nginx's own.
  return Number(upstream.slice(-3)) === status ? 'origin' : 'unknown';
}

/** Characters of HAProxy's termination state that are a fault of the server: refused, closed, timed out. */
const SERVER_SIDE = 'SsP';
/** Phases of a session before the head of the server's response: queue, connection, headers. */
const BEFORE_RESPONSE = 'QCH';

/**
 * The source by HAProxy's backend and server and its termination state: `PR` is a refusal, `LR` an answer of HAProxy
 * itself (HAProxy's configuration manual, "Session state at disconnection").
 */
export function haproxySource(server: string, state: string): AnswerSource {
  const [cause = '', phase = ''] = state;
  if ((cause === 'P' || cause === 'L') && (phase === 'R' || phase === 'T')) return 'proxy';
  if (SERVER_SIDE.includes(cause) && BEFORE_RESPONSE.includes(phase)) return 'failure';
  return server.endsWith('/<NOSRV>') ? 'unknown' : 'origin';
}

/** Response flags with which Envoy answers for an upstream that failed. */
const ENVOY_FAILURES: ReadonlySet<string> = new Set([
  'UH',
  'UF',
  'UO',
  'UC',
  'UT',
  'UR',
  'UPE',
  'URX',
  'LH',
  'LR',
  'NC',
  'SI',
  'DT',
]);

/** The source by Envoy's response flags and upstream host; `null`: the line has no such field. */
export function envoySource(flags: string, upstreamHost: string | null): AnswerSource {
  if (flags.split(',').some((flag) => ENVOY_FAILURES.has(flag))) return 'failure';
  if (upstreamHost === null) return 'unknown';
  return upstreamHost === '' ? 'proxy' : 'origin';
}

/** The source by the actions of a load balancer of AWS, such as `waf,forward`, and the status of its target. */
export function albSource(status: number, target: string, actions: string): AnswerSource {
  const isForwarded = actions.split(',').includes('forward');
  if (target === '' && isForwarded) return 'failure';
  return upstreamSource({
    status,
    upstream: target === '' && actions === '' ? null : target,
    cache: '',
  });
}

/** Results of CloudFront whose answer is that of an origin. */
const CLOUDFRONT_ORIGIN: ReadonlySet<string> = new Set(['Hit', 'RefreshHit', 'OriginShieldHit', 'Miss']);
/** Results of CloudFront's own rules. */
const CLOUDFRONT_RULES: ReadonlySet<string> = new Set([
  'Redirect',
  'ClientGeoBlocked',
  'InvalidRequestBlocked',
]);

/** The source by CloudFront's result type, the detailed one where the log has it. */
export function cloudfrontSource(result: string): AnswerSource {
  if (CLOUDFRONT_ORIGIN.has(result)) return 'origin';
  if (CLOUDFRONT_RULES.has(result) || result.endsWith('GeneratedResponse')) return 'proxy';
  // `OriginError` may be an answer of the origin.
  const isFailed = result.startsWith('Origin') && result !== 'OriginError';
  return isFailed || result === 'AbortedOrigin' ? 'failure' : 'unknown';
}
