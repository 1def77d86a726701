/** Matches paths with the patterns of the route table, independent of Fastify's router, and reads ids in segments. */
import { MAX_ID } from '../../../base/vocabulary/limits.ts';
import { notFound } from './refusal.ts';
import type { ApiRoute, Method } from './route.ts';

/** Method and URL of a route in Fastify's syntax. */
export function urlOf({ method, path }: Pick<ApiRoute, 'method' | 'path'>): { method: Method; url: string } {
  return { method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') };
}

/** The percent-decoded segments of a URL's path; a segment with invalid escapes is unchanged. */
export function segmentsOf(url: string): readonly string[] {
  const path = url.split('?', 1)[0]!;
  const segments = path.split('/').slice(1);
  return path.includes('%') ? segments.map(decodeSegment) : segments;
}

/** One decoded segment; unchanged where its escapes are invalid. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The methods that routes accept at these segments, in the order of the table. */
export function methodsAt(
  routes: readonly Pick<ApiRoute, 'method' | 'path'>[],
  segments: readonly string[],
): readonly Method[] {
  const found = new Set<Method>();
  for (const { method, path } of routes) {
    const parts = path.split('/').slice(1);
    const fits = parts.length === segments.length && parts.every((part, at) => fitsPart(part, segments[at]!));
    if (fits) found.add(method);
  }
  return [...found];
}

/**
 * The path of the table that differs from an unknown path only in its trailing slash, in `_` and `-`, or in case; `null`:
 * the table has none. The 404 suggests the path.
 */
export function pathMeant(
  routes: readonly Pick<ApiRoute, 'path'>[],
  segments: readonly string[],
): string | null {
  const given = withoutSlash(segments);
  for (const { path } of routes) {
    const parts = path.split('/').slice(1);
    const named = withoutSlash(parts);
    const fits = named.length === given.length && named.every((part, at) => nearlyFits(part, given[at]!));
    if (!fits) continue;
    return parts
      .map((part, at) => `/${part.startsWith('{') ? encodeURIComponent(given[at]!) : part}`)
      .join('');
  }
  return null;
}

/** The segments without the empty one after a trailing slash. */
function withoutSlash(segments: readonly string[]): readonly string[] {
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

/** As `fitsPart`, without regard to case and to the difference of `_` and `-`. */
function nearlyFits(part: string, segment: string): boolean {
  return fitsPart(part, segment) || part.replaceAll('_', '-') === segment.toLowerCase().replaceAll('_', '-');
}

/** Whether a segment matches a part of a pattern: any non-empty one for `{name}`, else the same text. */
function fitsPart(part: string, segment: string): boolean {
  return part.startsWith('{') ? segment !== '' : part === segment;
}

/** The numeric id of a path segment. @throws Refusal 404 for a text that is not an id */
export function idOf(segment: string | undefined): number {
  const id = segment !== undefined && /^[1-9]\d{0,9}$/.test(segment) ? Number(segment) : 0;
  if (id < 1 || id > MAX_ID) throw notFound();
  return id;
}
