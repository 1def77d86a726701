/**
 * A request's walk through the node. In: a request as Node's servers read it. Out: an answer, whatever happens. The
 * stages: decide it (`walk.ts`), answer what the edge answers by itself (`answers`), forward the rest.
 */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { forwardedTarget } from '../answers/decided.ts';
import { ID_HEADER, pageAnswer } from '../answers/kinds.ts';
import { answerSpools } from '../buffers/answer-buffer.ts';
import { type ClientBody, createClientBody } from '../buffers/client-body.ts';
import type { ClientRequest, ClientResponse } from '../http/client-messages.ts';
import { lowerName } from '../http/header-names.ts';
import type { EdgeAnswer, ResponseSink, ResponseSource } from '../http/response.ts';
import type { MarkdownOutcome } from '../markdown/outcome.ts';
import { type MarkdownRequest, requestMarkdown, wantsMarkdown } from '../markdown/request.ts';
import { type OwnTokens, ownTokenAnswer } from './acme-tokens.ts';
import { type ClientOutcome, type ClientSink, createClientSink } from './client-response.ts';
import {
  type DecidedRequest,
  decide,
  decideUpgrade,
  type Incoming,
  ownAnswer,
  pageOf,
  type RequestContext,
} from './decide.ts';
import type { Exchange } from './exchange.ts';
import { createFinishFilter } from './finish-response.ts';
import { ANSWER_VIA, isLooping, LOOP } from './loops.ts';
import { networkOf } from './network.ts';
import type { OutgoingRequest } from './origin/request.ts';
import { outgoingHeaders } from './origin-headers.ts';
import { inspectBody, type ReadPart } from './request-body.ts';
import type { ProxyServices } from './services.ts';
import { answerOnSocket } from './socket-answer.ts';

export interface Handler {
  request(incoming: Incoming, response: ClientResponse): void;
  /** A request to switch protocols; `head` is what came after it. */
  upgrade(incoming: Incoming, socket: Duplex, head: Uint8Array): void;
  /** What is no request, or does not come in time: tells the client so and ends its connection. */
  unreadable(socket: Duplex, status: number): void;
}

export interface HandlerOptions {
  readonly services: ProxyServices;
  /** The node's own answers to a certificate authority; absent or `null`: none. */
  readonly ownTokens?: OwnTokens | null;
  /** Told of what was thrown on the way: a bug of ours. The visitor gets 500. */
  readonly onFault: (error: unknown) => void;
}

export function createHandler({ services, ownTokens = null, onFault }: HandlerOptions): Handler {
  return {
    request: (incoming, response) => {
      const walk = createNodeWalk(services, incoming);
      const client = createClientSink({
        request: incoming.message,
        response,
        rate: services.buffers.rate,
        done: (outcome) => walk.journal(outcome),
      });
      const own = ownTokens === null ? null : ownTokenAnswer(incoming.message, ownTokens);
      if (own !== null) {
        client.answer(own);
        return;
      }
      const failed = (error: unknown): void => {
        onFault(error);
        walk.fault = 'internal';
        if (client.started()) client.fail({ code: 'aborted', reason: 'an error of the node' });
        else client.answer(walk.page(500));
      };
      try {
        serve(walk, client)?.catch(failed);
      } catch (error) {
        failed(error);
      }
    },
    upgrade: (incoming, socket, head) => {
      const walk = createNodeWalk(services, incoming);
      const refuse = (answer: EdgeAnswer): void => {
        answerOnSocket(socket, answer);
        walk.journal({ status: answer.status, octets: 0, fault: null });
      };
      passOn(walk, { socket, head, refuse }).catch((error: unknown) => {
        onFault(error);
        refuse(walk.page(500));
      });
    },
    unreadable: (socket, status) => {
      const id = randomUUID();
      // Nothing is known of what this client reads; people who meet this have a browser, with too many cookies.
      const answer = pageAnswer({ status, id }, 'text/html');
      answerOnSocket(socket, answer);
      const octets = String(answer.body).length;
      const unknown = { exchange: null, durationMs: 0, cache: null, markdown: null, fault: null };
      services.requestLog.done({ ...unknown, id, status, octets });
    },
  };
}

