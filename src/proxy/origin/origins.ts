/**
 * Everything towards origins. In: a request that the evaluator sent to one. Out: its answer, pushed; when it cannot be
 * reached and nothing was answered yet, that of another origin of the same pool.
 */
import { type AnswerBuffer, answerSpools, createAnswerBuffer } from '../../buffers/answer-buffer.ts';
import { BodyFault } from '../../buffers/body-fault.ts';
import { createDrainQueue } from '../../buffers/drain-queue.ts';
import type { BufferSpace } from '../../buffers/space.ts';
import type { OriginStates } from '../../evaluator/index.ts';
import type { ResponseFault, ResponseSink, ResponseSource } from '../../http/response.ts';
import type { ServedDomain } from '../../sync/plan-table.ts';
import { MAX_WEBSOCKETS, ORIGIN_MS, WEBSOCKET_IDLE_MS } from '../limits.ts';
import {
  type ConnectionOptions,
  createConnections,
  type OpenedConnection,
  type OriginPlace,
} from './connections.ts';
import { createGuard, type OriginBounds } from './guard.ts';
import { hostOf } from './host-name.ts';
import { createOriginNames } from './names.ts';
import { createDomainPools, type DomainPools, keyOf, type PoolMember } from './pool-health.ts';
import { createProbe, createSchemeProbe } from './probe.ts';
import type { Origins, OutgoingRequest } from './request.ts';
import { createResolve } from './resolve.ts';
import { attempt, unsentFault } from './send.ts';
import type { SlotUse } from './slots.ts';
import { GONE_BEFORE, upgradeTo } from './upgrade.ts';

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
/** Faults that say nothing of the origin. */
const NOT_ITS_OWN: ReadonlySet<string> = new Set(['aborted', 'body', 'busy', 'slow']);
/** Methods that may be sent twice (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export interface OriginsOptions extends Omit<ConnectionOptions, 'names' | 'guard'> {
  /** Where no connection may go. */
  readonly bounds: OriginBounds;
  /** Where answers are stored for slow clients. */
  readonly space: BufferSpace;
  /** Resolvers that origins' names are asked of: addresses with an optional port each; none: the system's. */
  readonly resolvers?: readonly string[];
  /** Milliseconds that a WebSocket may be idle. Default: `WEBSOCKET_IDLE_MS`. */
  readonly websocketIdleMs?: number;
  /** WebSockets at most, those being opened included. Default: `MAX_WEBSOCKETS`. */
  readonly maxWebsockets?: number;
  readonly clock?: () => number;
}

/** One request to one origin, with a slot of its connections. */
interface Sending {
  readonly request: OutgoingRequest;
  readonly to: OpenedConnection;
  readonly release: () => void;
}

