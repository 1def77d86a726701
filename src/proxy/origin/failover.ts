/**
 * One request to the origins of its route. In: the request, and what connects to origins (`OriginNetwork`). Out: the response
 * of the first origin, pushed; where that one cannot be reached and nothing was pushed yet, of another origin of its pool.
 *
 * The way of an attempt: place (`tryOrigin`), slot (`takeSlot`), exchange (`exchange`). A failed attempt goes back to the
 * first step with another origin (`retry`), or fails the request.
 */
import { type AnswerBuffer, answerSpools, createAnswerBuffer } from '../../buffers/answer-buffer.ts';
import { BodyFault } from '../../buffers/body-fault.ts';
import type { ClientBody } from '../../buffers/client-body.ts';
import type { DrainQueue } from '../../buffers/drain-queue.ts';
import type { BufferSpace } from '../../buffers/space.ts';
import type { ResponseFault, ResponseHead, ResponseSink, ResponseSource } from '../../http/response.ts';
import { ORIGIN_MS } from '../limits.ts';
import type { Connections, OpenedConnection, OriginPlace } from './connections.ts';
import { unsentFault } from './faults.ts';
import { type DomainPools, keyOf, type PoolMember } from './pool-health.ts';
import type { OutgoingRequest } from './request.ts';
import { attempt } from './send.ts';
import type { SlotUse } from './slots.ts';

/** Other origins tried after the first. */
const MORE_TRIES = 2;
/** Faults before anything was sent. */
const UNSENT: ReadonlySet<string> = new Set([
  'busy',
  'unresolved',
  'forbidden',
  'refused',
  'unreachable',
  'unreached',
]);
/** Faults that the client or this node caused: the origin's health does not count them. */
const NOT_THE_ORIGINS: ReadonlySet<string> = new Set(['aborted', 'body', 'busy', 'slow']);
/** Methods that may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** What a request needs to reach origins. */
export interface OriginNetwork {
  readonly connections: Connections;
  /** Where responses are stored for slow clients. */
  readonly space: BufferSpace;
  /** The order in which stored responses are read from their origins. */
  readonly drains: DrainQueue;
  /** The place a request connects to; a promise only where the scheme has to be probed. */
  placeOf(request: OutgoingRequest): OriginPlace | Promise<OriginPlace>;
  poolsOf(domain: string): DomainPools;
}

/** One request with its attempts so far. */
interface Forwarding {
  readonly network: OriginNetwork;
  readonly first: OutgoingRequest;
  readonly sink: ResponseSink;
  /** The body that the client still sends; `null`: there is none, or inspection has read all of it. */
  readonly body: ClientBody | null;
  /** The attempt under way; `null`: none has sent anything. */
  current: ResponseSource | null;
  /** Between the response and a slow client; `null`: no head has arrived. */
  answer: AnswerBuffer | null;
  /** Ends the accounting of the current attempt as well. */
  endAccount: (() => void) | null;
  leaveQueue: (() => void) | null;
  /** The client left, or the request failed: nothing more is pushed. */
  stopped: boolean;
  /** The origins tried, by `keyOf`. */
  readonly tried: string[];
  /** Milliseconds that the attempts before the current one took. */
  spentMs: number;
}

/** Sends a request and pushes its response; reads the request's body first, as far as it is buffered. */
export function sendToOrigins(
  network: OriginNetwork,
  first: OutgoingRequest,
  sink: ResponseSink,
): ResponseSource {
  const state: Forwarding = {
    network,
    first,
    sink,
    body: first.body === null || first.body instanceof Uint8Array ? null : first.body,
    current: null,
    answer: null,
    endAccount: null,
    leaveQueue: null,
    stopped: false,
    tried: [],
    spentMs: 0,
  };
  if (state.body === null) tryOrigin(state, first);
  else {
    state.body.ready().then(
      () => {
        if (!state.stopped) tryOrigin(state, first);
      },
      (fault: BodyFault) => fail(state, { code: fault.code, reason: fault.message }),
    );
  }
  return {
    pause: () => (state.answer ?? state.current)?.pause(),
    resume: () => (state.answer ?? state.current)?.resume(),
    abort: () => abort(state),
  };
}

function abort(state: Forwarding): void {
  state.stopped = true;
  state.leaveQueue?.();
  state.endAccount?.();
  state.body?.close();
  (state.answer ?? state.current)?.abort();
}

function fail(state: Forwarding, fault: ResponseFault): void {
  state.body?.close();
  if (!state.stopped) state.sink.fail(fault);
}

/** Milliseconds left until the head is due: the limit of the record covers all origins that are tried. */
function leftMs({ spentMs }: Forwarding, { origin: { timeoutSec } }: OutgoingRequest): number {
  const headMs = timeoutSec === null ? ORIGIN_MS : timeoutSec * 1_000;
  return Math.max(1, Math.ceil(headMs - spentMs));
}

function tryOrigin(state: Forwarding, request: OutgoingRequest): void {
  state.tried.push(keyOf(request.origin));
  const place = state.network.placeOf(request);
  if (place instanceof Promise) awaitPlace(state, request, place);
  else takeSlot(state, request, place);
}

/** Waits for the probe of the origin's scheme, within the request's time limit. */
function awaitPlace(state: Forwarding, request: OutgoingRequest, place: Promise<OriginPlace>): void {
  const headMs = leftMs(state, request);
  const began = performance.now();
  const timer = setTimeout(() => {
    if (state.stopped) return;
    fail(state, { code: 'timeout', reason: `the TLS probe of the origin took more than ${headMs} ms` });
    state.stopped = true;
  }, headMs);
  const settle = (): void => {
    clearTimeout(timer);
    state.spentMs += performance.now() - began;
  };
  place.then(
    (probed) => {
      settle();
      if (!state.stopped) takeSlot(state, request, probed);
    },
    (error: Error) => {
      settle();
      retry(state, request, unsentFault(error));
    },
  );
}

