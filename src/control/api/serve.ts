/**
 * The HTTP server of the API: admits requests (`control/api/operation/checks.ts`) before the handlers of the table, reads bodies strictly, and
 * answers every error as `{ "error": … }`. In: the services. Out: a Fastify instance that is ready to listen.
 */
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { readJson, readUtf8 } from '../../base/http/json-body.ts';
import type { SpanSource } from '../../base/telemetry/spans.ts';
import { redactKeys } from '../../base/text/credentials.ts';
import type { ShownNode } from '../publishing/nodes.ts';
import { addNodeRoute, addRoute } from './add-routes.ts';
import { answerRefusal, answerUnparsed, DATA_HEADERS } from './answer.ts';
import type { AnswerKind, NoteAnswer } from './health-listener.ts';
import { rateLimitHeaders, requestId } from './operation/answer-fields.ts';
import { type ApiAdmission, admit, admitCaller, allowHeader, refuseRoute } from './operation/checks.ts';
import { createLargeBodies, type LargeBodies, mayBeLarge, YAML_TYPES } from './operation/large-bodies.ts';
import {
  CHECK_CONNECTIONS_MS,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  MAX_BODY_OCTETS,
  MAX_CONNECTIONS,
  MAX_HEADER_OCTETS,
  MAX_SEGMENT_CHARACTERS,
  REQUEST_TIMEOUT_MS,
} from './operation/limits.ts';
import {
  type AnyRoute,
  createIdentify,
  isNodeRoute,
  OCTETS_TYPE,
  type SentOctets,
} from './operation/node-route.ts';
import { methodsAt, pathMeant, segmentsOf } from './operation/read-request.ts';
import { badRequest, Refusal } from './operation/refusal.ts';
import type { NodeRouteServices, Services } from './operation/route.ts';
import { createResponseCache, type ResponseCache } from './response-cache.ts';
import { LINES_TYPE } from './routes/node-reports.ts';
import { NODE_ROUTES, ROUTES } from './routes.ts';
import { createRequestSpans, type RequestSpans } from './spans.ts';

/** What the server is created with. */
export interface ApiOptions {
  readonly services: Services;
  readonly log: Logger;
  /** Returns the recorder of answers of one kind, for metrics. */
  readonly watch?: (kind: AnswerKind) => NoteAnswer;
  /** Records an answered request of an account, for metrics; answers from the response cache are not recorded. */
  readonly answered?: (account: number, seconds: number) => void;
  /** Where spans of requests start; absent: no collector gets any. */
  readonly spans?: SpanSource;
  /** The services of routes for nodes; closing the server ends their streams with a reason. */
  readonly nodes: NodeRouteServices;
  /** Add routes without a key besides those of the API: the reference, the page. */
  readonly pages?: readonly ((app: FastifyInstance) => void)[];
}

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: AnyRoute;
    /** Needs no key. */
    open?: boolean;
  }
  interface FastifyRequest {
    admission: ApiAdmission | null;
    /** The node of the token, on a route for nodes. */
    node: ShownNode | null;
    /** Milliseconds since the epoch. */
    arrivedAt: number;
    /** The id of the authenticated key. */
    callerKey: number | null;
    /** The account of that key. */
    callerAccount: number | null;
    /** The path of the route in the table; empty: no route matched. */
    routePath: string;
  }
}

