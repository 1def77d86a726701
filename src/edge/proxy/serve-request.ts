/**
 * A request's way through the node. In: a request as Node's servers parsed it. Out: a response, in every case. The stages
 * below run in their order, one file a stage (`stages/`); each reads from the request context what those before it stored
 * there. A stage that returns an answer ends the way. The response returns through the stages that `forward` lists.
 */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { ClientRequest, ClientResponse } from '../../base/http/client-messages.ts';
import type { EdgeAnswer } from '../../base/http/response.ts';
import { countStatus } from '../answers/answer-to.ts';
import { pageAnswer } from '../answers/pages.ts';
import { answerAtEdge } from '../decide/answer-at-edge.ts';
import { evaluate, takeSlot } from '../decide/evaluate.ts';
import { inspectBody } from '../decide/inspect-body.ts';
import { read } from '../decide/read.ts';
import { answerOf, type Incoming, runStages, type Stage } from '../decide/request-context.ts';
import { verifyCredentials } from '../decide/verify-credentials.ts';
import { type ClientSink, createClientSink } from './client-response.ts';
import { createMessageReader } from './message-reader.ts';
import { createNodeContext, type NodeContext } from './request-context.ts';
import type { ProxyServices } from './services.ts';
import { respondFromCache } from './stages/cache.ts';
import { chooseOrigin } from './stages/choose-origin.ts';
import { logRequest, logUnreadable } from './stages/log.ts';
import { markdownRequest } from './stages/markdown.ts';
import { originFetch } from './stages/origin.ts';
import { answerOwnToken } from './stages/own-tokens.ts';
import { respondTo } from './stages/respond.ts';
import { connectToOrigin, refuseDisabled, refuseUpgrade } from './stages/upgrade.ts';
import type { SwitchingClient } from './switching-client.ts';
import { createUnreadResponses } from './unread-responses.ts';
import { answerOnSocket } from './write-response.ts';

const REQUEST_STAGES: readonly Stage<NodeContext<ClientSink>>[] = [
  answerOwnToken,
  read,
  verifyCredentials,
  inspectBody,
  evaluate,
  takeSlot,
  answerAtEdge,
  chooseOrigin,
  forward,
];

/** A request to switch protocols is decided as any other, but has no body and no cache. */
const UPGRADE_STAGES: readonly Stage<NodeContext<SwitchingClient>>[] = [
  read,
  verifyCredentials,
  evaluate,
  takeSlot,
  answerAtEdge,
  refuseDisabled,
  chooseOrigin,
  connectToOrigin,
];

/** The response's way: origin → cache → Markdown → respond → client, whose end is logged (`logRequest`). */
function forward(context: NodeContext<ClientSink>): null {
  const respond = respondTo(context);
  const markdown = markdownRequest(context);
  const sink = markdown === null ? respond : markdown.sink(respond);
  const fetch = originFetch(context, markdown);
  const source = respondFromCache(context, { markdown, fetch, sink });
  context.client.attach(markdown === null ? source : markdown.source(source));
  return null;
}

/** What listeners do with a request, or with octets that are none. */
export interface Handler {
  request(incoming: Incoming<ClientRequest>, response: ClientResponse): void;
  /** Serves a request to switch protocols. */
  upgrade(incoming: Incoming<ClientRequest>, client: SwitchingClient): void;
  /** Ends WebSockets in their closing handshake: the node drains. May be called again. */
  leave(): void;
  /** Refuses octets that are no request, or that do not arrive in time, with a status, and ends their connection. */
  unreadable(socket: Duplex, status: number): void;
}

export interface HandlerOptions {
  readonly services: ProxyServices;
  /** Called with an exception of a stage: a bug of ours. The visitor gets 500. */
  readonly onFault: (error: unknown) => void;
}

/** The methods that this node forwards, sent with a 405 (RFC 9110 §15.5.6); origins may allow fewer. */
const ALLOW = ['Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'] as const;
const NO_ALLOW: readonly string[] = [];

export function createHandler({ services, onFault }: HandlerOptions): Handler {
  const { rate } = services.buffers;
  const unread = createUnreadResponses(rate);
  const reader = createMessageReader(rate);
  return {
    request(incoming, response) {
      const client = createClientSink({
        request: incoming.message,
        response,
        unread,
        failed: (error) => failed(error),
        heading: (status) => {
          if (context.exchange !== null) countStatus(context.exchange, status);
        },
        done: (outcome) => logRequest(context, outcome),
      });
      const context = createNodeContext({ services, incoming, reader, client, allow: ALLOW });
      const failed = (error: unknown): void => {
        onFault(error);
        context.fault = 'internal';
        if (client.started()) client.fail({ code: 'aborted', reason: 'an error of the node' });
        else client.answer(answerOf(context, context.page(500)));
      };
      const answer = (own: EdgeAnswer): void => client.answer(answerOf(context, own));
      runToEnd(REQUEST_STAGES, context, { answer, failed });
    },
    leave: () => services.origins.leaveWebsockets(),
    upgrade(incoming, client) {
      const context = createNodeContext({ services, incoming, reader, client, allow: NO_ALLOW });
      const answer = (refusal: EdgeAnswer): void => refuseUpgrade(context, refusal);
      const failed = (error: unknown): void => {
        onFault(error);
        answer(context.page(500));
      };
      runToEnd(UPGRADE_STAGES, context, { answer, failed });
    },
    unreadable(socket, status) {
      const id = randomUUID();
      // The client's preferred media type is unknown; most people who get this use a browser that sends too many cookies.
      const answer = pageAnswer({ status, id }, 'text/html');
      answerOnSocket(socket, answer);
      logUnreadable(services, { id, status, octets: String(answer.body).length });
    },
  };
}

interface Ending {
  /** Sends the answer of the stage that ended the way. */
  readonly answer: (answer: EdgeAnswer) => void;
  /** A stage threw. */
  readonly failed: (error: unknown) => void;
}

/** PERF: no promise if no stage waits. */
function runToEnd<Context>(
  stages: readonly Stage<Context>[],
  context: Context,
  { answer, failed }: Ending,
): void {
  const end = (own: EdgeAnswer | null): void => {
    if (own !== null) answer(own);
  };
  try {
    const result = runStages(stages, context);
    if (result instanceof Promise) result.then(end).catch(failed);
    else end(result);
  } catch (error) {
    failed(error);
  }
}
