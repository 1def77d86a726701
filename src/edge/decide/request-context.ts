/**
 * The request context up to the decision: the state of one request on its way through the stages `read`, `verify
 * credentials`, `inspect the body`, `evaluate` and `answer at the edge`. The stages are the same before an origin, before an application and beside a
 * proxy; how a message is read is in the `MessageReader` of its kind.
 */
import type { EdgeAnswer, HeaderList } from '../../base/http/header-fields.ts';
import type { EdgeRequest } from '../../engine/evaluator/index.ts';
import { ownAnswer } from '../answers/answer-to.ts';
import type { Challenges } from '../answers/challenge/challenge.ts';
import { changedAnswer } from '../answers/header-changes.ts';
import { pageAnswer } from '../answers/pages.ts';
import type { UnservedHelp } from '../answers/unserved.ts';
import type { ClientCertificate } from '../credentials/client-certificates.ts';
import type { CredentialVerifier } from '../credentials/verify.ts';
import type { DecidingDomain, Exchange, Visitor } from './exchange.ts';
import type { Unserved, UnservedHost } from './unserved.ts';

/** A request that arrived, and the visitor who sent it. */
export interface Incoming<Message = unknown> {
  readonly message: Message;
  readonly visitor: Visitor;
  /** The JA4 fingerprint of the TLS client; `null`: unknown. */
  readonly ja4: string | null;
  /** What the TLS client has sent; `null`: it was not asked for a certificate, or is a proxy. */
  readonly certificate: ClientCertificate | null;
  /** Facts about the visitor from an outside source; absent: the classifier has them. */
  readonly knownFacts?: KnownFacts;
  /** Sends `100 Continue` to a client that expects it (RFC 9110 §10.1.1); without effect for all others. */
  readonly proceed: () => void;
  /** Makes this the last request of its connection. Called before the head of its response, if at all. */
  readonly last: () => void;
  /** Makes the client open another connection for its next requests; absent: its connection is not the edge's own. */
  readonly renew?: () => void;
}

/** Facts that a server in front of the edge has established, in the form of `EdgeRequest`; the classifier has absent ones. */
export type KnownFacts = Pick<EdgeRequest, 'country' | 'asn' | 'bot' | 'ja4' | 'ja4h'>;

/** The head of a request. */
export interface ReadRequest {
  readonly ok: true;
  readonly method: string;
  /** Host or `:authority`, as sent; octets above 0x7F are UTF-8 text. */
  readonly host: string;
  /** Path and query as sent, in ASCII. */
  readonly target: string;
  /** `HTTP/1.0`, `HTTP/1.1`, `HTTP/2`. */
  readonly protocol: string;
  /** Lower-case names; a header sent twice is a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Whether a body follows, by its headers or its stream. */
  readonly hasBody: boolean;
}

/** Why a head is refused. */
export interface RequestRefusal {
  readonly ok: false;
  readonly status: number;
  /** A sentence for the log. */
  readonly reason: string;
}

/** The inspected part of a body. */
export interface InspectedBody {
  /**
   * Why the inspected octets are not the decoded body, `content-encoding: …`; `null`: they are the decoded body, as far
   * as they go.
   */
  readonly error: string | null;
  /** The first `wanted` octets of the body, inflated if its Content-Encoding states a compression. */
  readonly inspected: Uint8Array;
}

/** A body after its inspection. */
export interface InspectedRequestBody<Body = unknown> extends InspectedBody {
  /** The body for the origin or the application. */
  readonly outgoing: Body;
  /** Octets that were taken from the message; absent: it has all of them still. */
  readonly taken?: number;
  /** Octets that a rule inspects did not reach the edge. Absent: all did. */
  readonly isPartial?: boolean;
}

/** How a kind of message is read. One for each platform; it has no state of a request. */
export interface MessageReader<Message = unknown, Body = unknown> {
  /** Reads the head, or refuses one that servers read differently (request smuggling). */
  head(message: Message): ReadRequest | RequestRefusal;
  /** The values of a header, joined as RFC 9110 §5.3 says, by its lower-case name; empty: the message has none. */
  header(message: Message, name: string): string;
  /** The body of a message whose octets nobody has read. */
  whole(message: Message): Body;
  /**
   * Reads the first octets of a body so that `wanted` of them can be inspected; `null`: the body does not reach the edge.
   * Rejects with an error of code `slow` if the client is too slow, with any other if it breaks off.
   */
  inspect(message: Message, wanted: number): Promise<InspectedRequestBody<Body> | null>;
  /** Reads a body of at most `most` octets, whole; `null`: it is longer, or did not arrive. */
  read(message: Message, most: number): Promise<Uint8Array | null>;
}

/** What is known of a visitor by address and User-Agent. */
export interface Classifier {
  /** ISO 3166-1 alpha-2, `null` unknown. */
  country(ip: string): string | null;
  /** The number of the autonomous system, `null` unknown. */
  asn(ip: string): number | null;
  /** As `EdgeRequest.bot`; `undefined` leaves it to the evaluator. */
  bot(
    ip: string | null,
    userAgent: string,
  ): { readonly kind: string; readonly verified: boolean } | null | undefined;
}

/** The domains by the Host value of a request, as sent. */
export interface DecidingPlans<Domain extends DecidingDomain = DecidingDomain> {
  /** `refused`: the name must not be served; `null`: the host belongs to no name. */
  find(host: string): Domain | 'refused' | null;
}

/** The services that the stages up to the decision use. */
export interface DecisionServices<Domain extends DecidingDomain = DecidingDomain> {
  readonly plans: DecidingPlans<Domain>;
  readonly challenges: Challenges;
  readonly credentials: CredentialVerifier;
  readonly classifier: Classifier;
  /** Hosts that are not served. */
  readonly unserved: Unserved;
}

