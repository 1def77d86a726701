/**
 * Makes the response to a decision. In: a request that was decided. Out: the edge's own response, as octets and headers
 * for any platform, or `null` if the request is forwarded to the origin.
 */
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import type { ErrorPage } from '../../engine/evaluator/index.ts';
import type { Challenges } from './challenge/challenge.ts';
import { MAX_PROOF_OCTETS } from './challenge/limits.ts';
import { type Decided, requestHeader } from './decided.ts';
import { contentAnswer, customPage, pageAnswer, redirectAnswer } from './kinds.ts';
import type { UnservedHelp } from './unserved.ts';

/** What responses are made with. */
export interface Answering {
  readonly challenges: Challenges;
  /** Reads a body of at most so many octets, whole; `null`: it is longer, or the client aborted. */
  readonly readBody: (most: number) => Promise<Uint8Array | null>;
}

/** The edge's own response; `null`: the request is forwarded. */
export async function answerTo(decided: Decided, answering: Answering): Promise<EdgeAnswer | null> {
  const { decision, id } = decided;
  switch (decision.action) {
    case 'forward':
      return null;
    case 'redirect':
      return redirectAnswer(decision, id);
    case 'challenge':
      return answering.challenges.ask(decided);
    case 'respond':
      return decision.rule === null ? ownAnswer(decided, answering) : contentAnswer(decision, id);
    case 'block':
    case 'refuse':
      return refusal(decided);
    default:
      return decision.action satisfies never;
  }
}

/** One of the edge's own addresses. */
async function ownAnswer(decided: Decided, { challenges, readBody }: Answering): Promise<EdgeAnswer> {
  const body = await readBody(MAX_PROOF_OCTETS);
  return body === null ? statusPage(decided, 413) : challenges.answerOwn(decided, body);
}

/** A status of the edge's own, on the customer's page if a rule has one for it. */
function refusal(decided: Decided): EdgeAnswer {
  const { decision, id } = decided;
  const status = decision.status ?? 500;
  const wait = decision.retryAfter === null ? [] : ['Retry-After', String(decision.retryAfter)];
  const page = errorPage(decided, { status, madeBy: 'edge' });
  if (page?.kind === 'custom' && page.html !== null) return customPage({ status, id }, page.html, wait);
  return statusPage(decided, status, wait);
}

interface ErrorStatus {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
}

/** The page that a rule has for an error; stores which rules matched. */
function errorPage(decided: Decided, { status, madeBy }: ErrorStatus): ErrorPage | null {
  const { page, matches } = decided.domain.evaluator.errorPage(decided.request, status, madeBy);
  if (matches.length > 0) decided.pageMatches = matches;
  return page;
}

/**
 * The page for an error, if a rule has one other than the origin's own; `null`: the response is unchanged. `inPlaceOf` adds
 * the headers of the response that it replaces.
 */
export function pageInstead(decided: Decided, error: ErrorStatus): EdgeAnswer | null {
  const { status } = error;
  if (status < 400) return null;
  const page = errorPage(decided, error);
  if (page === null || page.kind === 'origin') return null;
  if (page.kind === 'custom' && page.html !== null) return customPage({ status, id: decided.id }, page.html);
  return statusPage(decided, status, error.madeBy === 'origin' ? BY_ACCEPT : []);
}

/** The lifetime that the origin gave its error stays, so that caches may store the page. */
const BY_ACCEPT = ['Vary', 'Accept'] as const;

/** The built-in page for a status, in a format that the client accepts. */
export function statusPage(
  decided: Pick<Decided, 'id' | 'request'>,
  status: number,
  more: readonly string[] = [],
): EdgeAnswer {
  return pageAnswer({ status, id: decided.id }, requestHeader(decided, 'accept'), more);
}

/** The built-in 421, with the help for its client. */
export function unservedPage(decided: Pick<Decided, 'id' | 'request'>, help: UnservedHelp): EdgeAnswer {
  return pageAnswer({ status: 421, id: decided.id, help }, requestHeader(decided, 'accept'));
}