/** What is known of one request so far. */
interface NodeWalk extends RequestContext {
  readonly services: ProxyServices;
  cache: string | null;
  markdown: MarkdownOutcome | null;
  fault: string | null;
  journal(outcome: ClientOutcome): void;
}

function createNodeWalk(services: ProxyServices, incoming: Incoming): NodeWalk {
  const began = performance.now();
  const id = randomUUID();
  // PERF: written out; copying what `createWalk` makes costs more than all that is in it.
  const walk: NodeWalk = {
    services,
    incoming,
    id,
    startedAt: Date.now(),
    exchange: null,
    page: (status, more) => pageOf(incoming, { status, id }, more),
    cache: null,
    markdown: null,
    fault: null,
    journal: ({ status, octets, fault }) =>
      services.requestLog.done({
        exchange: walk.exchange,
        id,
        status,
        octets,
        durationMs: performance.now() - began,
        cache: walk.cache,
        markdown: walk.markdown,
        fault: walk.fault ?? fault?.code ?? null,
      }),
  };
  return walk;
}

/** PERF: a promise only where something has to be waited for; most requests are on their way when this returns. */
function serve(walk: NodeWalk, client: ClientSink): void | Promise<void> {
  const { rate } = walk.services.buffers;
  const decided = decide(walk, (message, wanted) => inspectBody(message, wanted, rate));
  return decided instanceof Promise
    ? decided.then((one) => act(walk, client, one))
    : act(walk, client, decided);
}

/** What is said beside a 405 (RFC 9110 §15.5.6); origins may serve others. */
const ALLOWED = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Does what was decided. */
function act(walk: NodeWalk, client: ClientSink, decided: DecidedRequest<ReadPart>): void | Promise<void> {
  if (!decided.ok) {
    const { status } = decided;
    return client.answer(walk.page(status, status === 405 ? ['Allow', ALLOWED] : []));
  }
  const { exchange } = decided;
  const goOn = (): void => {
    walk.incoming.proceed();
    forward(walk, exchange, { client, body: decided.body === null ? null : bodyOf(walk, decided.body) });
  };
  if (exchange.decision.action === 'forward') return goOn();
  return ownAnswer(walk, exchange).then((own) => (own === null ? goOn() : client.answer(own)));
}

/** A body as an origin gets it: octets where all of it was read to be inspected. */
function bodyOf(walk: NodeWalk, body: ReadPart | ClientRequest): Uint8Array | ClientBody {
  if ('ended' in body && body.ended) return body.read;
  const { buffers } = walk.services;
  return createClientBody({
    message: walk.incoming.message,
    read: 'ended' in body ? body.read : null,
    most: buffers.bodyOctets,
    space: buffers.space,
    network: networkOf(walk.incoming.visitor.ip),
    rate: buffers.rate,
  });
}

interface Forwarding {
  readonly client: ClientSink;
  readonly body: OutgoingRequest['body'];
}

function forward(walk: NodeWalk, exchange: Exchange, { client, body }: Forwarding): void {
  const { services } = walk;
  const { decision, domain, request } = exchange;
  const { origin } = decision;
  const path = forwardedTarget(decision);
  if (origin === null || path === null) {
    client.answer(walk.page(502));
    return;
  }
  if (loops(walk)) {
    client.answer(walk.page(508));
    return;
  }
  const markdown = markdownAsk(walk, exchange, body !== null);
  /** PERF: made when an origin is asked; most answers of the cache need none of it. */
  let made: OutgoingRequest | null = null;
  const outgoing = (): OutgoingRequest => {
    if (made !== null) return made;
    const plain = outgoingOf(walk, exchange, { origin, path, body });
    made = markdown === null ? plain : asPage(plain, markdown);
    return made;
  };
  const finished = createFinishFilter({
    exchange,
    client,
    page: walk.page,
    note: (fault) => {
      walk.fault = fault;
    },
  });
  const sink = markdown === null ? finished : markdown.sink(finished);
  const follow = (asked: ResponseSource): void =>
    client.attach(markdown === null ? asked : markdown.source(asked));
  const directive = decision.cache;
  if (directive === null || services.cache === null) {
    follow(services.origins.send(outgoing(), sink));
    return;
  }
  const asked = services.cache.answer(
    {
      domain,
      directive,
      method: markdown === null ? request.method : PAGE_METHOD,
      headers: markdown?.headers ?? request.headers ?? {},
      now: walk.startedAt,
      note: (result) => {
        walk.cache = result;
      },
      openSpool: answerSpools(services.buffers.space, networkOf(walk.incoming.visitor.ip)),
    },
    sink,
    (changes, taker: ResponseSink): ResponseSource =>
      services.origins.send({ ...outgoing(), headers: changed(outgoing().headers, changes) }, taker),
  );
  follow(asked);
}

