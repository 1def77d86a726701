/**
 * Registers the routes of the table with Fastify. The hooks of `serve.ts` admit a request before its handler here runs.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { assert } from '../../base/diagnostics/assert.ts';
import { type ResponseContext, sendAnswer } from './answer.ts';
import { MAX_LARGE_BODY_OCTETS } from './operation/limits.ts';
import { type NodeRoute, OCTETS_TYPE, readSent, type SentOctets } from './operation/node-route.ts';
import { checkNames, urlOf } from './operation/read-request.ts';
import { badRequest, Refusal } from './operation/refusal.ts';
import type { ApiRoute, NodeRouteServices, Services } from './operation/route.ts';
import type { ResponseCache } from './response-cache.ts';
import { run, type SentBody } from './run.ts';

/** A route to register, and what its handler needs. */
interface Added {
  readonly services: Services;
  readonly route: ApiRoute;
  readonly responses: ResponseCache;
}

/** Registers a route for nodes, authenticated by a node token. */
export function addNodeRoute(app: FastifyInstance, services: NodeRouteServices, route: NodeRoute): void {
  const { query, body, octets } = route;
  app.route({
    ...urlOf(route),
    config: { route },
    handler: async (request, reply) => {
      const { node, params } = request;
      assert(node !== null, 'the hook has identified the node');
      const sent = request.body as SentBody | null;
      const sentQuery = request.query as Record<string, unknown>;
      checkNames(sentQuery, query instanceof z.ZodObject ? Object.keys(query.shape) : []);
      return route.serve(services, {
        node,
        params: params as Record<string, string>,
        query: query === undefined ? undefined : readSent(query, sentQuery),
        body: body === undefined ? undefined : readSent(body, jsonOf(sent)),
        octets: octets === undefined ? null : octetsOf(route, sent),
        request,
        reply,
      });
    },
  });
}

/** The JSON of a body. @throws Refusal 415 for another content type */
function jsonOf(sent: SentBody | null): unknown {
  if (sent !== null && sent.type !== 'application/json') throw otherType('application/json');
  return sent?.value ?? {};
}

/** The octets of a body. @throws Refusal 400 without a body, 415 for another content type */
function octetsOf({ consumes = OCTETS_TYPE }: NodeRoute, sent: SentBody | null): SentOctets {
  if (sent === null) throw badRequest('the body is missing');
  if (sent.type !== consumes) throw otherType(consumes);
  return sent.value as SentOctets;
}

function otherType(type: string): Refusal {
  return new Refusal(415, `the content type must be \`${type}\``);
}

/** A signal that aborts with a `Refusal` when the connection closes before the answer has been sent. */
function watchClient(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished) gone.abort(new Refusal(499, 'the client has closed the connection'));
  };
  if (response.destroyed) onClose();
  else response.once('close', onClose);
  return gone.signal;
}

/** Registers a route for customers, authenticated by an API key. */
export function addRoute(app: FastifyInstance, { services, route, responses }: Added): void {
  app.route({
    ...urlOf(route),
    config: { route },
    ...(route.body?.kind === 'large' ? { bodyLimit: MAX_LARGE_BODY_OCTETS } : {}),
    handler: async (request, reply) => {
      const { admission } = request;
      assert(admission !== null, 'the hook has admitted the key');
      const { answer, version } = await run(services, {
        route,
        admission,
        params: request.params as Record<string, string>,
        query: request.query as Record<string, unknown>,
        body: (request.body ?? null) as SentBody | null,
        ifMatch: request.headers['if-match'] ?? null,
        now: request.arrivedAt,
        watchClient: () => watchClient(reply.raw),
      });
      const { url } = request;
      const { caller } = admission;
      const { path } = route;
      const isCacheable = route.cacheable === true && version !== null && !url.includes('?');
      const store = isCacheable
        ? ({ headers, text }: ResponseContext): void =>
            responses.store({ url, caller, version, path, headers, text })
        : null;
      return sendAnswer(answer, { request, reply, route, store });
    },
  });
}
