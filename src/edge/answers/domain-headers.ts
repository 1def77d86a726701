/**
 * The headers that a domain's settings add to its responses and remove from those of origins, and those that an error page
 * takes over from the response that it replaces.
 */
import { type EdgeAnswer, type HeaderList, TAG_HEADERS } from '../../base/http/header-fields.ts';
import { withoutHeaders } from '../../base/http/response.ts';
import type { EdgeSettings } from '../../engine/evaluator/index.ts';
import { ID_HEADER } from './kinds.ts';

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

/** Whether the origin's header of this lower-case name is removed. */
export function isDropped(name: string, settings: EdgeSettings): boolean {
  if (EDGE_HEADERS.has(name)) return true;
  if (settings.stripHeaders && SOFTWARE_HEADERS.has(name)) return true;
  if (settings.noSniff && name === 'x-content-type-options') return true;
  return settings.referrerPolicy && name === 'referrer-policy';
}

/** The headers that the edge adds, the decision id among them. */
export function addedHeaders(settings: EdgeSettings, id: string): HeaderList {
  const added: string[] = [];
  addHeaders(added, settings, id);
  return added;
}

/** Adds them to the headers of a response. PERF: without a list of their own. */
export function addHeaders(headers: string[], settings: EdgeSettings, id: string): void {
  addSecurity(headers, settings);
  headers.push(ID_HEADER, id);
}

function addSecurity(headers: string[], { noSniff, referrerPolicy }: EdgeSettings): void {
  if (noSniff) headers.push('X-Content-Type-Options', 'nosniff');
  if (referrerPolicy) headers.push('Referrer-Policy', 'strict-origin-when-cross-origin');
}

/** An answer that the edge makes itself, with the headers that the domain's settings add to all its responses. */
export function ownAnswer(answer: EdgeAnswer, settings: EdgeSettings): EdgeAnswer {
  if (!settings.noSniff && !settings.referrerPolicy) return answer;
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