export function createOrigins(options: OriginsOptions): Origins {
  const {
    space,
    anyCertificate,
    websocketIdleMs = WEBSOCKET_IDLE_MS,
    maxWebsockets = MAX_WEBSOCKETS,
  } = options;
  // How long ago something was matters here and never when: the time of day may jump.
  const clock = options.clock ?? (() => performance.now());
  const names = createOriginNames({ resolve: createResolve({ servers: options.resolvers ?? [] }), clock });
  const guard = createGuard(options.bounds, names.lookup);
  const connections = createConnections({ ...options, names, guard });
  const schemes = createSchemeProbe({ clock, guard });
  const probe = createProbe(connections);
  const drains = createDrainQueue();
  const domains = new Map<string, DomainPools>();
  const websockets = { open: 0, refused: 0 };

  function poolsOf(domain: string): DomainPools {
    let pools = domains.get(domain);
    if (pools === undefined) {
      pools = createDomainPools({ probe, clock });
      domains.set(domain, pools);
    }
    return pools;
  }

  /** Where a request goes; a promise only where the scheme has to be found out. */
  function placeOf({ origin }: OutgoingRequest): OriginPlace | Promise<OriginPlace> {
    const serverName = hostOf(origin.hostHeader);
    const { address, port } = origin;
    if (origin.scheme !== 'auto') {
      return { scheme: origin.scheme, address, port: port ?? defaultPort(origin.scheme), serverName };
    }
    const found = schemes.schemeOf(address, port, serverName);
    return found.then((one) => ({ scheme: one, address, port: port ?? defaultPort(one), serverName }));
  }

  function begin(request: OutgoingRequest): PoolMember | null {
    if (request.rule?.type !== 'origin_pool') return null;
    const origin = poolsOf(request.domain.name).origin(request.rule, request.origin);
    origin?.begin();
    return origin;
  }

  /** The same request for another origin of its pool, where it may be sent again. */
  function elsewhere(
    request: OutgoingRequest,
    tried: readonly string[],
    fault: ResponseFault,
  ): OutgoingRequest | null {
    const { rule, method, body, domain } = request;
    const unsent = UNSENT.has(fault.code);
    const again = fault.code === 'reset' && IDEMPOTENT.has(method);
    const replayable = body === null || body instanceof Uint8Array || body.isReplayable();
    if (rule?.type !== 'origin_pool' || !(unsent || again) || !replayable) return null;
    if (tried.length > MORE_TRIES) return null;
    const other = poolsOf(domain.name).another(rule, tried);
    return other === null ? null : { ...request, origin: { ...request.origin, ...other } };
  }

  function send(first: OutgoingRequest, sink: ResponseSink): ResponseSource {
    const { network } = first;
    const body = first.body === null || first.body instanceof Uint8Array ? null : first.body;
    /** Where the answer comes from; `null`: nobody was asked yet. */
    let current: ResponseSource | null = null;
    let answer: AnswerBuffer | null = null;
    let account: (() => void) | null = null;
    let leaveQueue: (() => void) | null = null;
    let stopped = false;
    const tried: string[] = [];
    /** Milliseconds that origins took before the one that is asked now. */
    let spent = 0;
    /** Milliseconds left to the head: those of the record, however many origins are tried in them. */
    const leftMs = ({ origin: { timeoutSec } }: OutgoingRequest): number => {
      const headMs = timeoutSec === null ? ORIGIN_MS : timeoutSec * 1_000;
      return Math.max(1, Math.ceil(headMs - spent));
    };
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
      body?.close();
      if (!stopped) sink.fail(fault);
    }

    function tryOne(request: OutgoingRequest): void {
      tried.push(keyOf(request.origin));
      const place = placeOf(request);
      if (!(place instanceof Promise)) {
        dispatch(request, place);
        return;
      }
      const headMs = leftMs(request);
      const began = performance.now();
      const late = setTimeout(() => {
        if (stopped) return;
        fail({ code: 'timeout', reason: `whether it speaks TLS was not known within ${headMs} ms` });
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

    /** Sends to one origin once it may have one of its connections. */
    function dispatch(request: OutgoingRequest, place: OriginPlace): void {
      const to = connections.to(place);
      leaveQueue = to.slots.take({
        network,
        begin: (release) => {
          exchange({ request, to, release });
          return { flow, end: endSlow, hurry: () => answer?.hurry() };
        },
        refuse: (reason) => failed(request, { code: 'busy', reason }),
      });
    }

    function failed(request: OutgoingRequest, fault: ResponseFault): void {
      if (stopped) return;
      const other = elsewhere(request, tried, fault);
      if (other === null) fail(fault);
      else tryOne(other);
    }

    function exchange({ request, to, release }: Sending): void {
      const accounted = begin(request);
      const began = performance.now();
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
            openSpool: answerSpools(space, network),
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
          end(NOT_ITS_OWN.has(fault.code) ? 'well' : 'failed');
          if (answer !== null) {
            body?.close();
            answer.fail(fault);
            return;
          }
          spent += performance.now() - began;
          failed(request, fault);
        },
      };
      current = attempt(
        {
          to,
          request,
          body: body === null ? (first.body as Uint8Array | null) : body.open(),
          isClientAwaited: () => body?.isAwaited() ?? false,
          headMs: leftMs(request),
        },
        taker,
      );
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

  return {
    states: (domain): OriginStates => poolsOf(domain),
    send,
    upgrade(request, client) {
      // Counted, it would be so for good: its `close` was told already.
      if (client.socket.destroyed) return client.done(GONE_BEFORE);
      if (websockets.open >= maxWebsockets) {
        websockets.refused++;
        client.fail(503);
        return;
      }
      websockets.open++;
      client.socket.once('close', () => websockets.open--);
      Promise.resolve(placeOf(request)).then(
        (place) => upgradeTo({ place, request, client, anyCertificate, guard, idleMs: websocketIdleMs }),
        (error: Error) => {
          if (client.socket.destroyed) client.done(GONE_BEFORE);
          else client.fail(unsentFault(error).code === 'unreached' ? 504 : 502);
        },
      );
    },
    websockets: () => websockets,
    updateProbes(name: string, domain: ServedDomain | null) {
      if (domain !== null) poolsOf(name).replace(domain.settings.pools);
      else {
        domains.get(name)?.replace([]);
        domains.delete(name);
      }
    },
    down() {
      let count = 0;
      for (const pools of domains.values()) count += pools.down().length;
      return count;
    },
    async close() {
      for (const pools of domains.values()) pools.replace([]);
      await connections.close();
    },
  };
}

function defaultPort(scheme: 'http' | 'https'): number {
  return scheme === 'https' ? 443 : 80;
}
