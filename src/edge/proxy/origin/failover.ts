/**
 * One request to the origins of its route. In: the request, and what connects to origins (`OriginNetwork`). Out: the response
 * of the first origin, pushed; if that one cannot be reached and nothing was pushed yet, of another origin of its pool.
 *
 * The way of an attempt: place (`tryOne`), slot (`dispatch`), exchange (`exchange`). An attempt whose persistent connection
 * the origin has closed meanwhile is made once more on a fresh one, in the same slot; a failed attempt goes back to the first
 * step with another origin (`failed`), or fails the request.
 */
import { type AnswerBuffer, answerSpools, createAnswerBuffer } from '../../../base/buffers/answer-buffer.ts';
import { BodyFault, type ClientBody, type ContinueExpectation } from '../../../base/buffers/client-body.ts';
import type { DrainQueue } from '../../../base/buffers/drain-queue.ts';
import type { BufferSpace } from '../../../base/buffers/space.ts';
import type { ResponseFault, ResponseSink, ResponseSource } from '../../../base/http/response.ts';
import { ORIGIN_MS } from '../limits.ts';
import type { Connections, OpenedConnection, OriginPlace } from './connections.ts';
import { attemptExpecting } from './expect.ts';
import { unsentFault } from './faults.ts';
import { type DomainPools, keyOf, type PoolMember } from './pool-health.ts';
import type { OutgoingRequest } from './request.ts';
import { type Attempt, attempt } from './send.ts';
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
/** Faults after the request was sent, before a response was pushed. */
const BROKEN: ReadonlySet<string> = new Set(['reset', 'cut']);
/** Methods that may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** What a request needs to reach origins. */
export interface OriginNetwork {
  readonly connections: Connections;
  /** Where responses are stored for slow clients. */
  readonly space: BufferSpace;
  /** The order in which stored responses are read from their origins. */
  readonly drains: DrainQueue;
  /** Milliseconds that an origin may be silent within its response, unless the record has a `timeout`. */
  readonly idleMs: number;
  /** The place a request connects to; a promise only if the scheme has to be probed. */
  placeOf(request: OutgoingRequest): OriginPlace | Promise<OriginPlace>;
  poolsOf(domain: string): DomainPools;
}

/** A request to one origin, with a slot of its connections. */
interface SlottedRequest {
  readonly request: OutgoingRequest;
  readonly to: OpenedConnection;
  readonly release: () => void;
}