/** Whether the request goes in a circle; the journal is given the reason. */
function loops(walk: NodeWalk): boolean {
  if (!isLooping(walk.incoming.message.headers['cdn-loop'])) return false;
  walk.fault = LOOP;
  return true;
}

function markdownAsk(walk: NodeWalk, exchange: Exchange, hasBody: boolean): MarkdownRequest | null {
  const renderer = walk.services.markdown;
  if (renderer === null || !wantsMarkdown(exchange, hasBody)) return null;
  const note = (outcome: MarkdownOutcome): void => {
    walk.markdown = outcome;
  };
  return requestMarkdown({ renderer, exchange, note });
}

const PAGE_METHOD = 'GET';

/** A request for the whole page: what its Markdown is, and how long, only the page itself tells. */
function asPage(outgoing: OutgoingRequest, { changes }: MarkdownRequest): OutgoingRequest {
  return { ...outgoing, method: PAGE_METHOD, headers: changed(outgoing.headers, changes) };
}

function outgoingOf(
  walk: NodeWalk,
  { decision, domain, request }: Exchange,
  { origin, path, body }: Pick<OutgoingRequest, 'origin' | 'path' | 'body'>,
): OutgoingRequest {
  const { message, visitor } = walk.incoming;
  const cookies = walk.services.challenges.withoutOwn(String(message.headers.cookie ?? ''));
  const host = String(request.host);
  return {
    domain,
    origin,
    rule: decision.rule,
    method: request.method,
    path,
    headers: outgoingHeaders(message.rawHeaders, {
      id: walk.id,
      method: request.method,
      visitor,
      host,
      hostHeader: origin.hostHeader,
      cookies,
      version: message.httpVersion,
      keepUnderscores: walk.services.keepUnderscores,
    }),
    body,
    network: networkOf(visitor.ip),
  };
}

function changed(
  headers: readonly string[],
  changes: Readonly<Record<string, string | null>>,
): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!(lowerName(headers[at]!) in changes)) kept.push(headers[at]!, headers[at + 1]!);
  }
  for (const [name, value] of Object.entries(changes)) if (value !== null) kept.push(name, value);
  return kept;
}

interface Switching {
  readonly socket: Duplex;
  readonly head: Uint8Array;
  readonly refuse: (answer: EdgeAnswer) => void;
}

/** A WebSocket is judged as any request is; only one that is forwarded is passed on. */
async function passOn(walk: NodeWalk, client: Switching): Promise<void> {
  const decided = await decideUpgrade(walk);
  if (!decided.ok) return client.refuse(walk.page(decided.status));
  const { exchange } = decided;
  const own = await ownAnswer(walk, exchange);
  if (own !== null) return client.refuse(own);
  if (exchange.domain.settings.webSocketsOff) {
    walk.fault = 'websockets_off';
    return client.refuse(walk.page(403));
  }
  const { origin } = exchange.decision;
  const path = forwardedTarget(exchange.decision);
  if (origin === null || path === null) return client.refuse(walk.page(502));
  if (loops(walk)) return client.refuse(walk.page(508));
  walk.services.origins.upgrade(outgoingOf(walk, exchange, { origin, path, body: null }), {
    ...client,
    protocol: String(walk.incoming.message.headers.upgrade ?? 'websocket'),
    fail: (status) => client.refuse(walk.page(status)),
    done: (outcome) => walk.journal(outcome),
    ownHeaders: [...ANSWER_VIA, ID_HEADER, walk.id],
  });
}
