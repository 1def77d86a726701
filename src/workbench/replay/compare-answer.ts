/**
 * Compares what a log says was answered with what the rules decide. In: a logged answer, a decision. Out: a reason, which
 * belongs to one of four verdicts.
 *
 * What the rules forward gets the status of an origin, which no replay knows: the status of the log stands for it where it is
 * that of an origin. Where the proxy of the log may have answered by a rule of its own, and the log does not say who did,
 * the request is `open`: a person has to look. What the rules answer themselves has a status to compare.
 */
import type { Decision, Match, RuleRef } from '../../engine/evaluator/decision.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { isGatewayFailure } from '../access-logs/answer-source.ts';
import type { LoggedAnswer } from '../access-logs/entry.ts';
import { knownOf } from '../proofs/rule-types.ts';

/** What a comparison comes to, the most important first. */
export const ANSWER_VERDICTS = ['different', 'open', 'incomparable', 'same'] as const;
/** One of ANSWER_VERDICTS. */
export type AnswerVerdict = (typeof ANSWER_VERDICTS)[number];

/** What a reason means. `there` is what the log says, `here` what the rules decide. */
interface ReasonText {
  readonly verdict: AnswerVerdict;
  readonly text: string;
}

/** The reasons, in the order in which they are printed. */
export const ANSWER_REASONS = {
  refused_there: { verdict: 'different', text: 'refused there, forwarded here' },
  redirected_there: { verdict: 'different', text: 'redirected there, forwarded here' },
  refused_here: { verdict: 'different', text: 'refused here, not there' },
  limited_here: { verdict: 'different', text: 'limited here, not there' },
  challenged_here: { verdict: 'different', text: 'challenged here, not there' },
  redirected_here: { verdict: 'different', text: 'redirected here, not there' },
  answered_here: { verdict: 'different', text: 'answered here by a rule, not there' },
  other_redirect: { verdict: 'different', text: 'redirected here and there, with different statuses' },
  other_refusal: { verdict: 'different', text: 'refused here and there, with different statuses' },
  other_location: { verdict: 'different', text: 'redirected here and there, to different locations' },
  refused_by_either: {
    verdict: 'open',
    text: 'forwarded here; there the proxy or its origin has refused it',
  },
  redirected_by_either: {
    verdict: 'open',
    text: 'forwarded here; there the proxy or its origin has redirected it',
  },
  answered_by_either: { verdict: 'open', text: 'answered here; there by the proxy or its origin' },
  answered_there: {
    verdict: 'open',
    text: 'forwarded here; there the proxy has answered it without an origin',
  },
  limited_there: { verdict: 'incomparable', text: 'limited there; a limit here has counted it' },
  uninspected: {
    verdict: 'incomparable',
    text: 'refused there; here a waf rule inspects it without its body',
  },
  failed_there: { verdict: 'incomparable', text: 'forwarded here; there the origin or the proxy has failed' },
  broken: { verdict: 'incomparable', text: 'refused there as broken, or ended by the client' },
  no_status: { verdict: 'incomparable', text: 'the line has no status' },
  equal: { verdict: 'same', text: 'the same status' },
  forwarded: { verdict: 'same', text: 'forwarded here; the status there is that of an origin' },
  any_refusal: { verdict: 'same', text: 'refused here and there; the statuses are not compared' },
  closed_there: { verdict: 'same', text: 'refused here; closed there without an answer' },
} as const satisfies Readonly<Record<string, ReasonText>>;
/** A key of ANSWER_REASONS. */
export type AnswerReason = keyof typeof ANSWER_REASONS;

/** The part of a decision that is compared. */
export type DecisionAnswer = Pick<Decision, 'action' | 'status' | 'rule' | 'location' | 'matches'>;

/** A request with both of its answers. */
export interface ComparedAnswer {
  readonly logged: LoggedAnswer;
  readonly decision: DecisionAnswer;
  readonly request: EdgeRequest;
  /** Whether a refusal there and one here are the same, whatever their statuses. */
  readonly anyRefusal: boolean;
  /** A URL as the log may have it, without secrets. */
  readonly redact: (url: string) => string;
}

/** Statuses of redirects (RFC 9110 §15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Status with which nginx logs that it closed a connection without an answer (`return 444`). */
const CLOSED = 444;
/**
 * Statuses that depend on how a request arrived, not on rules: malformed, slow, too long, without a certificate, or ended by
 * the client, which is 499 in nginx and 460 in the load balancers of AWS.
 */
const BROKEN: ReadonlySet<number> = new Set([400, 408, 413, 414, 431, 460, 494, 495, 496, 497, 499]);
/** Refusals that are also the answer of a file server: no such file, no such method, no such range. */
const OF_FILES: ReadonlySet<number> = new Set([404, 405, 412, 416]);
/** Statuses of limits; 503 is the one of nginx (`limit_req_status`). */
const LIMITS: ReadonlySet<number> = new Set([429, 503]);
/** Methods of requests without a body. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Compares both answers of a request. */
export function compareAnswer(compared: ComparedAnswer): AnswerReason {
  const { logged, decision } = compared;
  // An agent does not see the status of what its proxy forwards.
  if (logged.status === 0 && logged.source !== 'origin') return 'no_status';
  return decision.action === 'forward' ? compareForwarded(compared) : compareAnswered(compared);
}