/** What the stage `read` found: the domain that serves the request, and the request in the evaluator's form. */
export interface IdentifiedRequest<Domain extends DecidingDomain = DecidingDomain> {
  readonly hasBody: boolean;
  readonly domain: Domain;
  readonly request: EdgeRequest;
}

/** The context up to the decision. */
export interface RequestContext<Message = unknown, Domain extends DecidingDomain = DecidingDomain> {
  readonly services: DecisionServices<Domain>;
  readonly incoming: Incoming<Message>;
  readonly reader: MessageReader<Message>;
  /** The decision id: in a response header, on pages and in the decision log. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Headers of a 405 (RFC 9110 §15.5.6); empty if another server decides which methods are allowed. */
  readonly allow: HeaderList;
  /** The service's page for a status, in the media type that the client prefers. */
  readonly page: (status: number, more?: HeaderList, help?: UnservedHelp) => EdgeAnswer;
  /** Set by `read`. */
  identified: IdentifiedRequest<Domain> | null;
  /** Set by `inspect the body`: what of the body remains to be sent on; `null`: the request has none. */
  body: unknown;
  /** Set by `inspect the body`: a rule inspects the body, and not all of it reached the edge. */
  isPartial: boolean;
  /** Octets that were read at the edge: of the body, inspected ones and solutions of challenges; those of a WebSocket. */
  octetsRead: number;
  /** Set by `evaluate`. */
  exchange: Exchange<Domain> | null;
  /** Set where the answer is 421. */
  unserved: UnservedHost | null;
  /** Set by `take a slot`: frees the request's slot of its usage plan; `null`: it has none. */
  freeSlot: (() => void) | null;
  /** The response has ended, or the client has left, which may be before the decision. */
  hasEnded: boolean;
}

export interface RequestContextOptions<Message, Domain extends DecidingDomain = DecidingDomain> {
  readonly services: DecisionServices<Domain>;
  readonly incoming: Incoming<Message>;
  readonly reader: MessageReader<Message>;
}

/** The context of a request before an application or beside a proxy, which decide themselves which methods are allowed. */
export function createRequestContext<Message, Domain extends DecidingDomain>({
  services,
  incoming,
  reader,
}: RequestContextOptions<Message, Domain>): RequestContext<Message, Domain> {
  const id = crypto.randomUUID();
  return {
    services,
    incoming,
    reader,
    id,
    startedAt: Date.now(),
    allow: NO_HEADERS,
    page: pageFor({ incoming, reader, id }),
    identified: null,
    body: null,
    isPartial: false,
    octetsRead: 0,
    exchange: null,
    unserved: null,
    freeSlot: null,
    hasEnded: false,
  };
}

const NO_HEADERS: HeaderList = Object.freeze([]);

/** Makes the service's page for a status, in the media type that the client prefers. */
export function pageFor<Message>({
  incoming,
  reader,
  id,
}: Pick<RequestContext<Message>, 'incoming' | 'reader' | 'id'>): RequestContext['page'] {
  return (status, more = NO_HEADERS, help) => {
    const page = help === undefined ? { status, id } : { status, id, help };
    return pageAnswer(page, reader.header(incoming.message, 'accept'), more);
  };
}

/** The identified request. INVARIANT: `read` has run and refused nothing. */
export function identifiedOf<Domain extends DecidingDomain>({
  identified,
}: {
  readonly identified: IdentifiedRequest<Domain> | null;
}): IdentifiedRequest<Domain> {
  return identified!;
}

/**
 * An answer of the edge's own, with the headers of the request's domain as far as it is known, and as headers rules change
 * it once there is a decision.
 */
export function answerOf(
  { identified, exchange }: Pick<RequestContext, 'identified' | 'exchange'>,
  answer: EdgeAnswer,
): EdgeAnswer {
  if (identified === null) return answer;
  return changedAnswer(ownAnswer(answer, identified.domain.settings), exchange?.decision ?? null);
}

/** The decided request. INVARIANT: `evaluate` has run. */
export function exchangeOf<Domain extends DecidingDomain>({
  exchange,
}: {
  readonly exchange: Exchange<Domain> | null;
}): Exchange<Domain> {
  return exchange!;
}

/**
 * Ends a request: frees its slot, also one that it would take later. Called when its response has ended or its connection has closed; a
 * second call has no effect.
 */
export function endRequest(context: Pick<RequestContext, 'freeSlot' | 'hasEnded'>): void {
  context.hasEnded = true;
  context.freeSlot?.();
  context.freeSlot = null;
}

// A stage of a request's way through the edge, and how a list of stages runs.

/** The answer with which a stage ends the request's way; `null`: the next stage runs. */
export type StageResult = EdgeAnswer | null | Promise<EdgeAnswer | null>;

/** A stage. It reads from the context what the stages before it have stored, and stores what those after it need. */
export type Stage<Context> = (context: Context) => StageResult;

/**
 * Runs the stages in order until one returns an answer, and returns that answer; `null`: no stage returned one.
 * PERF: returns a promise only if a stage did; most requests have reached their origin when this returns.
 */
export function runStages<Context>(
  stages: readonly Stage<Context>[],
  context: Context,
  from = 0,
): StageResult {
  for (let at = from; at < stages.length; at++) {
    const result = stages[at]!(context);
    if (result instanceof Promise) {
      return result.then((answer) => answer ?? runStages(stages, context, at + 1));
    }
    if (result !== null) return result;
  }
  return null;
}