/** Sends the request once a connection to the origin is free for it. */
function takeSlot(state: Forwarding, request: OutgoingRequest, place: OriginPlace): void {
  const to = state.network.connections.to(place);
  state.leaveQueue = to.slots.take({
    network: state.first.network,
    begin: (release): SlotUse => {
      exchange(state, { request, to, release });
      return {
        flow: () => clientFlow(state),
        end: () => endSlowClient(state),
        hurry: () => state.answer?.hurry(),
      };
    },
    refuse: (reason) => retry(state, request, { code: 'busy', reason }),
  });
}

/** Tries another origin of the pool, or fails the request. */
function retry(state: Forwarding, request: OutgoingRequest, fault: ResponseFault): void {
  if (state.stopped) return;
  const other = otherOrigin(state, request, fault);
  if (other === null) fail(state, fault);
  else tryOrigin(state, other);
}

/** The same request for another origin of its pool; `null`: it must not be sent again, or no origin is left. */
function otherOrigin(
  { network, tried }: Forwarding,
  request: OutgoingRequest,
  fault: ResponseFault,
): OutgoingRequest | null {
  const { rule, method, body, domain } = request;
  const unsent = UNSENT.has(fault.code);
  const repeatable = fault.code === 'reset' && IDEMPOTENT.has(method);
  const replayable = body === null || body instanceof Uint8Array || body.isReplayable();
  if (rule?.type !== 'origin_pool' || !(unsent || repeatable) || !replayable) return null;
  if (tried.length > MORE_TRIES) return null;
  const other = network.poolsOf(domain.name).another(rule, tried);
  return other === null ? null : { ...request, origin: { ...request.origin, ...other } };
}

/** The pool's member that the request goes to, with its load raised; `null`: the request goes to no pool. */
function beginMember({ network }: Forwarding, { rule, domain, origin }: OutgoingRequest): PoolMember | null {
  if (rule?.type !== 'origin_pool') return null;
  const member = network.poolsOf(domain.name).origin(rule, origin);
  member?.begin();
  return member;
}

/** A request to one origin, with a slot of its connections. */
interface SlottedRequest {
  readonly request: OutgoingRequest;
  readonly to: OpenedConnection;
  readonly release: () => void;
}

/** Ends the accounting of an attempt: `well` lowers the origin's load, `failed` also counts for its ejection. */
type EndAccount = (outcome: 'well' | 'failed') => void;

function exchange(state: Forwarding, { request, to, release }: SlottedRequest): void {
  const { body, first } = state;
  const member = beginMember(state, request);
  let ended = false;
  const end: EndAccount = (outcome) => {
    if (ended) return;
    ended = true;
    member?.end(outcome);
    release();
  };
  state.endAccount = () => end('well');
  state.current = attempt(
    {
      to,
      request,
      body: body === null ? (first.body as Uint8Array | null) : body.open(),
      isClientAwaited: () => body?.isAwaited() ?? false,
      headMs: leftMs(state, request),
    },
    attemptSink(state, { request, to, end }),
  );
}

interface AttemptSink extends Pick<SlottedRequest, 'request' | 'to'> {
  readonly end: EndAccount;
}

/** Passes an attempt's response through a buffer for slow clients; a failure before its head tries another origin. */
function attemptSink(state: Forwarding, { request, to, end }: AttemptSink): ResponseSink {
  const { sink, body } = state;
  const began = performance.now();
  return {
    informational: (status, headers) => sink.informational(status, headers),
    head: (head, source) => pushHead(state, { head, source, to, end }),
    data: (chunk) => state.answer!.data(chunk),
    end: (trailers) => {
      end('well');
      body?.close();
      state.answer!.end(trailers);
    },
    fail: (fault) => {
      end(NOT_THE_ORIGINS.has(fault.code) ? 'well' : 'failed');
      if (state.answer !== null) {
        body?.close();
        state.answer.fail(fault);
        return;
      }
      state.spentMs += performance.now() - began;
      retry(state, request, fault);
    },
  };
}

interface ArrivedHead extends Pick<AttemptSink, 'to' | 'end'> {
  readonly head: ResponseHead;
  readonly source: ResponseSource;
}

function pushHead(state: Forwarding, { head, source, to, end }: ArrivedHead): void {
  const { sink, body, network, first } = state;
  const { pause, resume } = source;
  state.answer = createAnswerBuffer({
    sink,
    source: {
      pause,
      resume,
      abort: () => {
        end('well');
        body?.close();
        source.abort();
      },
    },
    openSpool: answerSpools(network.space, first.network),
    isWanted: () => to.slots.counts().waiting > 0,
    joinDrains: (drain) => network.drains.join(to.slots, drain),
  });
  sink.head(head, state.answer);
}

/** How long the slot was used for its client so far, and the octets that the client sent and took. */
function clientFlow({ body, answer }: Forwarding): ReturnType<SlotUse['flow']> {
  const pace = body?.pace() ?? null;
  return {
    waitedMs: (pace?.waitedMs() ?? 0) + (answer?.waitedMs() ?? 0),
    octets: (pace?.octets() ?? 0) + (answer?.octets() ?? 0),
  };
}

/** Ends a slow client's request, whose slot other requests wait for. */
function endSlowClient({ body, answer }: Forwarding): void {
  const reason = 'the client is slow and other requests wait for its connection to the origin';
  if (answer === null) body?.stop(new BodyFault('slow', reason));
  else answer.cut({ code: 'slow', reason });
}