/** The rules forward the request. */
function compareForwarded({ logged, decision, request }: ComparedAnswer): AnswerReason {
  const { status, source } = logged;
  if (source === 'origin') return 'forwarded';
  if (BROKEN.has(status)) return 'broken';
  if (source === 'failure' || isGatewayFailure(status)) return 'failed_there';
  if (status === CLOSED) return 'refused_there';
  const isLimited = LIMITS.has(status) && decision.matches.some(hasCounted);
  if (source === 'proxy') {
    if (REDIRECTS.has(status)) return 'redirected_there';
    if (isLimited) return 'limited_there';
    if (status < 400 || OF_FILES.has(status)) return 'answered_there';
    if (status >= 500 && status !== 503) return 'failed_there';
    const isBodyMissing = !BODILESS.has(request.method) && decision.matches.some(hasInspected);
    return isBodyMissing ? 'uninspected' : 'refused_there';
  }
  if (REDIRECTS.has(status)) return 'redirected_by_either';
  if (isLimited) return 'limited_there';
  return isRefusal(status) ? 'refused_by_either' : 'forwarded';
}

/** Whether a status may be that of a rule which refuses; other errors are of what serves the content. */
function isRefusal(status: number): boolean {
  return (status >= 400 && status < 500 && status !== 412 && status !== 416) || status === 503;
}

/** Whether a limit that is enforced has counted the request and let it pass. */
function hasCounted({ type, mode, effect }: Match): boolean {
  return needOf(type) === 'limit' && mode === 'enforce' && effect === 'counted';
}

/** Whether a waf rule that is enforced has let the request pass. */
function hasInspected({ type, mode, effect }: Match): boolean {
  return needOf(type) === 'score' && mode === 'enforce' && (effect === 'passed' || effect === 'unavailable');
}

/** What the outcome of a rule depends on besides the request. */
function needOf(type: RuleRef['type']): 'limit' | 'score' | null {
  return type === 'record' ? null : knownOf(type).needs;
}

/** The rules answer the request. */
function compareAnswered({ logged, decision, request, anyRefusal, redact }: ComparedAnswer): AnswerReason {
  const { action, rule, matches } = decision;
  const status = decision.status!;
  if (status === logged.status) {
    if (status < 300 && logged.source !== 'proxy')
      return logged.source === 'origin' ? 'answered_here' : 'answered_by_either';
    const location = decision.location ?? '';
    const isKnown = location !== '' && logged.location !== '';
    return !isKnown || isSameLocation(redact(logged.location), redact(location), request)
      ? 'equal'
      : 'other_location';
  }
  const isForwardedThere = logged.source === 'origin' || logged.source === 'failure';
  if (logged.status === CLOSED && status >= 400) return 'closed_there';
  if (BROKEN.has(logged.status) && !isForwardedThere) return 'broken';
  const isLimit = rule !== null && needOf(rule.type) === 'limit';
  if (LIMITS.has(logged.status) && !isForwardedThere && !isLimit && matches.some(hasCounted))
    return 'limited_there';
  // An origin that has failed was asked: the proxy of the log let the request pass.
  const passes = isForwardedThere || logged.status < 400 || isGatewayFailure(logged.status);
  if (action === 'redirect') return REDIRECTS.has(logged.status) ? 'other_redirect' : 'redirected_here';
  if (status < 400) return 'answered_here';
  if (!passes) return anyRefusal ? 'any_refusal' : 'other_refusal';
  if (action === 'challenge') return 'challenged_here';
  return isLimit ? 'limited_here' : 'refused_here';
}

/**
 * Whether two Locations lead to the same place. A path alone stays at the visitor's own host, and then scheme and port do
 * not count: a server behind another one logs its own.
 */
export function isSameLocation(logged: string, here: string, request: EdgeRequest): boolean {
  if (logged === here) return true;
  const base = urlOf(request);
  if (!URL.canParse(logged, base) || !URL.canParse(here, base)) return false;
  const [left, right] = [new URL(logged, base), new URL(here, base)];
  if (restOf(left) !== restOf(right)) return false;
  if (left.origin === right.origin) return true;
  return left.hostname === right.hostname && (isPath(logged) || isPath(here));
}

/** The URL of a request; a target with two slashes at its start names no host. */
function urlOf({ scheme, host, target }: EdgeRequest): string {
  const own = `${scheme}://${String(host)}`;
  if (target.startsWith('/')) return `${own}${target}`;
  return URL.canParse(target) ? target : own;
}

/** A URL without scheme and authority; an empty query counts as none. */
function restOf({ pathname, search, hash }: URL): string {
  return `${pathname}${search}${hash}`;
}

function isPath(location: string): boolean {
  return location.startsWith('/') && !location.startsWith('//');
}