/**
 * Sends a request and pushes its response; reads the request's body first, as far as it is buffered.
 * PERF: one closure. With its variables in an object that functions take, V8 spent 30 % of a proxied request's time on
 * collecting garbage, and a request took twice the processor time.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure for speed, see PERF
export function sendToOrigins(
  network: OriginNetwork,
  first: OutgoingRequest,
  sink: ResponseSink,
): ResponseSource {
  const { connections, space, drains } = network;
  const body = first.body === null || first.body instanceof Uint8Array ? null : first.body;
  /** The attempt under way; `null`: none has sent anything. */
  let current: ResponseSource | null = null;
  let answer: AnswerBuffer | null = null;
  let account: (() => void) | null = null;
  let leaveQueue: (() => void) | null = null;
  let stopped = false;
  const tried: string[] = [];
  /** Milliseconds that the attempts before the current one took. */
  let spent = 0;
  /** Milliseconds left until the head is due: the limit of the record covers all origins that are tried. */
  const leftMs = (request: OutgoingRequest): number =>
    Math.max(1, Math.ceil((timeoutMs(request) ?? ORIGIN_MS) - spent));
  const source: ResponseSource = {
    pause: () => (answer ?? current)?.pause(),
    resume: () => (answer ?? current)?.resume(),
    abort: () => {
      stopped = true;
      leaveQueue?.();
      account?.();
      body?.close();
      (answer ?? current)?.abort();
    },
  };

  function fail(fault: ResponseFault): void {
    body?.expectation()?.unwanted();
    body?.close();
    if (stopped) return;
    if (!NOT_THE_ORIGINS.has(fault.code)) first.use.result = 'failed';
    sink.fail(fault);
  }

  function tryOne(request: OutgoingRequest): void {
    tried.push(keyOf(request.origin));
    first.tried?.(request.origin);
    request.use.begun = true;
    const place = network.placeOf(request);
    if (!(place instanceof Promise)) {
      dispatch(request, place);
      return;
    }
    const headMs = leftMs(request);
    const began = performance.now();
    const late = setTimeout(() => {
      if (stopped) return;
      fail({ code: 'timeout', reason: `the TLS probe of the origin took more than ${headMs} ms` });
      stopped = true;
    }, headMs);
    const settle = (): void => {
      clearTimeout(late);
      spent += performance.now() - began;
    };
    place.then(
      (found) => {
        settle();
        if (!stopped) dispatch(request, found);
      },
      (error: Error) => {
        settle();
        failed(request, unsentFault(error));
      },
    );
  }

  /** Sends the request once a connection to the origin is free for it. */
  function dispatch(request: OutgoingRequest, place: OriginPlace): void {
    const to = connections.to(place);
    leaveQueue = to.slots.take({
      network: first.network,
      begin: (release) => {
        exchange({ request, to, release });
        return { flow, end: endSlow, hurry: () => answer?.hurry() };
      },
      refuse: (reason) => failed(request, { code: 'busy', reason }),
    });
  }

  function failed(request: OutgoingRequest, fault: ResponseFault): void {
    if (stopped) return;
    const other = otherOrigin({ network, tried }, request, fault);
    if (other === null) fail(fault);
    else tryOne(other);
  }

  function exchange({ request, to, release }: SlottedRequest): void {
    const accounted = beginMember(network, request);
    let began = performance.now();
    let ended = false;
    const end = (outcome: 'well' | 'failed'): void => {
      if (ended) return;
      ended = true;
      accounted?.end(outcome);
      release();
    };
    account = () => end('well');
    const taker: ResponseSink = {
      informational: (status, headers) => sink.informational(status, headers),
      head: (head, { pause, resume, abort }) => {
        const from: ResponseSource = {
          pause,
          resume,
          abort: () => {
            end('well');
            body?.close();
            abort();
          },
        };
        answer = createAnswerBuffer({
          sink,
          source: from,
          openSpool: answerSpools(space, first.network),
          isWanted: () => to.slots.counts().waiting > 0,
          joinDrains: (drain) => drains.join(to.slots, drain),
        });
        sink.head(head, answer);
      },
      data: (chunk) => answer!.data(chunk),
      end: (trailers) => {
        end('well');
        body?.close();
        answer!.end(trailers);
      },
      fail: (fault) => {
        if (answer === null && !stopped && isOutlived(request, fault)) {
          spent += performance.now() - began;
          began = performance.now();
          current = send(true);
          return;
        }
        end(NOT_THE_ORIGINS.has(fault.code) ? 'well' : 'failed');
        if (answer !== null) {
          body?.close();
          answer.fail(fault);
          return;
        }
        spent += performance.now() - began;
        failed(request, fault);
      },
    };
    const limits = (): Pick<Attempt, 'headMs' | 'idleMs' | 'isClientAwaited'> => ({
      isClientAwaited: () => body?.isAwaited() ?? false,
      headMs: leftMs(request),
      idleMs: timeoutMs(request) ?? network.idleMs,
    });
    const send = (isFresh: boolean): ResponseSource => {
      const expectation = body?.expectation() ?? null;
      if (body !== null && expectation !== null) return sendExpecting(body, expectation);
      return attempt(
        {
          to,
          isFresh,
          request,
          body: body === null ? (first.body as Uint8Array | null) : body.open(),
          ...limits(),
        },
        taker,
      );
    };
    const sendExpecting = (awaited: ClientBody, { unwanted }: ContinueExpectation): ResponseSource =>
      attemptExpecting(
        {
          to,
          request,
          unwanted,
          open: () => {
            awaited.request();
            return awaited.open();
          },
          unmet: () => {
            awaited.request();
            current = send(false);
          },
          ...limits(),
        },
        taker,
      );
    current = send(false);
  }

  function flow(): ReturnType<SlotUse['flow']> {
    const pace = body?.pace() ?? null;
    return {
      waitedMs: (pace?.waitedMs() ?? 0) + (answer?.waitedMs() ?? 0),
      octets: (pace?.octets() ?? 0) + (answer?.octets() ?? 0),
    };
  }

  function endSlow(): void {
    const reason = 'the client is slow and other requests wait for its connection to the origin';
    if (answer === null) body?.stop(new BodyFault('slow', reason));
    else answer.cut({ code: 'slow', reason });
  }

  if (body === null) tryOne(first);
  else {
    body.ready().then(
      () => {
        if (!stopped) tryOne(first);
      },
      (fault: BodyFault) => fail({ code: fault.code, reason: fault.message }),
    );
  }
  return source;
}

/** The record's `timeout` in milliseconds; `null`: it has none. */
function timeoutMs({ origin: { timeoutSec } }: OutgoingRequest): number | null {
  return timeoutSec === null ? null : timeoutSec * 1_000;
}

/** The same request for another origin of its pool; `null`: it must not be sent again, or no origin is left. */
function otherOrigin(
  { network, tried }: { readonly network: OriginNetwork; readonly tried: readonly string[] },
  request: OutgoingRequest,
  fault: ResponseFault,
): OutgoingRequest | null {
  const { rule, domain } = request;
  const unsent = UNSENT.has(fault.code);
  const repeatable = BROKEN.has(fault.code) && isIdempotent(request);
  if (rule?.type !== 'origin_pool' || !(unsent || repeatable) || !isReplayable(request)) return null;
  if (tried.length > MORE_TRIES) return null;
  const other = network.poolsOf(domain.name).another(rule, tried);
  return other === null ? null : { ...request, origin: { ...request.origin, ...other } };
}

/**
 * Whether the origin may just have closed the connection for its own idle time when the request was written: nothing came
 * back on a connection that had served others. Such a request may be sent again if its method is idempotent (RFC 9110 §9.2.2).
 */
function isOutlived(request: OutgoingRequest, fault: ResponseFault): boolean {
  return fault.code === 'reset' && request.use.reused && isIdempotent(request) && isReplayable(request);
}

function isIdempotent({ method }: OutgoingRequest): boolean {
  return IDEMPOTENT.has(method);
}

function isReplayable({ body }: OutgoingRequest): boolean {
  return body === null || body instanceof Uint8Array || body.isReplayable();
}

/** The pool's member that the request goes to, with its load raised; `null`: the request goes to no pool. */
function beginMember(network: OriginNetwork, { rule, domain, origin }: OutgoingRequest): PoolMember | null {
  if (rule?.type !== 'origin_pool') return null;
  const member = network.poolsOf(domain.name).origin(rule, origin);
  member?.begin();
  return member;
}
