/** Decides one request in front of an application: answers it, or prepares it for the application. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { ClientRequest, ClientResponse } from '../../../base/http/client-messages.ts';
import { type EdgeAnswer, endToEnd } from '../../../base/http/header-fields.ts';
import type { HeaderChange } from '../../../engine/evaluator/index.ts';
import {
  addedHeaders,
  countStatus,
  inPlaceOf,
  isDropped,
  isJoined,
  pageInstead,
  statusPage,
} from '../../answers/answer-to.ts';
import { forwardedTarget, isForwarding } from '../../answers/decided.ts';
import {
  type ChangedFields,
  changedAnswer,
  changedList,
  changeFields,
  fieldName,
  requestChanges,
  responseChanges,
} from '../../answers/header-changes.ts';
import { type ClientCertificate, certificateOf } from '../../credentials/client-certificates.ts';
import { decideRequest, IN_FLIGHT_STAGES, UPGRADE_STAGES } from '../../decide/decide.ts';
import type { Exchange } from '../../decide/exchange.ts';
import {
  answerOf,
  createRequestContext,
  type DecisionServices,
  endRequest,
  type Incoming,
  type RequestContext,
} from '../../decide/request-context.ts';
import type { DecisionReporter, EdgeVerdict, Enforced } from '../../decide/verdict.ts';
import type { ServedDomain } from '../../following/served-domain.ts';
import { createClientSink } from '../../proxy/client-response.ts';
import { APPLICATION_READER } from '../../proxy/message-reader.ts';
import type { Challenges } from '../../proxy/services.ts';
import { plainAddress, readVisitor, type TrustedProxies } from '../../proxy/visitor.ts';
import { answerOnSocket } from '../../proxy/write-response.ts';
import type { NodeEdgeOptions } from './options.ts';

// Finishes the application's response: adds and removes header fields by the domain's settings, and replaces an error by
// the page of a rule. The response is the application's object, so its methods are replaced: every response passes through
// `writeHead`, which Node calls if the application does not.

type Callback = (error?: Error | null) => void;

/** Replaces the response's methods. `answer` sends a whole answer on it. */
function takeOver(response: ServerResponse, exchange: Exchange, answer: (instead: EdgeAnswer) => void): void {
  const { writeHead, write, end, flushHeaders } = response;
  let begun = false;
  let replaced = false;

  /** Sends the error page of a rule, if one matches; the application's body is dropped then. */
  function replace(status: number, headers?: WrittenHeaders): boolean {
    if (begun || response.headersSent) return replaced;
    const page = pageInstead(exchange, { status, madeBy: 'origin' });
    if (page === null) return false;
    begun = true;
    replaced = true;
    countStatus(exchange, status);
    setHeaders(response, headers);
    finishHeaders(response, exchange);
    const instead = inPlaceOf(endToEnd(headersOf(response)), page);
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    Object.assign(response, { writeHead, write, end });
    answer(changedAnswer(instead, exchange.decision));
    Object.assign(response, { write: drop, end: dropEnd, writeHead: () => response });
    return true;
  }

  /** Accepts and drops writes after a replacement, so that the application writes to its end. */
  function drop(...written: unknown[]): boolean {
    const callback = written.at(-1);
    if (typeof callback === 'function') process.nextTick(callback as Callback);
    return true;
  }

  function dropEnd(...written: unknown[]): ServerResponse {
    drop(...written);
    return response;
  }

  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]): ServerResponse {
      const reason = typeof rest[0] === 'string' ? rest[0] : null;
      const headers = (reason === null ? (rest[0] ?? rest[1]) : rest[1]) as WrittenHeaders;
      if (replace(status, headers)) return response;
      if (!begun) {
        begun = true;
        countStatus(exchange, status);
        setHeaders(response, headers);
        finishHeaders(response, exchange);
        changeFields(fieldsOf(response), responseChanges(exchange.decision));
      }
      return Reflect.apply(writeHead, response, reason === null ? [status] : [status, reason]);
    },
    write(...written: unknown[]): boolean {
      if (replace(response.statusCode)) return drop(...written);
      return Reflect.apply(write, response, written);
    },
    end(...written: unknown[]): ServerResponse {
      if (replace(response.statusCode)) return dropEnd(...written);
      return Reflect.apply(end, response, written);
    },
    flushHeaders(): void {
      if (!replace(response.statusCode)) flushHeaders.call(response);
    },
  });
}

