/** The edge as a Fastify plugin: a hook before everything else that Fastify does with a request. */
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { ClientRequest, ClientResponse } from '../../http/client-messages.ts';
import type { EdgeVerdict } from '../verdict.ts';

type Judging = (request: ClientRequest, response: ClientResponse) => Promise<EdgeVerdict | null>;

export function fastifyPlugin(judge: Judging): FastifyPluginCallback {
  const plugin: FastifyPluginCallback = (fastify: FastifyInstance, _options, done) => {
    fastify.decorateRequest('edge');
    fastify.addHook('onRequest', (request, reply, next) => {
      const { raw } = request;
      // A server that is wrapped has judged the request before Fastify routed it.
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
