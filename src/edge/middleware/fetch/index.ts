/** `edgeplan/fetch`: the edge before a `fetch` handler, on any platform that has the web's own interfaces. */

export type { Decision, EdgeRequest, WafProgram } from '../../../engine/evaluator/index.ts';
export { PlanFault } from '../../../engine/plan/layout.ts';
export type { EdgeListeners, EdgeRefusal, EdgeVerdict, Unenforced } from '../../decide/verdict.ts';
export type { InstalledPlan } from '../check-options.ts';
export { loadSignatures } from '../check-options.ts';
export type { FetchEdgeOptions, HonoContext, HonoMiddleware, Next } from './edge.ts';
export { createEdge, type FetchEdge } from './edge.ts';
export type { FetchFacts } from './messages.ts';
