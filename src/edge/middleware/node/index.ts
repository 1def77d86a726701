/** `edgeplan/node`: the edge inside a Node server, before an application of any kind. */
import type { EdgeVerdict } from '../../decide/verdict.ts';

export type { Decision, EdgeRequest, WafProgram } from '../../../engine/evaluator/index.ts';
export { PlanFault } from '../../../engine/plan/layout.ts';
export type { KnownFacts } from '../../decide/request-context.ts';
export type { EdgeListeners, EdgeRefusal, EdgeVerdict, Unenforced } from '../../decide/verdict.ts';
export type { InstalledPlan } from '../check-options.ts';
export { loadSignatures } from '../check-options.ts';
export { createEdge, type NodeEdge } from './edge.ts';
export type { ControlPlane, NodeEdgeOptions, SyncStatus } from './options.ts';

declare module 'http' {
  interface IncomingMessage {
    /** The edge's decision; absent before the edge has run. */
    edge?: EdgeVerdict;
  }
}

declare module 'http2' {
  interface Http2ServerRequest {
    /** The edge's decision; absent before the edge has run. */
    edge?: EdgeVerdict;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The edge's decision; present once `edge.fastify` has run. */
    edge: EdgeVerdict;
  }
}