/** Builds the server; the caller listens and closes. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { services, log, watch, answered, nodes } = options;
  const spans = options.spans === undefined ? null : createRequestSpans(options.spans);
  const identify = createIdentify(nodes);
  const large = createLargeBodies();
  const app: FastifyInstance = Fastify({
    loggerInstance: log as never,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    // PERF: a child logger for each request costs more than its one line; log calls pass `reqId` instead.
    childLoggerFactory: (logger) => logger,
    bodyLimit: MAX_BODY_OCTETS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      maxHeaderSize: MAX_HEADER_OCTETS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
      // The onRequest hook refuses it, with the error shape of this API.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_SEGMENT_CHARACTERS, ignoreTrailingSlash: false },
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket as Socket),
    frameworkErrors: (error, request, reply) => {
      void answerUnroutable(services, error, { request, reply, identify });
    },
  }) as unknown as FastifyInstance;
  app.server.maxConnections = MAX_CONNECTIONS;
  app.decorateRequest('admission', null);
  app.decorateRequest('node', null);
  app.decorateRequest('arrivedAt', 0);
  app.decorateRequest('callerKey', null);
  app.decorateRequest('callerAccount', null);
  app.decorateRequest('routePath', '');
  readBodies(app);
  app.setErrorHandler((error, request, reply) => answerRefusal(error, { request, reply }));
  app.setNotFoundHandler((request, reply) => answerElsewhere(request, reply));
  app.addHook('onRequest', (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...DATA_HEADERS });
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw hostless();
    return admitRequest(services, { request, identify }).then(() => countLarge(large, request, reply));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const { callerKey, arrivedAt } = request;
    if (callerKey !== null) reply.headers(rateLimitHeaders(services.budget, callerKey, arrivedAt));
    done(null, payload);
  });
  app.addHook('preClose', async () => nodes.feed.stop());
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url } = request;
    const status = reply.statusCode;
    const ms = reply.elapsedTime;
    watch?.({ method, path: request.routePath, status })(ms / 1_000);
    spans?.matched(request.raw, request.routePath);
    if (request.callerAccount !== null) answered?.(request.callerAccount, ms / 1_000);
    request.log.info(
      {
        reqId: request.id,
        method,
        url: redactKeys(url),
        status,
        ms: Math.round(ms * 1_000) / 1_000,
        key: request.callerKey,
      },
      'answered',
    );
    done();
  });
  const responses = createResponseCache({ services, log, watch, spans });
  offerToCache(app.server, { responses, spans });
  for (const addPage of options.pages ?? []) addPage(app);
  app.after(() => {
    for (const route of ROUTES) {
      if (isNodeRoute(route)) addNodeRoute(app, nodes, route);
      else addRoute(app, { services, route, responses });
    }
  });
  await app.ready();
  return app;
}

/** What a request meets before the router. */
interface BeforeRouter {
  readonly responses: ResponseCache;
  /** `null`: no collector gets spans. */
  readonly spans: RequestSpans | null;
}

/** Offers each request to the response cache before the router; not while the server closes its connections. */
function offerToCache(server: Server, { responses, spans }: BeforeRouter): void {
  const [route] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');
  // A server may ignore an expectation it does not know (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  const next: RequestListener =
    spans === null
      ? (request, response) => route.call(server, request, response)
      : (request, response) => spans.run(request, () => route.call(server, request, response));
  server.on('request', (request, response) => {
    spans?.begin(request, response);
    if (!server.listening || !responses.accept(request, response, next)) next(request, response);
  });
}

/** A request, and the authentication of nodes. */
interface Arrival {
  readonly request: FastifyRequest;
  readonly identify: (headers: IncomingHttpHeaders) => Promise<ShownNode>;
}

/** The onRequest hook: matches the route and admits the key or the node. @throws Refusal */
async function admitRequest(services: Services, { request, identify }: Arrival): Promise<void> {
  const params = (request.params ?? {}) as Record<string, string>;
  // The router matches an empty segment with a variable; `/domains/` names no domain.
  const named = !Object.values(params).includes('');
  // PERF: Fastify creates the object of this getter at every access.
  const { config } = request.routeOptions;
  const route = named ? (config.route ?? null) : null;
  request.routePath = config.route?.path ?? '';
  const now = services.clock();
  request.arrivedAt = now;
  if (config.open === true) return;
  const segments = segmentsOf(request.url);
  if (route !== null && isNodeRoute(route)) {
    request.node = await identify(request.headers);
    return;
  }
  if (route === null && methodsAt(NODE_ROUTES, segments).length > 0) {
    await identify(request.headers);
    if (request.method !== 'OPTIONS') throw refuseRoute(methodsAt(ROUTES, segments));
    return;
  }
  const admission = await admit(services, {
    method: request.method,
    headers: request.headers,
    segments,
    params,
    route,
    missesDomain: !named && config.route !== undefined && 'missesDomain' in config.route,
    methods: () => methodsAt(ROUTES, segments),
    pathMeant: () => pathMeant(ROUTES, segments),
    onCaller: (caller) => {
      request.callerKey = caller.key_id;
      request.callerAccount = caller.account_id;
    },
    now,
  });
  // Without a route, only an OPTIONS request is not refused.
  request.admission = admission;
}

