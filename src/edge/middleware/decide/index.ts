/** `edgeplan/decide`: one call that decides a request for a program of any kind. */

export type { EdgeAnswer, HeaderList } from '../../../base/http/header-fields.ts';
export type { Decision, EdgeRequest, Origin } from '../../../engine/evaluator/index.ts';
export { PlanFault } from '../../../engine/plan/layout.ts';
export type { ForwardChanges, ProxiedBody, ProxiedRequest } from '../../decide/proxied.ts';
export type { EdgeListeners, EdgeRefusal, EdgeVerdict, Unenforced } from '../../decide/verdict.ts';
export type { InstalledPlan } from '../check-options.ts';
export { createDecider, type Decider, type DeciderAnswer, type DeciderOptions } from './decider.ts';
