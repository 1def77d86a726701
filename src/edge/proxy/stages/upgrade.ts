/**
 * The stages of a request to switch protocols (RFC 9110 §7.8) that other requests do not have: the refusal of WebSockets
 * for a domain that has them off, and the connection to the origin.
 */
import type { EdgeAnswer } from '../../../base/http/response.ts';
import { addedHeaders, countStatus, isDropped } from '../../answers/answer-to.ts';
import { changedList, fieldName, responseChanges } from '../../answers/header-changes.ts';
import { answerOf, exchangeOf, type StageResult } from '../../decide/request-context.ts';
import type { OutgoingRequest } from '../origin/request.ts';
import { ANSWER_VIA } from '../origin-headers.ts';
import type { NodeContext } from '../request-context.ts';
import { withTraceContext } from '../request-span.ts';
import type { SwitchingClient } from '../switching-client.ts';
import { logRequest } from './log.ts';
import { changedHeaders, outgoingRequest } from './origin.ts';

/** Stage `refuse WebSockets where the domain has them off`: 403. */
export function refuseDisabled(context: NodeContext): StageResult {
  if (!exchangeOf(context).domain.settings.webSocketsOff) return null;
  context.fault = 'websockets_off';
  return context.page(403);
}

/** Stage `connect to the origin`: passes octets both ways until either side ends the connection. */
export function connectToOrigin(context: NodeContext<SwitchingClient>): null {
  const { client, services, span } = context;
  const exchange = exchangeOf(context);
  const { settings } = exchange.domain;
  const request = withKey(outgoingRequest(context, null), client);
  services.origins.upgrade(span === null ? request : withTraceContext(request, span), {
    client,
    fail: (status) => refuseUpgrade(context, context.page(status)),
    done(outcome, received = 0) {
      context.octetsRead += received;
      if (outcome.headAt !== null) countStatus(exchange, outcome.status);
      logRequest(context, outcome);
    },
    isDropped: (name) => isDropped(name, settings),
    finished: (headers) =>
      changedList(
        [...headers, ...ANSWER_VIA, ...addedHeaders(exchange)],
        responseChanges(exchange.decision),
        fieldName,
      ),
  });
  return null;
}

/**
 * The request with the key that the edge makes for a client of HTTP/2, in place of one that such a client may not send, and
 * without the length of a body that its request cannot have (RFC 9110 §9.3.6).
 */
function withKey(request: OutgoingRequest, { key }: SwitchingClient): OutgoingRequest {
  if (key === null) return request;
  const headers = changedHeaders(request.headers, { 'sec-websocket-key': null, 'content-length': null });
  return { ...request, headers: [...headers, 'Sec-WebSocket-Key', key] };
}

/** Sends an answer in place of the switch, and ends the connection. */
export function refuseUpgrade(context: NodeContext<SwitchingClient>, answer: EdgeAnswer): void {
  context.client.answer(answerOf(context, answer));
  if (context.exchange !== null) countStatus(context.exchange, answer.status);
  logRequest(context, { status: answer.status, octets: 0, headAt: performance.now(), fault: null });
}
