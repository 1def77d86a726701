/**
 * What every door of the agent shares: a request as the proxy saw it comes in, and what the proxy does with it goes out. A door
 * reads and writes one protocol; it decides nothing, and logs nothing.
 */

import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import { ID_HEADER } from '../answers/pages.ts';
import type { DecideOutcome } from '../decide/decide.ts';
import { decideRequest, STAGES } from '../decide/decide.ts';
import {
  createProxiedReader,
  type ForwardChanges,
  forwardChanges,
  incomingProxied,
  type ProxiedRequest,
} from '../decide/proxied.ts';
import {
  createRequestContext,
  type DecisionServices,
  type RequestContext,
} from '../decide/request-context.ts';
import type { DecisionReporter, EdgeVerdict, Enforced } from '../decide/verdict.ts';
import type { ServedDomain } from '../following/served-domain.ts';
import type { RequestLog, RequestLogEntry } from '../proxy/log/request-log.ts';
import { inflate } from '../proxy/request-body.ts';

/**
 * Why the agent has no decision about a request:
 * - `no_plan`: the plan of its host has not arrived, as plans are still being fetched
 * - `failed`: the decision failed, a bug of ours
 */
export type DoorFault = 'no_plan' | 'failed';

/** What the proxy does with a request. */
export type DoorAnswer =
  | {
      readonly kind: 'forward';
      /** The decision id. */
      readonly id: string;
      /** `null`: there is a `fault` in place of a decision, and the agent is open (`--fail-open`). */
      readonly verdict: EdgeVerdict | null;
      /** `null`: a decision forwards the request. */
      readonly fault: DoorFault | null;
      readonly changes: ForwardChanges;
    }
  | {
      readonly kind: 'answer';
      readonly id: string;
      /** `null`: refused before a decision. */
      readonly verdict: EdgeVerdict | null;
      /** The response, whole. */
      readonly answer: EdgeAnswer;
    }
  /** No decision: the proxy treats it as it treats an agent that is away, closed by default. */
  | { readonly kind: 'fault'; readonly id: string; readonly fault: DoorFault };

/** Decides for a door. Never throws or rejects; a promise only where a clearance, a token, a body or a challenge is awaited. */
export type DecideForDoor = (request: ProxiedRequest) => DoorAnswer | Promise<DoorAnswer>;

export interface DoorOptions {
  readonly services: DecisionServices<ServedDomain>;
  /** Receives every decided or refused request. */
  readonly requestLog: RequestLog;
  /** The parts of a decision that the proxy enforces behind this door. */
  readonly enforced: Enforced;
  /** Called with an exception: a bug of ours. */
  readonly onFault: (error: unknown) => void;
  /** Whether every plan has arrived: before that an unknown host is a fault of the agent, and no decision. Default: always. */
  readonly hasPlans?: () => boolean;
  /** Receives the fault of each request that is forwarded without a decision; absent: such requests are faults, closed. */
  readonly onOpened?: (fault: DoorFault) => void;
}

/** The status in logs and counts of a request that the proxy forwards: the agent does not see the response. */
const UNSEEN_STATUS = 0;

const SILENT: Pick<DecisionReporter, 'decided' | 'refused'> = {
  decided: () => undefined,
  refused: () => undefined,
};

/** Makes the function by which a door has requests decided. */
export function createDoorDecider({
  services,
  requestLog,
  enforced,
  onFault,
  hasPlans = always,
  onOpened,
}: DoorOptions): DecideForDoor {
  const reader = createProxiedReader({ octetsOf: bufferOf, inflate });
  const options = { reporter: SILENT, enforced, stages: STAGES };

  /**
   * The one place where an agent is open or closed. What was decided, or refused with 421, is never opened: a fault behind a
   * block stays a fault.
   */
  function undecided({ id, incoming, exchange, unserved }: DoorContext, fault: DoorFault): DoorAnswer {
    const isSettled = exchange !== null || (unserved !== null && fault === 'failed');
    if (onOpened === undefined || isSettled) return { kind: 'fault', id, fault };
    onOpened(fault);
    return { kind: 'forward', id, verdict: null, fault, changes: unchanged(incoming.message, id) };
  }

  function finish(context: DoorContext, began: number, outcome: DecideOutcome<ServedDomain>): DoorAnswer {
    const { id, unserved } = context;
    // Of a suspended domain the reason is `refused`, with or without all plans.
    if (unserved?.reason === 'unknown' && !hasPlans()) return undecided(context, 'no_plan');
    requestLog.done(entryOf(context, { outcome, durationMs: performance.now() - began }));
    if (outcome.kind === 'answer') {
      const { verdict, answer } = outcome;
      return { kind: 'answer', id, verdict, answer };
    }
    const { exchange, verdict } = outcome;
    return {
      kind: 'forward',
      id,
      verdict,
      fault: null,
      changes: forwardChanges(exchange, services.challenges),
    };
  }

  return (request) => {
    const began = performance.now();
    const context: DoorContext = createRequestContext({
      services,
      incoming: incomingProxied(request),
      reader,
    });
    const fail = (error: unknown): DoorAnswer => {
      onFault(error);
      return undecided(context, 'failed');
    };
    try {
      const outcome = decideRequest(context, options);
      if (!(outcome instanceof Promise)) return finish(context, began, outcome);
      return outcome.then((settled) => finish(context, began, settled)).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
}

function always(): true {
  return true;
}

/** The request as it came, to the proxy's own origin. */
function unchanged({ target }: ProxiedRequest, id: string): ForwardChanges {
  return { target, origin: null, cookies: null, responseHeaders: [ID_HEADER, id] };
}

type DoorContext = RequestContext<ProxiedRequest, ServedDomain>;

interface Finished {
  readonly outcome: DecideOutcome<ServedDomain>;
  readonly durationMs: number;
}

/** The log entry of a request that leaves by a door; what happens to it behind the proxy is not seen. */
function entryOf(
  { id, octetsRead, unserved }: DoorContext,
  { outcome, durationMs }: Finished,
): RequestLogEntry {
  const isAnswered = outcome.kind === 'answer';
  return {
    exchange: outcome.exchange,
    unserved,
    id,
    status: isAnswered ? outcome.answer.status : UNSEEN_STATUS,
    octets: isAnswered ? octetsOf(outcome.answer) : 0,
    octetsIn: octetsRead,
    durationMs,
    firstOctetMs: isAnswered ? durationMs : null,
    origin: null,
    originMs: null,
    monitored: false,
    cache: null,
    markdown: null,
    fault: null,
    unenforced: outcome.verdict?.unenforced ?? [],
  };
}

/** The same octets as a buffer. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function octetsOf({ body }: EdgeAnswer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
}