type WrittenHeaders =
  | Readonly<Record<string, string | number | readonly string[]>>
  | readonly string[]
  | undefined;

/** Headers handed to `writeHead`: an object, or names and values in turn. */
function setHeaders(response: ServerResponse, headers: WrittenHeaders): void {
  if (headers === undefined || headers === null) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return;
  }
  const given = new Set<string>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = String(headers[at]);
    const value = headers[at + 1] as string;
    if (given.has(name.toLowerCase())) response.appendHeader(name, value);
    else response.setHeader(name, value);
    given.add(name.toLowerCase());
  }
}

/** The headers set so far, as a flat list. */
function headersOf(response: ServerResponse): string[] {
  const list: string[] = [];
  for (const name of response.getHeaderNames()) {
    const value = response.getHeader(name);
    for (const one of Array.isArray(value) ? value : [value]) list.push(name, String(one));
  }
  return list;
}

function finishHeaders(response: ServerResponse, exchange: Exchange): void {
  const { settings } = exchange.domain;
  for (const name of response.getHeaderNames()) {
    if (isDropped(name, settings)) response.removeHeader(name);
  }
  const added = addedHeaders(exchange);
  for (let at = 0; at < added.length; at += 2) {
    const name = added[at]!;
    if (isJoined(name)) response.appendHeader(name, added[at + 1]!);
    else response.setHeader(name, added[at + 1]!);
  }
}

function fieldsOf(response: ServerResponse): ChangedFields {
  return {
    set: (name, value) => void response.setHeader(name, value),
    add: (name, value) => void response.appendHeader(name, value),
    remove: (name) => response.removeHeader(name),
  };
}

// Prepares a forwarded request for the application: rewritten target, without the edge's cookies and untrusted headers.

/** What the preparation needs. */
export interface Preparing {
  readonly challenges: Pick<Challenges, 'withoutOwn'>;
  /** Whether the application routes by `url` after this. */
  readonly rewritable: boolean;
}

/**
 * Changes the request in place: its `url` to the path and query that the decision forwards, its cookies to those that
 * are not the edge's, its forwarding headers to those of a trusted proxy (semantics §5 captcha, cache). Headers with `_` in
 * their names stay, which a node drops: the application has the same parser as the edge, which does not read `_` as `-`.
 */
function prepareRequest(
  message: ClientRequest,
  { visitor, decision }: Exchange,
  { challenges, rewritable }: Preparing,
): void {
  const target = forwardedTarget(decision);
  if (rewritable && target !== null && target !== message.url) message.url = target;
  const { headers, rawHeaders } = message;
  let changed = false;
  const remaining: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]!;
    const name = sent.toLowerCase();
    const value = rawHeaders[at + 1]!;
    const forApplication = valueFor(name, value, { trusted: visitor.trusted, challenges });
    if (forApplication !== value) changed = true;
    if (forApplication !== null) remaining.push(sent, forApplication);
  }
  if (!changed) return;
  rawHeaders.splice(0, rawHeaders.length, ...remaining);
  for (const name of Object.keys(headers)) {
    if (name === 'cookie') {
      const cookies = challenges.withoutOwn(headers.cookie ?? '');
      if (cookies === '') delete headers.cookie;
      else headers.cookie = cookies;
    } else if (!visitor.trusted && isForwarding(name)) delete headers[name];
  }
}

/** Changes the fields of the request in place as gateways and headers rules say, in both forms that applications read. */
function changeRequest(message: ClientRequest, changes: readonly HeaderChange[]): void {
  if (changes.length === 0) return;
  const { headers, rawHeaders } = message;
  // An application reads names as the edge does, without taking `_` for `-`.
  rawHeaders.splice(0, rawHeaders.length, ...changedList(rawHeaders, changes, fieldName));
  changeFields(
    {
      set: (name, value) => {
        headers[name.toLowerCase()] = value;
      },
      add: (name, value) => {
        const before = headers[name.toLowerCase()];
        headers[name.toLowerCase()] = before === undefined ? value : `${before}, ${value}`;
      },
      remove: (name) => void Reflect.deleteProperty(headers, name.toLowerCase()),
    },
    changes,
  );
}

