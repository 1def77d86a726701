/** Paths and their patterns, apart from the router: which methods a path takes, and what its segments say. */
import { MAX_ID } from '../base/limits.ts';
import { notFound } from './refusal.ts';
import type { ApiRoute, Method } from './route.ts';

/** Method and URL of a route in Fastify's syntax. */
export function urlOf({ method, path }: Pick<ApiRoute, 'method' | 'path'>): { method: Method; url: string } {
  return { method, url: path.replaceAll(/\{(\w+)\}/g, ':$1') };
}

/** The decoded segments of a URL's path; one whose escapes are broken stays as it was sent. */
export function segmentsOf(url: string): readonly string[] {
  const path = url.split('?', 1)[0]!;
  const segments = path.split('/').slice(1);
  return path.includes('%') ? segments.map(decodeSegment) : segments;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The methods that some route takes at these segments, in the table's order. */
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
 * The path of the table that a path without a route very likely means: one that differs only in its trailing slash, in
 * `_` for `-` or the other way round, or in case; `null` when there is none.
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

function withoutSlash(segments: readonly string[]): readonly string[] {
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

function nearlyFits(part: string, segment: string): boolean {
  return fitsPart(part, segment) || part.replaceAll('_', '-') === segment.toLowerCase().replaceAll('_', '-');
}

function fitsPart(part: string, segment: string): boolean {
  return part.startsWith('{') ? segment !== '' : part === segment;
}

/** A numeric id of a path segment; 404 for anything that can be no id. */
export function idOf(segment: string | undefined): number {
  const id = segment !== undefined && /^[1-9]\d{0,9}$/.test(segment) ? Number(segment) : 0;
  if (id < 1 || id > MAX_ID) throw notFound();
  return id;
}
