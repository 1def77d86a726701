/**
 * A request for Markdown: which requests are one, and the request that the cache and the origin get instead: for the whole
 * page, without a content coding, with HTML accepted. The cache stores the origin's response, not the Markdown.
 */
import { type RequestHeaders, textOf } from '../../base/http/conditions.ts';
import type { ResponseSink, ResponseSource } from '../../base/http/response.ts';
import { prefersMarkdown, withHtml } from './accept.ts';
import { createPageFilter, type MarkdownExchange, type PageFilterOptions } from './response-filter.ts';

/** The changed request and the filter of its response. */
export interface MarkdownRequest {
  /** Changed header fields for the origin; `null`: removed. */
  readonly changes: Readonly<Record<string, string | null>>;
  /** The request's headers with these changes, for the cache. */
  readonly headers: RequestHeaders;
  /** The response filter in front of `next`. */
  sink(next: ResponseSink): ResponseSink;
  /** A source that stops the rendering too when the client goes away. */
  source(upstream: ResponseSource): ResponseSource;
}

/** Conditions about the page itself, which only the origin can evaluate. */
const FOR_ORIGIN = ['if-match', 'if-unmodified-since'] as const;

/** Ranges and conditions about the Markdown, which the origin does not have. */
const ANSWERED_HERE = ['range', 'if-range', 'if-none-match', 'if-modified-since'] as const;

/** Whether a request is for Markdown: GET or HEAD without a body, a domain that serves it, a client that prefers it. */
export function wantsMarkdown({ domain, request }: MarkdownExchange, hasBody: boolean): boolean {
  if (!domain.settings.markdownForAgents || hasBody) return false;
  const { method, headers = {} } = request;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (FOR_ORIGIN.some((name) => headers[name] !== undefined)) return false;
  return prefersMarkdown(textOf(headers, 'accept') ?? '');
}

/** Changes a request that `wantsMarkdown`. */
export function requestMarkdown(options: PageFilterOptions): MarkdownRequest {
  const headers = options.exchange.request.headers ?? {};
  const accept = withHtml(textOf(headers, 'accept') ?? '');
  const changed = { accept, 'accept-encoding': 'identity' };
  let stop: () => void = () => undefined;
  return {
    changes: { ...changed, ...Object.fromEntries(ANSWERED_HERE.map((name) => [name, null])) },
    headers: {
      ...headers,
      ...changed,
      ...Object.fromEntries(ANSWERED_HERE.map((name) => [name, undefined])),
    },
    sink(next) {
      const filter = createPageFilter(options, next);
      stop = filter.stop;
      return filter.sink;
    },
    source: (upstream) => ({
      pause: upstream.pause,
      resume: upstream.resume,
      abort: () => {
        stop();
        upstream.abort();
      },
    }),
  };
}
