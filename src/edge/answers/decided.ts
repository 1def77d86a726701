/** One request and its decision: the input of every response that the edge makes. */
import type { Decision, EdgeRequest, Evaluator, Match } from '../../engine/evaluator/index.ts';

/** A request that was decided. */
export interface Decided {
  /** The decision id: shown in a header and on pages, and the key of the decision log. */
  readonly id: string;
  readonly request: EdgeRequest;
  /** The domain that owns the request's host. */
  readonly domain: { readonly name: string; readonly evaluator: Evaluator };
  readonly decision: Decision;
  /** The error_page rules that matched the response; set where its error page is chosen. */
  pageMatches?: readonly Match[];
}

/** A request header as one text; empty without the header. */
export function requestHeader({ request }: Pick<Decided, 'request'>, name: string): string {
  return String(request.headers?.[name] ?? '');
}

/** Path and query as the origin gets them; `null`: the request is not forwarded. */
export function forwardedTarget({ path, query }: Decision): string | null {
  if (path === null) return null;
  return query === null ? path : `${path}?${query}`;
}
