/**
 * A request for Markdown: which requests are one, and the request that the cache and the origin get instead: for the whole
 * page, without a content coding, with HTML accepted. The cache stores the origin's response, not the Markdown.
 */
import { splitList } from '../../base/http/cache-control.ts';
import { type RequestHeaders, textOf } from '../../base/http/conditions.ts';
import type { ResponseSink, ResponseSource } from '../../base/http/response.ts';
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

// The client's preference for Markdown in its Accept header (RFC 9110 §12.5.1).

/** Weights from 0 to 1. */
interface Weights {
  /** Of `text/markdown` by name; 0: not accepted. */
  readonly markdown: number;
  /** Of `text/html`, by the most specific range that includes it. */
  readonly html: number;
}

/** Whether Markdown is named and preferred to HTML, or equal to it. */
export function prefersMarkdown(accept: string): boolean {
  const { markdown, html } = weightsOf(accept);
  return markdown > 0 && markdown >= html;
}

/** The header for the origin: with HTML at the lowest weight if the client does not accept it. */
export function withHtml(accept: string): string {
  return weightsOf(accept).html > 0 ? accept : `${accept}, text/html;q=0.001`;
}

function weightsOf(accept: string): Weights {
  const found: Record<string, number> = Object.create(null);
  for (const element of splitList(accept.toLowerCase())) {
    const [range = '', ...parameters] = element.split(';').map((part) => part.trim());
    const weight = weightIn(parameters);
    if (weight !== null) found[range] = Math.max(found[range] ?? 0, weight);
  }
  const html = found['text/html'] ?? found['text/*'] ?? found['*/*'] ?? 0;
  return { markdown: found['text/markdown'] ?? 0, html };
}

/** The weight of a range: 1 without `q`; `null`: not a weight (§12.4.2), so that the range is ignored. */
function weightIn(parameters: readonly string[]): number | null {
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  if (given === undefined) return 1;
  const text = given.slice(2);
  const weight = Number(text);
  const [whole, ...rest] = text;
  const formed =
    (whole === '0' || whole === '1') && text.length <= 5 && (rest.length === 0 || rest[0] === '.');
  return formed && weight >= 0 && weight <= 1 ? weight : null;
}
