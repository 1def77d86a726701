/** One request before an application: decided, then answered here or made ready for the application. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { statusPage } from '../../answers/answer-to.ts';
import type { EdgeAnswer } from '../../http/answer.ts';
import type { ClientRequest, ClientResponse } from '../../http/client-messages.ts';
import { createClientSink } from '../../proxy/client-response.ts';
import type { Exchange } from '../../proxy/exchange.ts';
import { peekBody } from '../../proxy/request-body.ts';
import {
  createRequestContext,
  type DecisionServices,
  exchangeOf,
  type Incoming,
  type RequestContext,
} from '../../proxy/request-context.ts';
import { answerOnSocket } from '../../proxy/socket-answer.ts';
import { answerAtEdge } from '../../proxy/stages/answer-at-edge.ts';
import { decide } from '../../proxy/stages/decide.ts';
import { inspectBody } from '../../proxy/stages/inspect-body.ts';
import { read } from '../../proxy/stages/read.ts';
import { runStages, type Stage } from '../../proxy/stages/stage.ts';
import { plainAddress, readVisitor, type TrustedProxies } from '../../proxy/visitor.ts';
import { type DecisionReporter, type EdgeVerdict, verdictOf } from '../verdict.ts';
import type { NodeEdgeOptions } from './options.ts';
import { prepareRequest } from './request.ts';
import { takeOver } from './response.ts';

/** The stages of a request before an application, as those of a node (`proxy/serve-request.ts`) up to the decision. */
const REQUEST_STAGES: readonly Stage<RequestContext>[] = [
  { name: 'read', run: read },
  { name: 'inspect the body', run: inspectBody },
  { name: 'decide', run: decide },
];

/** A request to switch protocols has no body. */
const UPGRADE_STAGES = REQUEST_STAGES.filter(({ run }) => run !== inspectBody);

export interface JudgeOptions {
  readonly services: DecisionServices;
  readonly reporter: DecisionReporter;
  readonly trusted: TrustedProxies;
  readonly options: Pick<NodeEdgeOptions, 'facts' | 'publicPort'>;
}

export interface RequestJudge {
  /** Judges a request that the application has routed already; `null`: it is answered. */
  request(request: ClientRequest, response: ClientResponse): Promise<EdgeVerdict | null>;
  /** Judges a request and hands it on; what `next` throws is answered with 500. */
  serve(request: ClientRequest, response: ClientResponse, next: () => unknown): Promise<void>;
  /** Judges a request to switch protocols. */
  upgrade(request: ClientRequest, socket: Duplex, next: () => void): Promise<void>;
}

/** How a request leaves the edge. */
interface Exit {
  /** Whether the application routes by `url` after this. */
  readonly rewritable: boolean;
  answer(answer: EdgeAnswer): void;
}

export function createJudge({ services, reporter, trusted, options }: JudgeOptions): RequestJudge {
  function incomingOf(message: ClientRequest): Incoming {
    const { socket } = message;
    const scheme = 'encrypted' in socket && socket.encrypted === true ? 'https' : 'http';
    const port = options.publicPort ?? socket.localPort ?? (scheme === 'https' ? 443 : 80);
    const visitor = readVisitor(message, {
      listener: { scheme, port },
      // Which names a connection may be used for is the business of whoever holds its certificate.
      facts: { peer: plainAddress(socket.remoteAddress), serverName: null },
      trusted,
    });
    const told = options.facts?.(message);
    const request = { message, visitor, ja4: null, proceed: nothing, last: nothing };
    return told === undefined ? request : { ...request, knownFacts: told };
  }

  async function judge(
    message: ClientRequest,
    { rewritable, answer }: Exit,
    stages: readonly Stage<RequestContext>[],
  ): Promise<Exchange | null> {
    let walk: RequestContext | null = null;
    try {
      walk = createRequestContext({ services, incoming: incomingOf(message), inspector: peekBody });
      const refusal = await runStages(stages, walk);
      if (refusal !== null) {
        reporter.refused({ id: walk.id, status: refusal.status });
        answer(refusal);
        return null;
      }
      const exchange = exchangeOf(walk);
      const verdict = verdictOf(exchange, rewritable);
      reporter.decided(verdict);
      const own = await answerAtEdge(walk);
      if (own !== null) {
        answer(own);
        return null;
      }
      prepareRequest(message, exchange, { challenges: services.challenges, rewritable });
      message.edge = verdict;
      return exchange;
    } catch (error) {
      // Fails closed: what could not be judged is not let through.
      reporter.fault(error, 'a request');
      answer(walk?.page(500) ?? BARE_500);
      return null;
    }
  }

  async function enter(
    message: ClientRequest,
    response: ClientResponse,
    rewritable: boolean,
  ): Promise<boolean> {
    const answer = (whole: EdgeAnswer): void => answerWhole(message, response, whole);
    const exchange = await judge(message, { rewritable, answer }, REQUEST_STAGES);
    if (exchange === null) return false;
    takeOver(response as ServerResponse, exchange, answer);
    return true;
  }

  return {
    async request(message, response) {
      return (await enter(message, response, false)) ? (message.edge ?? null) : null;
    },
    async serve(message, response, next) {
      if (!(await enter(message, response, true))) return;
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
      const exchange = await judge(message, { rewritable: true, answer }, UPGRADE_STAGES);
      if (exchange !== null) next();
    },
  };
}

function nothing(): void {}

const BARE_500: EdgeAnswer = { status: 500, headers: [], body: null };

function answerWhole(request: ClientRequest, response: ClientResponse, whole: EdgeAnswer): void {
  createClientSink({ request, response, done: () => undefined }).answer(whole);
}
