/**
 * A request for Markdown on its way: who asks for one, and what the cache and the origin are asked instead: the whole
 * page, plain, as HTML if need be. The cache keeps what the origin said.
 */
import { type RequestHeaders, textOf } from '../http/conditions.ts';
import type { ResponseSink, ResponseSource } from '../http/response.ts';
import { prefersMarkdown, withHtml } from './accept.ts';
import { createPageFilter, type MarkdownExchange, type PageFilterOptions } from './response-filter.ts';

export interface MarkdownRequest {
  /** Headers that the origin gets otherwise; `null`: taken out. */
  readonly changes: Readonly<Record<string, string | null>>;
  /** The request's headers with these changes, for the cache. */
  readonly headers: RequestHeaders;
  /** The filter, between whoever answers and `next`. */
  sink(next: ResponseSink): ResponseSink;
  /** What the client stops when it goes away: who was asked, and the rendering. */
  source(asked: ResponseSource): ResponseSource;
}

/** Conditions that only the origin can judge, since they hold for the page and not for what is made of it. */
const FOR_ORIGIN = ['if-match', 'if-unmodified-since'] as const;

/** Ranges and conditions of the Markdown, of which its origin knows nothing. */
const ANSWERED_HERE = ['range', 'if-range', 'if-none-match', 'if-modified-since'] as const;

/** Whether a request is one for Markdown: of a domain that serves it, without a body, by a client that prefers it. */
export function wantsMarkdown({ domain, request }: MarkdownExchange, hasBody: boolean): boolean {
  if (!domain.settings.markdownForAgents || hasBody) return false;
  const { method, headers = {} } = request;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (FOR_ORIGIN.some((name) => headers[name] !== undefined)) return false;
  return prefersMarkdown(textOf(headers, 'accept') ?? '');
}

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
      const gathering = createPageFilter(options, next);
      stop = gathering.stop;
      return gathering.sink;
    },
    source: (asked) => ({
      pause: asked.pause,
      resume: asked.resume,
      abort: () => {
        stop();
        asked.abort();
      },
    }),
  };
}