interface HeaderContext extends Pick<Preparing, 'challenges'> {
  readonly trusted: boolean;
}

/** The value of a header field for the application; `null`: the field is removed. */
function valueFor(name: string, value: string, { trusted, challenges }: HeaderContext): string | null {
  if (name !== 'cookie') return !trusted && isForwarding(name) ? null : value;
  const cookies = challenges.withoutOwn(value);
  return cookies === '' ? null : cookies;
}

/** What the edge enforces before an application has routed the request, and after that. */
const BEFORE_ROUTING: Enforced = new Set(['rewrite', 'body', 'response', 'request', 'concurrency']);
const AFTER_ROUTING: Enforced = new Set(['body', 'response', 'request', 'concurrency']);

/** What decides requests. */
export interface JudgeOptions {
  readonly services: DecisionServices<ServedDomain>;
  readonly reporter: DecisionReporter;
  readonly trusted: TrustedProxies;
  readonly options: Pick<NodeEdgeOptions, 'facts' | 'publicPort'>;
}

/** Decisions for the ways that requests enter an application. */
export interface RequestJudge {
  /** Decides a request that the application has routed already; `null`: it is answered. */
  request(request: ClientRequest, response: ClientResponse): Promise<EdgeVerdict | null>;
  /** Decides a request and calls `next` if it is forwarded; what `next` throws is answered with 500. */
  serve(request: ClientRequest, response: ClientResponse, next: () => unknown): Promise<void>;
  /** Decides a request to switch protocols (RFC 9110 §7.8). */
  upgrade(request: ClientRequest, socket: Duplex, next: () => void): Promise<void>;
}

/** How a request leaves the edge. */
interface Exit {
  /** Whether the application routes by `url` after this. */
  readonly rewritable: boolean;
  /** Sends the edge's own answer. */
  answer(answer: EdgeAnswer): void;
  /** Calls a function when the response has ended or the client has left, at once if either is so. */
  whenOver(end: () => void): void;
}

export function createJudge(parts: JudgeOptions): RequestJudge {
  const { reporter } = parts;
  return {
    async request(message, response) {
      return (await enter(parts, message, { response, rewritable: false })) ? (message.edge ?? null) : null;
    },
    async serve(message, response, next) {
      if (!(await enter(parts, message, { response, rewritable: true }))) return;
      try {
        await next();
      } catch (error) {
        reporter.fault(error, 'the application');
        if (response.headersSent) response.destroy();
        else answerWhole(message, response, statusPage(message.edge!, 500));
      }
    },
    async upgrade(message, socket, next) {
      const answer = (whole: EdgeAnswer): void => answerOnSocket(socket, whole);
      const whenOver = (end: () => void): void => whenClosed(socket, end);
      const exchange = await judge(parts, message, {
        rewritable: true,
        answer,
        whenOver,
        stages: UPGRADE_STAGES,
      });
      if (exchange !== null) next();
    },
  };
}

interface Entrance {
  readonly response: ClientResponse;
  readonly rewritable: boolean;
}

/** Decides a request with a response. @returns whether it goes to the application */
async function enter(
  parts: JudgeOptions,
  message: ClientRequest,
  { response, rewritable }: Entrance,
): Promise<boolean> {
  const answer = (whole: EdgeAnswer): void => answerWhole(message, response, whole);
  const whenOver = (end: () => void): void => whenResponded(message, response, end);
  const exchange = await judge(parts, message, { rewritable, answer, whenOver, stages: IN_FLIGHT_STAGES });
  if (exchange === null) return false;
  takeOver(response as ServerResponse, exchange, answer);
  return true;
}

interface Judging extends Exit {
  readonly stages: typeof IN_FLIGHT_STAGES;
}

