/**
 * Makes the response to a decision. In: a request that was decided. Out: the edge's own response, as octets and headers
 * for any platform, or `null` if the request is forwarded to the origin.
 */
import { type EdgeAnswer, type HeaderList, TAG_HEADERS } from '../../base/http/header-fields.ts';
import { withoutHeaders } from '../../base/http/response.ts';
import { SWITCH_HEADERS, SWITCH_LIST } from '../../base/vocabulary/switches.ts';
import type { EdgeSettings, ErrorPage } from '../../engine/evaluator/index.ts';
import type { Challenges } from './challenge/challenge.ts';
import { type Decided, requestHeader } from './decided.ts';
import { contentAnswer, customPage, ID_HEADER, pageAnswer, redirectAnswer } from './pages.ts';

/** Maximum size, in octets, of a proof posted to the challenge endpoint. */
const MAX_PROOF_OCTETS = 8 * 1024;

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
      return withLimits(await answering.challenges.ask(decided), decided);
    case 'respond':
      return decision.rule === null ? edgeAnswer(decided, answering) : ruleAnswer(decided);
    case 'block':
    case 'refuse':
      return refusal(decided);
    default:
      return decision.action satisfies never;
  }
}

/** One of the edge's own addresses. */
async function edgeAnswer(decided: Decided, { challenges, readBody }: Answering): Promise<EdgeAnswer> {
  const body = await readBody(MAX_PROOF_OCTETS);
  return body === null ? statusPage(decided, 413) : challenges.answerOwn(decided, body);
}

/** The answer of a rule: content, or what a gateway says; over a usage plan also when to come again. */
function ruleAnswer(decided: Decided): EdgeAnswer {
  const { decision, id } = decided;
  const answer = contentAnswer(decision, id);
  if (decision.retryAfter === null) return answer;
  const wait = ['Retry-After', String(decision.retryAfter)];
  return withLimits({ ...answer, headers: [...answer.headers, ...wait] }, decided);
}

/** A status of the edge's own, on the customer's page if a rule has one for it. */
function refusal(decided: Decided): EdgeAnswer {
  const { decision, id } = decided;
  const status = decision.status ?? 500;
  const wait = decision.retryAfter === null ? [] : ['Retry-After', String(decision.retryAfter)];
  addLimits(wait, decided);
  const page = errorPage(decided, { status, madeBy: 'edge' });
  if (page?.kind === 'custom' && page.html !== null) return customPage({ status, id }, page.html, wait);
  return statusPage(decided, status, wait);
}

/** The answer with the fields of the rate limit that it is of, if any. */
function withLimits(answer: EdgeAnswer, decided: Limited): EdgeAnswer {
  const fields: string[] = [];
  addLimits(fields, decided);
  return fields.length === 0 ? answer : { ...answer, headers: [...answer.headers, ...fields] };
}

/** A request whose rate limits a response states. */
type Limited = Pick<Decided, 'decision'> & { readonly domain: Pick<Decided['domain'], 'evaluator'> };

/** Adds the fields by which a response states rate limits (semantics §14). */
function addLimits(headers: string[], { decision, domain }: Limited): void {
  const fields = domain.evaluator.rateLimitFields(decision);
  if (fields !== null) headers.push('RateLimit-Policy', fields.policy, 'RateLimit', fields.limit);
}

/** Whether a field is a list to which the origin and the edge add their own members. */
export function isJoined(name: string): boolean {
  return name === 'RateLimit-Policy' || name === 'RateLimit';
}

/** Counts the request under rate limits that count the status of its response. */
export function countStatus({ decision, domain }: Limited, status: number): void {
  if (status >= 400) domain.evaluator.countResponse(decision, status);
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

// The headers that a domain's settings add to its responses and remove from those of origins, and those that an error page
// takes over from the response that it replaces.

/** Headers by which an origin names its software. */
const SOFTWARE_HEADERS: ReadonlySet<string> = new Set([
  'server',
  'x-powered-by',
  'x-aspnet-version',
  'x-aspnetmvc-version',
  'x-generator',
  'x-runtime',
  'x-version',
  'x-drupal-cache',
  'x-drupal-dynamic-cache',
  'x-php-version',
  'liferay-portal',
]);

/** Headers for the edge alone. */
const EDGE_HEADERS: ReadonlySet<string> = new Set(TAG_HEADERS);

/** The headers that settings add, which replace those of an origin. */
const ADDED = SWITCH_LIST.flatMap(({ name, property }) => {
  const header = SWITCH_HEADERS[name];
  return header === undefined ? [] : [{ property, lower: header.name.toLowerCase(), ...header }];
});

/** Whether the settings add or remove headers of an origin's responses. */
export function changesResponses(settings: EdgeSettings): boolean {
  return settings.stripHeaders || ADDED.some(({ property }) => settings[property]);
}

/** Whether the origin's header of this lower-case name is removed. */
export function isDropped(name: string, settings: EdgeSettings): boolean {
  if (EDGE_HEADERS.has(name)) return true;
  if (settings.stripHeaders && SOFTWARE_HEADERS.has(name)) return true;
  return ADDED.some(({ property, lower }) => settings[property] && name === lower);
}

/** A forwarded request, and the settings of its domain. */
type Forwarded = Limited & Pick<Decided, 'id'> & { readonly domain: { readonly settings: EdgeSettings } };

/** The headers that the edge adds to the response to a forwarded request, the decision id among them. */
export function addedHeaders(forwarded: Forwarded): HeaderList {
  const added: string[] = [];
  addHeaders(added, forwarded);
  return added;
}

/** Adds them to the headers of a response. PERF: without a list of their own. */
export function addHeaders(headers: string[], forwarded: Forwarded): void {
  addSecurity(headers, forwarded.domain.settings);
  addLimits(headers, forwarded);
  headers.push(ID_HEADER, forwarded.id);
}

function addSecurity(headers: string[], settings: EdgeSettings): void {
  for (const { property, name, value } of ADDED) if (settings[property]) headers.push(name, value);
}

/** An answer that the edge makes itself, with the headers that the domain's settings add to all its responses. */
export function ownAnswer(answer: EdgeAnswer, settings: EdgeSettings): EdgeAnswer {
  if (!ADDED.some(({ property }) => settings[property])) return answer;
  const headers = [...answer.headers];
  addSecurity(headers, settings);
  return { ...answer, headers };
}

/** Headers that describe a body, and so do not stay when an error page replaces it (semantics §5 error_page). */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'content-language', 'content-range'],
  ...['content-disposition', 'etag', 'last-modified', 'accept-ranges'],
  ...['digest', 'content-digest', 'repr-digest', 'content-md5'],
]);

/** An error page with all headers of the response that it replaces but those that describe the body. */
export function inPlaceOf(replaced: HeaderList, page: EdgeAnswer): EdgeAnswer {
  const stays = withoutHeaders(replaced, BODY_HEADERS);
  const given = new Set<string>();
  for (let at = 0; at < stays.length; at += 2) given.add(stays[at]!.toLowerCase());
  // A second Content-Security-Policy only restricts further, and a second Vary adds names.
  given.delete('content-security-policy');
  given.delete('vary');
  return { ...page, headers: [...withoutHeaders(page.headers, given), ...stays] };
}
