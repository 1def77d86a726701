/**
 * The filter behind a request for Markdown. In: an answer, of the cache or of an origin. Out: where it is a page, that page
 * rendered, with the client's own conditions applied to it; whatever cannot be rendered goes on as it came.
 */

import type { RequestHeaders } from '../http/conditions.ts';
import { headersOf304, isNotModified } from '../http/conditions.ts';
import { pushMemory } from '../http/push-memory.ts';
import {
  type HeaderList,
  type ResponseHead,
  type ResponseSink,
  type ResponseSource,
  withoutHeaders,
} from '../http/response.ts';
import { isPage, judgePage, type PageVerdict } from './eligible.ts';
import { MAX_PAGE_OCTETS } from './limits.ts';
import type { HtmlReason, MarkdownOutcome } from './outcome.ts';
import type { MarkdownRenderer, RenderedPage } from './renderer.ts';
import { varyingByAccept } from './vary.ts';

/** A request that may be answered with Markdown. */
export interface MarkdownExchange {
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

export interface PageFilterOptions {
  readonly renderer: MarkdownRenderer;
  readonly exchange: MarkdownExchange;
  readonly note: (outcome: MarkdownOutcome) => void;
}

export interface PageFilter {
  readonly sink: ResponseSink;
  /** The client is gone. */
  readonly stop: () => void;
}

interface Page {
  readonly head: ResponseHead;
  readonly source: ResponseSource;
  readonly judged: PageVerdict & { readonly ok: true };
}

export function createPageFilter(
  { renderer, exchange, note }: PageFilterOptions,
  next: ResponseSink,
): PageFilter {
  const isHead = exchange.request.method === 'HEAD';
  let page: Page | null = null;
  /** Everything of the answer was taken care of; what still comes of it is dropped. */
  let settled = false;
  let chunks: Uint8Array[] = [];
  let octets = 0;
  let late: NodeJS.Timeout | undefined;
  let cancel: () => void = () => undefined;

  /** The page is no longer held here. */
  function release(): void {
    clearTimeout(late);
    renderer.budget.give(octets);
    octets = 0;
    chunks = [];
    page = null;
  }

  /** Goes on with an answer as it is; what it says is compared with what the client holds, since nobody else does. */
  function pass(head: ResponseHead, source: ResponseSource): void {
    const known = head.status === 200 && isKnown(exchange, head.headers);
    if (!known && !isHead) {
      next.head(head, source);
      return;
    }
    settled = true;
    source.abort();
    next.head(known ? notModified(head) : head, NO_SOURCE);
    next.end([]);
  }

  /** The page goes out as far as it is here, and the rest as it comes. */
  function passGathered({ head, source }: Page, reason: HtmlReason): void {
    note(reason);
    const held = chunks;
    release();
    pass(head, source);
    if (!settled) for (const chunk of held) next.data(chunk);
  }

  function render({ head, judged: { coding, charset } }: Page): void {
    clearTimeout(late);
    settled = true;
    const order = { chunks, coding, charset, address: addressOf(exchange) };
    cancel = renderer.render(order, (rendered) => {
      note(rendered.ok ? 'rendered' : rendered.reason);
      if (!rendered.ok) return answer(head, isKnown(exchange, head.headers), Buffer.concat(chunks));
      const headers = renderedHeaders(head.headers, rendered);
      answer({ ...head, headers }, holdsTag(exchange, headers), rendered.markdown);
    });
  }

  /** A whole answer, held back while the client does not read; until then the page counts as held. */
  function answer(head: ResponseHead, known: boolean, whole: Uint8Array): void {
    const { headers, status } = known ? notModified(head) : head;
    const to = isHead || known ? 0 : whole.length;
    pushMemory({ status, headers, from: 0, to }, whole, {
      ...next,
      head: (made, { pause, resume, abort }) => {
        const leave = (): void => {
          release();
          abort();
        };
        next.head(made, { pause, resume, abort: leave });
      },
      end: (trailers) => {
        release();
        next.end(trailers);
      },
    });
  }

  const sink: ResponseSink = {
    informational: next.informational,
    head(head, source) {
      const judged = isPage(head) ? judgePage(head) : null;
      if (judged?.ok !== true) {
        if (judged !== null) note(judged.reason);
        return pass(head, source);
      }
      const gathered: Page = { head, source, judged };
      page = gathered;
      late = setTimeout(() => passGathered(gathered, 'late'), renderer.gatherMs);
    },
    data(chunk) {
      if (settled) return;
      if (page !== null) {
        const tooLarge = octets + chunk.length > MAX_PAGE_OCTETS;
        if (!tooLarge && renderer.budget.take(chunk.length)) {
          chunks.push(chunk);
          octets += chunk.length;
          return;
        }
        passGathered(page, tooLarge ? 'size' : 'busy');
      }
      if (!settled) next.data(chunk);
    },
    end(trailers) {
      if (settled) return;
      if (page === null) next.end(trailers);
      else render(page);
    },
    fail(fault) {
      if (settled) return;
      release();
      next.fail(fault);
    },
  };
  const stop = (): void => {
    settled = true;
    cancel();
    release();
  };
  return { sink, stop };
}

const NO_SOURCE: ResponseSource = {
  pause: () => undefined,
  resume: () => undefined,
  abort: () => undefined,
};

/** Whether the client holds an answer of the origin's already; its conditions did not go there. */
function isKnown({ request: { headers = {} }, startedAt }: MarkdownExchange, held: HeaderList): boolean {
  if (headers['if-none-match'] === undefined && headers['if-modified-since'] === undefined) return false;
  return isNotModified(headers, held, startedAt);
}

/** The same for what is made here, which has a tag and no date: the page's own says nothing about its form. */
function holdsTag(exchange: MarkdownExchange, made: HeaderList): boolean {
  return exchange.request.headers?.['if-none-match'] !== undefined && isKnown(exchange, made);
}

function notModified(head: ResponseHead): ResponseHead {
  return { ...head, status: 304, headers: headersOf304(head.headers) };
}

/** What tells of the octets of the page, which are not those that go out. */
const OF_THE_PAGE: ReadonlySet<string> = new Set([
  'accept-ranges',
  'content-digest',
  'content-encoding',
  'content-length',
  'content-md5',
  'content-type',
  'digest',
  'etag',
  'last-modified',
  'repr-digest',
  'transfer-encoding',
  'x-markdown-tokens',
]);

type Rendered = RenderedPage & { readonly ok: true };

function renderedHeaders(headers: HeaderList, { markdown, tag, tokens }: Rendered): HeaderList {
  return [
    ...varyingByAccept(withoutHeaders(headers, OF_THE_PAGE)),
    ...['Content-Type', 'text/markdown; charset=utf-8'],
    ...['Content-Length', String(markdown.length)],
    ...['ETag', tag],
    ...['X-Markdown-Tokens', String(tokens)],
  ];
}

/** The address that links are read against: the visitor's, not the origin's. */
function addressOf({ request: { scheme, host, target } }: MarkdownExchange): string {
  return target.startsWith('/') ? `${scheme}://${String(host)}${target}` : target;
}
