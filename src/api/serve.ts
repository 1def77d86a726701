/**
 * The HTTP server of the API: puts every route of the table behind the checks, reads bodies strictly, and turns
 * whatever happens into an answer of the one error shape. In go the services, out comes a Fastify instance that is
 * ready to listen.
 */
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { redactKeys } from '../access/key.ts';
import { assert } from '../base/assert.ts';
import { answerRefusal, sendAnswer } from './answer.ts';
import { type Admission, admit, allowHeader } from './checks.ts';
import { readJson, readUtf8 } from './json.ts';
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  MAX_BODY_OCTETS,
  MAX_CONNECTIONS,
  MAX_HEADER_OCTETS,
  MAX_SEGMENT_CHARACTERS,
  REQUEST_TIMEOUT_MS,
} from './limits.ts';
import { documentRoutes, schemaOf } from './openapi.ts';
import { methodsAt, segmentsOf } from './paths.ts';
import { badRequest } from './refusal.ts';
import { requestId } from './request-id.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';
import { run, type SentBody } from './run.ts';
import type { Services } from './services.ts';
import { answerUnparsed } from './unparsed.ts';

export interface ServeOptions {
  readonly services: Services;
  readonly log: Logger;
  /** Told of every answer, for metrics. */
  readonly watch?: (answer: Watched) => void;
  /** Adds routes that are not the table's: streams, the page. */
  readonly mount?: (app: FastifyInstance) => void;
}

/** One answered request. */
export interface Watched {
  readonly method: string;
  /** The route's path; empty when there is none. */
  readonly path: string;
  readonly status: number;
  readonly seconds: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: Route;
    /** Needs no key. */
    open?: boolean;
  }
  interface FastifyRequest {
    admission: Admission | null;
    arrivedAt: number;
    /** The id of the key, once it is known to open something. */
    callerKey: number | null;
  }
}

/** Builds the server; the caller listens and closes. */
export async function createApi({ services, log, watch, mount }: ServeOptions): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    loggerInstance: log as never,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    bodyLimit: MAX_BODY_OCTETS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_OCTETS, headersTimeout: HEADERS_TIMEOUT_MS },
    routerOptions: { maxParamLength: MAX_SEGMENT_CHARACTERS, ignoreTrailingSlash: false },
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket as Socket),
    frameworkErrors: (error, request, reply) => {
      void answerUnroutable(services, error, { request, reply });
    },
  }) as unknown as FastifyInstance;
  app.server.maxConnections = MAX_CONNECTIONS;
  app.decorateRequest('admission', null);
  app.decorateRequest('arrivedAt', 0);
  app.decorateRequest('callerKey', null);
  readBodies(app);
  app.setErrorHandler((error, request, reply) => answerRefusal(error, { request, reply }));
  app.setNotFoundHandler((request, reply) => answerElsewhere(request, reply));
  app.addHook('onRequest', (request, reply) => {
    reply.header('x-request-id', request.id);
    return admitRequest(services, request);
  });
  app.addHook('onResponse', async (request, reply) => {
    const seconds = reply.elapsedTime / 1_000;
    const path = request.routeOptions.config.route?.path ?? '';
    watch?.({ method: request.method, path, status: reply.statusCode, seconds });
    request.log.info(
      {
        method: request.method,
        url: redactKeys(request.url),
        status: reply.statusCode,
        ms: Math.round(seconds * 1_000_000) / 1_000,
        key: request.callerKey,
      },
      'answered',
    );
  });
  await documentRoutes(app);
  app.after(() => {
    for (const route of ROUTES) addRoute(app, services, route);
    mount?.(app);
  });
  await app.ready();
  return app;
}

function addRoute(app: FastifyInstance, services: Services, route: Route): void {
  app.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { route },
    schema: schemaOf(route),
    // The body is read in `run`, after what semantics §6 puts before it.
    validatorCompiler: () => () => true,
    serializerCompiler: () => (value) => JSON.stringify(value),
    handler: async (request, reply) => {
      const { admission } = request;
      assert(admission !== null, 'a route that needs no key is mounted, not listed');
      const answer = await run(services, {
        route,
        admission,
        params: request.params as Record<string, string>,
        query: request.query as Record<string, unknown>,
        body: (request.body ?? null) as SentBody | null,
        ifMatch: request.headers['if-match'] ?? null,
        now: request.arrivedAt,
      });
      return sendAnswer(answer, { request, reply, route });
    },
  });
}

async function admitRequest(services: Services, request: FastifyRequest): Promise<void> {
  const params = (request.params ?? {}) as Record<string, string>;
  // The router lets a name be empty; `/domains/` is no domain.
  const named = !Object.values(params).includes('');
  const route = named ? (request.routeOptions.config.route ?? null) : null;
  const now = services.clock();
  request.arrivedAt = now;
  if (request.routeOptions.config.open === true || route?.permission === 'open') return;
  const segments = segmentsOf(request.url);
  const admission = await admit(services, {
    method: request.method,
    headers: request.headers,
    segments,
    params,
    route,
    methods: () => methodsAt(ROUTES, segments ?? []),
    onCaller: (caller) => {
      request.callerKey = caller.key_id;
    },
    now,
  });
  // A request that no route takes, and that was not refused, asks for its options.
  request.admission = admission;
}

/** What no route takes: the checks have refused everything but OPTIONS. */
async function answerElsewhere(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const methods = methodsAt(ROUTES, segmentsOf(request.url) ?? []);
  await reply.code(204).header('allow', allowHeader(methods)).send();
}

/** A URL the router cannot read still needs a key, then is told what is wrong with it. */
async function answerUnroutable(
  services: Services,
  error: Error,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<void> {
  reply.header('x-request-id', request.id);
  try {
    await admit(services, {
      method: request.method,
      headers: request.headers,
      segments: segmentsOf(request.url),
      params: {},
      route: null,
      methods: () => [],
      onCaller: () => undefined,
      now: services.clock(),
    });
    answerRefusal(error, { request, reply });
  } catch (refusal) {
    answerRefusal(refusal, { request, reply });
  }
}

/** Reads JSON and plain texts; every other content type is 415. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: unknown, octets: unknown) => {
    const read = readJson(octets as Buffer);
    if (!read.ok) throw badRequest(read.reason);
    return read.value === undefined ? null : { type: 'application/json', value: read.value };
  });
  for (const type of ['text/dns', 'text/plain']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (_: unknown, octets: unknown) => {
      const value = readUtf8(octets as Buffer);
      if (value === null) throw badRequest('the body must be valid UTF-8');
      return { type, value };
    });
  }
}
