/**
 * The response filter of a request for Markdown. In: a response of the cache or of an origin. Out: a page as Markdown, after
 * the client's conditions (RFC 9110 §13); any other response, and a page that cannot be rendered, unchanged.
 */
import { headersOf304, isNotModified, type RequestHeaders } from '../../base/http/conditions.ts';
import {
  type HeaderList,
  pushMemory,
  type ResponseHead,
  type ResponseSink,
  type ResponseSource,
  withoutHeaders,
} from '../../base/http/response.ts';
import {
  type HtmlReason,
  isPage,
  judgePage,
  MAX_PAGE_OCTETS,
  type MarkdownOutcome,
  type PageVerdict,
  varyingByAccept,
} from './outcome.ts';
import type { MarkdownRenderer, RenderedPage } from './renderer.ts';

/** A request that may get Markdown, and the setting of its domain. */
export interface MarkdownExchange {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly request: {
    readonly scheme: string;
    readonly method: string;
    readonly host: string | readonly string[];
    /** Path and query. */
    readonly target: string;
    readonly headers?: RequestHeaders | undefined;
  };
  readonly domain: { readonly settings: { readonly markdownForAgents: boolean } };
}

/** What a filter needs. */
export interface PageFilterOptions {
  readonly renderer: MarkdownRenderer;
  readonly exchange: MarkdownExchange;
  /** Called with the outcome, for logs and metrics. */
  readonly note: (outcome: MarkdownOutcome) => void;
}

/** A filter of one response. */
export interface PageFilter {
  readonly sink: ResponseSink;
  /** Ends gathering and rendering, after the client has gone. */
  readonly stop: () => void;
}

/** A page that is being gathered. */
interface Page {
  readonly head: ResponseHead;
  readonly source: ResponseSource;
  readonly verdict: PageVerdict & { readonly ok: true };
}

interface FilterState extends PageFilterOptions {
  readonly next: ResponseSink;
  /** HEAD: no body goes to the client. */
  readonly isHead: boolean;
  /** The page, from its head until it is rendered or passed on. */
  page: Page | null;
  /** The response is complete for the client; whatever else arrives is dropped. */
  settled: boolean;
  /** The octets of the page so far; they are taken from the renderer's budget. */
  chunks: Uint8Array[];
  octets: number;
  /** Ends the gathering. */
  late: NodeJS.Timeout | undefined;
  /** Cancels the rendering. */
  cancel: () => void;
}

export function createPageFilter(options: PageFilterOptions, next: ResponseSink): PageFilter {
  const state: FilterState = {
    ...options,
    next,
    isHead: options.exchange.request.method === 'HEAD',
    page: null,
    settled: false,
    chunks: [],
    octets: 0,
    late: undefined,
    cancel: () => undefined,
  };
  const sink: ResponseSink = {
    informational: (status, headers) => next.informational(status, headers),
    head: (head, source) => handleHead(state, head, source),
    data: (chunk) => handleData(state, chunk),
    end(trailers) {
      if (state.settled) return;
      if (state.page === null) next.end(trailers);
      else render(state, state.page);
    },
    fail(fault) {
      if (state.settled) return;
      release(state);
      next.fail(fault);
    },
  };
  const stop = (): void => {
    state.settled = true;
    state.cancel();
    release(state);
  };
  return { sink, stop };
}

/** Starts to gather a page; passes any other response on. */
function handleHead(state: FilterState, head: ResponseHead, source: ResponseSource): void {
  const verdict = isPage(head) ? judgePage(head) : null;
  if (verdict?.ok !== true) {
    if (verdict !== null) state.note(verdict.reason);
    passHead(state, head, source);
    return;
  }
  const page: Page = { head, source, verdict };
  state.page = page;
  state.late = setTimeout(() => passGathered(state, page, 'late'), state.renderer.gatherMs);
}

function handleData(state: FilterState, chunk: Uint8Array): void {
  if (state.settled) return;
  const { page, renderer } = state;
  if (page !== null) {
    const tooLarge = state.octets + chunk.length > MAX_PAGE_OCTETS;
    if (!tooLarge && renderer.budget.take(chunk.length)) {
      state.chunks.push(chunk);
      state.octets += chunk.length;
      return;
    }
    passGathered(state, page, tooLarge ? 'size' : 'busy');
  }
  if (!state.settled) state.next.data(chunk);
}

/** Returns the octets of the page to the budget. */
function release(state: FilterState): void {
  clearTimeout(state.late);
  state.renderer.budget.give(state.octets);
  state.octets = 0;
  state.chunks = [];
  state.page = null;
}

