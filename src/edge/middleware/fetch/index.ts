/** `edgeplan/fetch`: the edge before a `fetch` handler, on any platform that has the web's own interfaces. */

export type { Decision, EdgeRequest, WafProgram } from '../../../engine/evaluator/index.ts';
export { PlanFault } from '../../../engine/plan/layout.ts';
export type { InstalledPlan } from '../check-plan.ts';
export { loadSignatures } from '../load-signatures.ts';
export type { EdgeListeners, EdgeRefusal, EdgeVerdict, Unenforced } from '../verdict.ts';
export { createEdge, type FetchEdge } from './edge.ts';
export type { HonoContext, HonoMiddleware } from './hono.ts';
export type { FetchEdgeOptions, FetchFacts, Next } from './options.ts';
