/** What the walk of a request (`handle.ts`) is given: one interface a room, so that each can be tested by itself. */
import type { Duplex } from 'node:stream';
import type { Challenges } from '../answers/challenge/challenge.ts';
import type { CacheDirective, Origin, OriginStates, RuleRef } from '../evaluator/index.ts';
import type { OpenSpool } from './buffers/answer-buffer.ts';
import type { ClientBody } from './buffers/client-body.ts';
import type { RateBounds } from './buffers/limits.ts';
import type { BufferSpace } from './buffers/space.ts';
import type { Budget } from './cache/fill.ts';
import type { ClientOutcome } from './client.ts';
import type { Exchange, ServedDomain } from './exchange.ts';
import type { Coding } from './markdown/eligible.ts';
import type { KeptAsHtml, MarkdownOutcome } from './markdown/outcome.ts';
import type { HeaderList, ResponseSink, ResponseSource } from './response.ts';

export type { Challenges } from '../answers/challenge/challenge.ts';

/** The names this node serves. */
export interface Plans {
  /**
   * Who owns a Host value as sent. `refused`: a name that must not serve (a tombstone); `null`: nobody's. Opens a plan
   * at its first request.
   */
  find(host: string): ServedDomain | 'refused' | null;
}

/** A request as an origin gets it. */
export interface OutgoingRequest {
  readonly domain: ServedDomain;
  readonly origin: Origin;
  /** The rule that chose the origin; `null`: the host's own records. */
  readonly rule: RuleRef | null;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** End-to-end headers, `Host` included, hop-by-hop ones taken out. */
  readonly headers: HeaderList;
  /** Octets where all of it was read already. */
  readonly body: ClientBody | Uint8Array | null;
  /** The network of the client, which shares in connections and buffers as one. */
  readonly network: string;
}

export interface Origins {
  /** Health and load of a domain's pools, for its evaluator. */
  states(domain: string): OriginStates;
  /** Sends a request and pushes the answer; failing over to another origin of the pool is its own affair. */
  send(request: OutgoingRequest, sink: ResponseSink): ResponseSource;
  /** Passes a connection on (WebSocket): everything both ways until either side ends it. */
  upgrade(request: OutgoingRequest, client: UpgradedClient): void;
  /** WebSockets that are open or being opened, and those refused ever. */
  websockets(): { readonly open: number; readonly refused: number };
  /** The pools of a domain changed, or the domain is gone (`null`): starts and stops probes. */
  follow(name: string, domain: ServedDomain | null): void;
  /** Origins of pools that take no requests now. */
  down(): number;
  close(): Promise<void>;
}

/** The client's side of a connection to be passed on. */
export interface UpgradedClient {
  readonly socket: Duplex;
  /** What the client asks to switch to, `websocket`. */
  readonly protocol: string;
  /** What the client sent after its head. */
  readonly head: Uint8Array;
  /** Answers with the edge's page for a status and closes: the origin cannot be reached. */
  fail(status: number): void;
  /** Told once, when the connection is over. `status` is 101, or what the origin answered instead. */
  done(outcome: ClientOutcome): void;
  /** Names and values of the headers to add to the origin's answer. */
  readonly ownHeaders: HeaderList;
}

export interface CacheRequest {
  readonly domain: ServedDomain;
  readonly directive: CacheDirective;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Told what came of it, a word for the journal: `hit`, `miss`, `stale`, … */
  readonly note: (result: string) => void;
  /** Stores answers for the client while it is slow. */
  readonly openSpool: OpenSpool;
}

export interface EdgeCache {
  /**
   * Answers from the cache or through `fetch`, which asks the origin with headers changed as given (`null` takes one
   * out) and pushes its answer.
   */
  answer(
    request: CacheRequest,
    sink: ResponseSink,
    fetch: (changes: Readonly<Record<string, string | null>>, sink: ResponseSink) => ResponseSource,
  ): ResponseSource;
  close(): Promise<void>;
}

/** A page that is to become Markdown. */
export interface MarkdownPage {
  readonly chunks: readonly Uint8Array[];
  readonly coding: Coding;
  /** As its Content-Type names it; `null`: not at all. */
  readonly charset: string | null;
  /** The address a visitor asked for it by, which its links are read against. */
  readonly address: string;
}

export type RenderedPage =
  | {
      readonly ok: true;
      /** In UTF-8. */
      readonly markdown: Uint8Array;
      /** A strong entity tag. */
      readonly tag: string;
      /** Tokens of a language model, estimated. */
      readonly tokens: number;
    }
  | { readonly ok: false; readonly reason: KeptAsHtml };

export interface MarkdownRenderer {
  /** Renders a page and tells of it once; never throws. Calling what is given back means that nobody wants it any more. */
  render(page: MarkdownPage, done: (rendered: RenderedPage) => void): () => void;
  /** Milliseconds that a page may take to come, once its head is there. */
  readonly gatherMs: number;
  /** Octets of pages that may be held at a time, for whoever gathers them. */
  readonly budget: Budget;
  close(): Promise<void>;
}

/** What is found out about a visitor outside the evaluator. Answers at once from what is known; looks up behind. */
export interface Classifier {
  /** ISO 3166-1 alpha-2, `null` unknown. */
  country(ip: string): string | null;
  /** As `EdgeRequest.bot`; `undefined` leaves it to the evaluator. */
  bot(
    ip: string | null,
    userAgent: string,
  ): { readonly kind: string; readonly verified: boolean } | null | undefined;
}

/** Told of every request at its end. */
export interface Journal {
  done(entry: JournalEntry): void;
}

export interface JournalEntry {
  /** `null`: refused before a domain was known. */
  readonly exchange: Exchange | null;
  readonly id: string;
  readonly status: number;
  /** Octets of the answer's body. */
  readonly octets: number;
  readonly durationMs: number;
  /** `hit`, `miss`, …; `null`: the cache was not asked. */
  readonly cache: string | null;
  /** What became of a page that was asked for as Markdown; `null`: none was. */
  readonly markdown: MarkdownOutcome | null;
  /** What went wrong at the origin, `null` nothing. */
  readonly fault: string | null;
}

/** What is stored for slow clients, and how slow they may be. */
export interface Buffers {
  readonly space: BufferSpace;
  /** Octets of a request's body that are read before its origin is asked. */
  readonly bodyOctets: number;
  readonly rate: RateBounds;
}

export interface NodeServices {
  readonly plans: Plans;
  readonly origins: Origins;
  readonly cache: EdgeCache | null;
  /** `null`: pages go out as they come. */
  readonly markdown: MarkdownRenderer | null;
  readonly challenges: Challenges;
  readonly classifier: Classifier;
  readonly journal: Journal;
  readonly buffers: Buffers;
  /** Origins get headers with `_` in their names. */
  readonly keepUnderscores: boolean;
}