/** Passes a head on. Its validators are compared with the client's conditions here, as the origin did not get those. */
function passHead(state: FilterState, head: ResponseHead, source: ResponseSource): void {
  const { next } = state;
  const known = head.status === 200 && isKnown(state.exchange, head.headers);
  if (!known && !state.isHead) {
    next.head(head, source);
    return;
  }
  state.settled = true;
  source.abort();
  next.head(known ? notModified(head) : head, NO_SOURCE);
  next.end([]);
}

/** Passes the page on as HTML: what has arrived, and the rest as it arrives. */
function passGathered(state: FilterState, { head, source }: Page, reason: HtmlReason): void {
  state.note(reason);
  const { chunks } = state;
  release(state);
  passHead(state, head, source);
  if (!state.settled) for (const chunk of chunks) state.next.data(chunk);
}

/** Renders a whole page and sends the result; the page itself if it cannot be rendered. */
function render(state: FilterState, { head, verdict: { coding, charset } }: Page): void {
  const { exchange, renderer, note, chunks } = state;
  clearTimeout(state.late);
  state.settled = true;
  const order = { chunks, coding, charset, address: addressOf(exchange) };
  state.cancel = renderer.render(order, (rendered) => {
    note(rendered.ok ? 'rendered' : rendered.reason);
    if (!rendered.ok) {
      const known = isKnown(exchange, head.headers);
      sendWhole(state, known ? notModified(head) : head, known ? NO_BODY : Buffer.concat(state.chunks));
      return;
    }
    const headers = renderedHeaders(head.headers, rendered);
    const known = hasTag(exchange, headers);
    const made = { ...head, headers };
    sendWhole(state, known ? notModified(made) : made, known ? NO_BODY : rendered.markdown);
  });
}

const NO_BODY = new Uint8Array(0);

/** Sends a whole response at the client's pace; until its end the octets of the page stay in the budget. */
function sendWhole(state: FilterState, { headers, status }: ResponseHead, body: Uint8Array): void {
  const { next } = state;
  const to = state.isHead ? 0 : body.length;
  pushMemory({ status, headers, from: 0, to }, body, {
    informational: (code, interim) => next.informational(code, interim),
    head: (made, source) => {
      next.head(made, {
        pause: () => source.pause(),
        resume: () => source.resume(),
        abort() {
          release(state);
          source.abort();
        },
      });
    },
    data: (chunk) => next.data(chunk),
    fail: (fault) => next.fail(fault),
    end: (trailers) => {
      release(state);
      next.end(trailers);
    },
  });
}

/** The source of a response that needs none. */
const NO_SOURCE: ResponseSource = {
  pause: () => undefined,
  resume: () => undefined,
  abort: () => undefined,
};

/** Whether the client's conditions match the page's validators: it has the page already. */
function isKnown(
  { request: { headers = {} }, startedAt }: MarkdownExchange,
  validators: HeaderList,
): boolean {
  if (headers['if-none-match'] === undefined && headers['if-modified-since'] === undefined) return false;
  return isNotModified(headers, validators, startedAt);
}

/** The same for Markdown, by its entity tag only: the page's date says nothing about its Markdown form. */
function hasTag(exchange: MarkdownExchange, made: HeaderList): boolean {
  return exchange.request.headers?.['if-none-match'] !== undefined && isKnown(exchange, made);
}

/** The 304 of a head (RFC 9110 §15.4.5). */
function notModified(head: ResponseHead): ResponseHead {
  return { ...head, status: 304, headers: headersOf304(head.headers) };
}

/** Header fields about the octets of the HTML page, which its Markdown does not have. */
const OF_THE_PAGE: ReadonlySet<string> = new Set([
  'accept-ranges',
  'content-digest',
  'content-encoding',
  'content-length',
  'content-md5',
  'content-range',
  'content-type',
  'digest',
  'etag',
  'last-modified',
  'repr-digest',
  'transfer-encoding',
  'x-markdown-tokens',
]);

/** A page that was rendered. */
type Rendered = RenderedPage & { readonly ok: true };

/** The header fields of the Markdown: the page's, without those about its octets, and `Vary: Accept`. */
function renderedHeaders(headers: HeaderList, { markdown, tag, tokens }: Rendered): HeaderList {
  return [
    ...varyingByAccept(withoutHeaders(headers, OF_THE_PAGE)),
    ...['Content-Type', 'text/markdown; charset=utf-8'],
    ...['Content-Length', String(markdown.length)],
    ...['ETag', tag],
    ...['X-Markdown-Tokens', String(tokens)],
  ];
}

/** The base of links: the visitor's URL, not the origin's. */
function addressOf({ request: { scheme, host, target } }: MarkdownExchange): string {
  return target.startsWith('/') ? `${scheme}://${String(host)}${target}` : target;
}
