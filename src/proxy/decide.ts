/**
 * The first half of a request's walk, before an origin or an application alike: read it strictly, find who owns the
 * host, learn about the visitor, decide. Nothing here decides by itself: that is the evaluator's.
 */
import { randomUUID } from 'node:crypto';
import { answerTo } from '../answers/answer-to.ts';
import { pageAnswer } from '../answers/kinds.ts';
import { type HostFacts, parseHost } from '../base/host.ts';
import { BodyFault } from '../buffers/body-fault.ts';
import { RATE } from '../buffers/limits.ts';
import type { EdgeRequest } from '../evaluator/index.ts';
import type { ClientRequest } from '../http/client-messages.ts';
import type { EdgeAnswer } from '../http/response.ts';
import type { ServedDomain } from '../sync/plan-table.ts';
import type { Exchange, Visitor } from './exchange.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { readBody } from './request-body.ts';
import type { ProxyServices } from './services.ts';

/** A request that came in, with who sent it. */
export interface Incoming {
  readonly message: ClientRequest;
  readonly visitor: Visitor;
  readonly ja4: string | null;
  /** What is known of the visitor without looking it up; absent: nothing. */
  readonly knownFacts?: KnownFacts;
  /** Asks a client that waits (`Expect: 100-continue`) for its body; nothing to do for all others. */
  readonly proceed: () => void;
  /** Reads no other request behind this one on its connection. Called at once, if at all. */
  readonly last: () => void;
}

/** Facts that somebody in front has found out, as `EdgeRequest` has them; absent ones are looked up. */
export type KnownFacts = Pick<EdgeRequest, 'country' | 'bot' | 'ja4' | 'ja4h'>;

export type DecisionServices = Pick<ProxyServices, 'plans' | 'challenges' | 'classifier'>;

/** What is known of one request so far. */
export interface RequestContext {
  readonly services: DecisionServices;
  readonly incoming: Incoming;
  readonly id: string;
  readonly startedAt: number;
  exchange: Exchange | null;
  /** The service's page for a status, in the form this client reads. */
  page(status: number, more?: readonly string[]): EdgeAnswer;
}

export function createRequestContext(services: DecisionServices, incoming: Incoming): RequestContext {
  const id = randomUUID();
  return {
    services,
    incoming,
    id,
    startedAt: Date.now(),
    exchange: null,
    page: (status, more) => pageOf(incoming, { status, id }, more),
  };
}

/** The service's page for a status, in the form that a request's client reads. */
export function pageOf(
  { message }: Incoming,
  told: Parameters<typeof pageAnswer>[0],
  more: readonly string[] = [],
): EdgeAnswer {
  return pageAnswer(told, String(message.headers.accept ?? ''), more);
}

type Entered =
  | {
      readonly ok: true;
      readonly read: ReadRequest;
      readonly domain: ServedDomain;
      readonly request: EdgeRequest;
    }
  | { readonly ok: false; readonly status: number };

const facts: HostFacts = { host: '', port: -1, literal: false };

/** Everything up to the decision that needs no body. PERF: a promise only where a visitor's clearance is looked into. */
function enter({ services, incoming, startedAt }: RequestContext): Entered | Promise<Entered> {
  const { message, visitor, ja4, knownFacts } = incoming;
  const read = readRequest(message);
  if (!read.ok || !parseHost(read.host, facts)) {
    // What follows may be its body, taken for another request by one of two servers (RFC 9112 §11.2).
    incoming.last();
    return { ok: false, status: read.ok ? 400 : read.status };
  }
  // A connection made for one name must not be used for another whose certificate was never checked (RFC 9110 §15.5.20).
  if (visitor.serverName !== null && visitor.serverName !== facts.host) return { ok: false, status: 421 };
  const domain = services.plans.find(read.host);
  if (domain === null || domain === 'refused') return { ok: false, status: 421 };
  const { ip } = visitor;
  const userAgent = String(message.headers['user-agent'] ?? '');
  const cookies = String(message.headers.cookie ?? '');
  const entered = (cleared: readonly string[]): Entered => {
    const request: EdgeRequest = {
      scheme: visitor.scheme,
      method: read.method,
      host: read.host,
      target: read.target,
      protocol: read.protocol,
      port: visitor.port,
      headers: read.headers,
      ip,
      country: knownFacts?.country !== undefined ? knownFacts.country : countryOf(services, ip),
      bot: knownFacts?.bot !== undefined ? knownFacts.bot : services.classifier.bot(ip, userAgent),
      ja4: knownFacts?.ja4 ?? ja4,
      ja4h: knownFacts?.ja4h ?? null,
      now: startedAt,
      cleared,
    };
    return { ok: true, read, domain, request };
  };
  if (cookies === '') return entered(NOTHING);
  const visit = { domain: domain.name, ip, userAgent, cookies, now: startedAt };
  const cleared = services.challenges.cleared(visit);
  return cleared instanceof Promise ? cleared.then(entered) : entered(cleared);
}

