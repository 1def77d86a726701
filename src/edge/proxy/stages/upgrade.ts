/**
 * The stages of a request to switch protocols (RFC 9110 §7.8) that other requests do not have: the refusal of WebSockets
 * for a domain that has them off, and the connection to the origin.
 */
import type { Duplex } from 'node:stream';
import type { EdgeAnswer } from '../../../base/http/response.ts';
import { addedHeaders, isDropped } from '../../answers/answer-to.ts';
import { answerOf, exchangeOf, type StageResult } from '../../decide/request-context.ts';
import { ANSWER_VIA } from '../origin-headers.ts';
import type { NodeContext } from '../request-context.ts';
import { withTraceContext } from '../request-span.ts';
import { answerOnSocket } from '../write-response.ts';
import { logRequest } from './log.ts';
import { outgoingRequest } from './origin.ts';

/** The node's end of a connection whose client requests another protocol. */
export interface SwitchingClient {
  readonly socket: Duplex;
  /** The octets that the client sent after the head. */
  readonly head: Uint8Array;
}

/** Stage `refuse WebSockets where the domain has them off`: 403. */
export function refuseDisabled(context: NodeContext): StageResult {
  if (!exchangeOf(context).domain.settings.webSocketsOff) return null;
  context.fault = 'websockets_off';
  return context.page(403);
}

/** Stage `connect to the origin`: passes octets both ways until either side ends the connection. */
export function connectToOrigin(context: NodeContext<SwitchingClient>): null {
  const { client, incoming, services, span } = context;
  const { settings } = exchangeOf(context).domain;
  const request = outgoingRequest(context, null);
  services.origins.upgrade(span === null ? request : withTraceContext(request, span), {
    socket: client.socket,
    head: client.head,
    protocol: String(incoming.message.headers.upgrade ?? 'websocket'),
    fail: (status) => refuseUpgrade(context, context.page(status)),
    done(outcome, received = 0) {
      context.octetsRead += received;
      logRequest(context, outcome);
    },
    isDropped: (name) => isDropped(name, settings),
    ownHeaders: [...ANSWER_VIA, ...addedHeaders(settings, context.id)],
  });
  return null;
}

/** Sends an answer in place of the switch, and ends the connection. */
export function refuseUpgrade(context: NodeContext<SwitchingClient>, answer: EdgeAnswer): void {
  answerOnSocket(context.client.socket, answerOf(context, answer));
  logRequest(context, { status: answer.status, octets: 0, headAt: performance.now(), fault: null });
}