/** Whether the route of a request takes a large body. */
function takesLarge({ routeOptions }: FastifyRequest): boolean {
  const { route } = routeOptions.config;
  return route !== undefined && !isNodeRoute(route) && route.body?.kind === 'large';
}

/** Counts an admitted request with a large body until its connection or its answer ends. @throws Refusal */
function countLarge(large: LargeBodies, request: FastifyRequest, reply: FastifyReply): void {
  if (!takesLarge(request) || !mayBeLarge(request.headers)) return;
  reply.raw.once('close', large.enter(request.admission!.caller.account_id));
}

/** HTTP/1.1 requires `Host` (RFC 9112 §3.2). */
const hostless = (): Refusal => badRequest('the `Host` header is missing');

/** Answers OPTIONS; the checks have refused every other request without a route. */
async function answerElsewhere(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const methods = methodsAt(ROUTES, segmentsOf(request.url));
  await reply.code(204).header('allow', allowHeader(methods)).send();
}

/** Answers a URL that the router cannot parse: the key or token is checked first, as for every request. */
async function answerUnroutable(
  services: Services,
  error: Error,
  { request, reply, identify }: Arrival & { readonly reply: FastifyReply },
): Promise<void> {
  reply.headers({ 'x-request-id': request.id, ...DATA_HEADERS });
  const { headers, method } = request;
  const segments = segmentsOf(request.url);
  const now = services.clock();
  try {
    if (methodsAt(NODE_ROUTES, segments).length > 0) await identify(headers);
    else await admitCaller(services, { method, headers, segments, onCaller: () => undefined, now });
    answerRefusal(error, { request, reply });
  } catch (refusal) {
    answerRefusal(refusal, { request, reply });
  }
}

/** The content encoding of a body in lower case. */
function encodingOf({ headers }: FastifyRequest): string {
  const encoding = headers['content-encoding'] ?? '';
  return encoding === '' ? 'identity' : encoding.toLowerCase();
}

/** Refuses a body with a content encoding, since none is decoded. @throws Refusal 415 */
function refuseEncoded(request: FastifyRequest): void {
  if (encodingOf(request) === 'identity') return;
  // RFC 9110 §15.5.16: the answer lists the accepted encodings.
  throw new Refusal(415, 'the body must be sent without a content encoding', {
    'accept-encoding': 'identity',
  });
}

/** Registers the body parsers: JSON, plain texts and octets of nodes; every other content type is a 415. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, octets: unknown) => {
      refuseEncoded(request);
      if (takesLarge(request)) {
        const value = octets as Buffer;
        return value.length === 0 ? null : { type: 'application/json', value };
      }
      const read = readJson(octets as Buffer);
      if (!read.ok) throw badRequest(read.reason);
      return read.value === undefined ? null : { type: 'application/json', value: read.value };
    },
  );
  for (const type of [OCTETS_TYPE, LINES_TYPE]) {
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, octets: unknown) => {
        const encoding = encodingOf(request);
        if (encoding !== 'identity' && encoding !== 'gzip') {
          throw new Refusal(415, 'octets must be sent without a content encoding or with `gzip`', {
            'accept-encoding': 'gzip, identity',
          });
        }
        const value: SentOctets = { octets: octets as Buffer, isGzip: encoding === 'gzip' };
        return { type, value };
      },
    );
  }
  for (const type of ['text/dns', 'text/plain', ...YAML_TYPES]) {
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, octets: unknown) => {
        refuseEncoded(request);
        if (takesLarge(request)) return (octets as Buffer).length === 0 ? null : { type, value: octets };
        const value = readUtf8(octets as Buffer);
        if (value === null) throw badRequest('the body must be valid UTF-8');
        return { type, value };
      },
    );
  }
}
