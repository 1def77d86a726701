/** The edge as a Fastify plugin: an `onRequest` hook, which runs before everything else but routing. */
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { ClientRequest, ClientResponse } from '../../../base/http/client-messages.ts';
import type { EdgeVerdict } from '../verdict.ts';

type Decide = (request: ClientRequest, response: ClientResponse) => Promise<EdgeVerdict | null>;

/** @param judge decides a request; `null`: it is answered */
export function fastifyPlugin(judge: Decide): FastifyPluginCallback {
  const plugin: FastifyPluginCallback = (fastify: FastifyInstance, _options, done) => {
    fastify.decorateRequest('edge');
    fastify.addHook('onRequest', (request, reply, next) => {
      const { raw } = request;
      // A server made with `edge.wrap` has decided the request before Fastify routed it.
      const judged = raw.edge === undefined ? judge(raw, reply.raw) : Promise.resolve(raw.edge);
      judged.then((verdict) => {
        if (verdict === null) return void reply.hijack();
        request.edge = verdict;
        next();
      }, next);
    });
    done();
  };
  // The hook is for the whole server, not for the plugins inside this one (fastify.dev, "Plugins Guide").
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}
