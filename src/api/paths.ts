/** Paths and their patterns, apart from the router: which methods a path takes, and what its segments say. */
import { MAX_ID } from '../base/limits.ts';
import { notFound } from './refusal.ts';
import type { Method, Route } from './route.ts';

/** The decoded segments of a URL's path; `null` when an escape is broken. */
export function segmentsOf(url: string): readonly string[] | null {
  const path = url.split('?', 1)[0]!;
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** The methods that some route takes at these segments, in the table's order. */
export function methodsAt(routes: readonly Route[], segments: readonly string[]): readonly Method[] {
  const found = new Set<Method>();
  for (const { method, path } of routes) {
    const parts = path.split('/').slice(1);
    const fits = parts.length === segments.length && parts.every((part, at) => fitsPart(part, segments[at]!));
    if (fits) found.add(method);
  }
  return [...found];
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
