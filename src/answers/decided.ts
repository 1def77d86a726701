/** One request and what was decided about it: what every answer of the edge is made from. */
import type { Decision, EdgeRequest, Evaluator } from '../evaluator/index.ts';

export interface Decided {
  /** The decision id: shown in a header and on pages, and the key of the decision log. */
  readonly id: string;
  readonly request: EdgeRequest;
  /** Who owns the request's host. */
  readonly domain: { readonly name: string; readonly evaluator: Evaluator };
  readonly decision: Decision;
}

/** A request header as one text; empty: there is none. */
export function requestHeader({ request }: Pick<Decided, 'request'>, name: string): string {
  return String(request.headers?.[name] ?? '');
}

/** Path and query as whoever is behind the edge gets them; `null`: the request is not forwarded. */
export function forwardedTarget({ path, query }: Decision): string | null {
  if (path === null) return null;
  return query === null ? path : `${path}?${query}`;
}