function countryOf({ classifier }: DecisionServices, ip: string | null): string | null {
  return ip === null ? null : classifier.country(ip);
}

const NOTHING: readonly string[] = Object.freeze([]);

/** A body that was looked into: what rules inspect, and the whole as it goes on. */
export interface InspectedRequestBody<Body> {
  readonly inspected: Uint8Array;
  /** Why that is not what the client means; `null`: it is. */
  readonly error: string | null;
  readonly outgoing: Body;
}

/** What a request came to: where it may go on, and its body; or the status by which it was refused before any rule. */
export type DecidedRequest<Body> =
  | { readonly ok: true; readonly exchange: Exchange; readonly body: Body | ClientRequest | null }
  | { readonly ok: false; readonly status: number };

type Inspect<Body> = (message: ClientRequest, wanted: number) => Promise<InspectedRequestBody<Body>>;

/**
 * Decides a request. PERF: a promise only where something has to be waited for; most requests are decided at once.
 * @param inspect reads the first octets of its body; rejects when the client breaks off
 */
export function decide<Body>(
  walk: RequestContext,
  inspect: Inspect<Body>,
): DecidedRequest<Body> | Promise<DecidedRequest<Body>> {
  const entered = enter(walk);
  return entered instanceof Promise
    ? entered.then((one) => judge(walk, one, inspect))
    : judge(walk, entered, inspect);
}

function judge<Body>(
  walk: RequestContext,
  entered: Entered,
  inspect: Inspect<Body>,
): DecidedRequest<Body> | Promise<DecidedRequest<Body>> {
  if (!entered.ok) return entered;
  const { read, domain, request } = entered;
  const { message, proceed } = walk.incoming;
  const wanted = read.hasBody ? domain.evaluator.bodyWanted(request) : 0;
  if (wanted === 0) {
    return { ok: true, exchange: exchangeOf(walk, domain, request), body: read.hasBody ? message : null };
  }
  proceed();
  return inspect(message, wanted).then(
    ({ inspected, error, outgoing }): DecidedRequest<Body> => {
      const whole = { ...request, body: inspected, bodyError: error };
      return { ok: true, exchange: exchangeOf(walk, domain, whole), body: outgoing };
    },
    (error: unknown) => {
      // The rest of the body would be read as the next request.
      walk.incoming.last();
      return { ok: false, status: error instanceof BodyFault && error.code === 'slow' ? 408 : 400 };
    },
  );
}

/** Decides a request to switch protocols: judged as any request is, but for a body. */
export async function decideUpgrade(walk: RequestContext): Promise<DecidedRequest<never>> {
  const entered = await enter(walk);
  if (!entered.ok) return entered;
  return { ok: true, exchange: exchangeOf(walk, entered.domain, entered.request), body: null };
}

function exchangeOf(walk: RequestContext, domain: ServedDomain, request: EdgeRequest): Exchange {
  const decision = domain.evaluator.evaluate(request);
  const { id, startedAt, incoming } = walk;
  const exchange: Exchange = { id, startedAt, visitor: incoming.visitor, request, domain, decision };
  walk.exchange = exchange;
  return exchange;
}

/** What the edge answers by itself; `null`: the request goes on. */
export async function ownAnswer(walk: RequestContext, exchange: Exchange): Promise<EdgeAnswer | null> {
  const { incoming, services } = walk;
  return answerTo(exchange, {
    challenges: services.challenges,
    readBody: (most) => {
      incoming.proceed();
      return readBody(incoming.message, most, RATE);
    },
  });
}