/** Decides a request; answers it, or prepares it for the application. @returns `null`: it is answered */
async function judge(
  { services, reporter, trusted, options }: JudgeOptions,
  message: ClientRequest,
  { rewritable, answer, whenOver, stages }: Judging,
): Promise<Exchange | null> {
  let context: RequestContext<ClientRequest, ServedDomain> | null = null;
  try {
    const incoming = incomingOf(message, { trusted, options });
    context = createRequestContext({ services, incoming, reader: APPLICATION_READER });
    const enforced = rewritable ? BEFORE_ROUTING : AFTER_ROUTING;
    const outcome = await decideRequest(context, { reporter, enforced, stages });
    if (outcome.kind === 'answer') {
      answer(outcome.answer);
      return null;
    }
    const { exchange, verdict } = outcome;
    const over = context;
    if (context.freeSlot !== null) whenOver(() => endRequest(over));
    prepareRequest(message, exchange, { challenges: services.challenges, rewritable });
    changeRequest(message, requestChanges(exchange.decision, services.challenges));
    message.edge = verdict;
    return exchange;
  } catch (error) {
    // Fails closed: a request that could not be decided is not forwarded.
    reporter.fault(error, 'a request');
    if (context !== null) endRequest(context);
    answer(context === null ? BARE_500 : answerOf(context, context.page(500)));
    return null;
  }
}

/** Calls a function when a connection or a stream has closed, at once if it has. */
function whenClosed(connection: Duplex, end: () => void): void {
  if (connection.destroyed) end();
  else connection.once('close', end);
}

/** Calls a function when a response has ended or its connection has closed, at once if either is so. */
function whenResponded(message: ClientRequest, response: ClientResponse, end: () => void): void {
  if ('stream' in message) return void whenClosed(message.stream, end);
  const outgoing = response as ServerResponse;
  const { socket } = message;
  if (socket.destroyed || outgoing.closed) return void end();
  const over = (): void => {
    outgoing.off('close', over);
    socket.off('close', over);
    end();
  };
  outgoing.once('close', over);
  // Node reports the end of a connection to the first of its pipelined responses alone, which has the socket.
  if (outgoing.socket === null) socket.setMaxListeners(0).once('close', over);
}

/** The proxy's view of a request, with the facts that the embedder supplies. */
function incomingOf(
  message: ClientRequest,
  { trusted, options }: Pick<JudgeOptions, 'trusted' | 'options'>,
): Incoming<ClientRequest> {
  const { socket } = message;
  const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
  const port = options.publicPort ?? socket.localPort ?? (scheme === 'https' ? 443 : 80);
  const visitor = readVisitor(message, {
    listener: { scheme, port },
    // The embedder's server has the certificates, and decides which names a connection may be used for.
    facts: { peer: plainAddress(socket.remoteAddress), serverName: null },
    trusted,
  });
  const knownFacts = options.facts?.(message);
  return {
    message,
    visitor,
    ja4: null,
    // PERF: read where a gateway takes client certificates.
    get certificate() {
      return visitor.trusted ? null : certificateOn(message);
    },
    ...(knownFacts === undefined ? {} : { knownFacts }),
    proceed: nothing,
    last: nothing,
  };
}

/** By connection: the verifier caches what it proves by the object. */
const certificates = new WeakMap<object, ClientCertificate>();

/** What the client has sent to the application's TLS server, whose `requestCert` asks for it; `null`: a connection without TLS. */
function certificateOn(message: ClientRequest): ClientCertificate | null {
  const socket = message.socket as TLSSocket | Socket;
  if (!('getPeerCertificate' in socket)) return null;
  // Each request of HTTP/2 has a socket object of its own.
  const connection = ('stream' in message ? message.stream.session : undefined) ?? socket;
  const known = certificates.get(connection) ?? certificateOf(socket);
  certificates.set(connection, known);
  return known;
}

function nothing(): void {}

/** The answer without a request context. */
const BARE_500: EdgeAnswer = { status: 500, headers: [], body: null };

function answerWhole(request: ClientRequest, response: ClientResponse, whole: EdgeAnswer): void {
  createClientSink({ request, response, failed: nothing, done: nothing }).answer(whole);
}
