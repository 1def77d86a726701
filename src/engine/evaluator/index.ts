/** `edgeplan/evaluator`: sealed plans in, decisions out. Carries no platform: the same bytes decide everywhere. */

export { PlanFault } from '../plan/layout.ts';
export {
  type OpenedRegistry,
  openRegistry,
  type RegisteredConsumer,
  type RegisteredKey,
  type RegisteredUsagePlan,
} from '../plan/open-registry.ts';
export type { RegisteredIssuer } from '../plan/registry.ts';
export {
  type BoundedCounters,
  type Counters,
  type CountersOptions,
  createCounters,
} from '../rate-counters/counters.ts';
export type {
  InspectionExclusion,
  WafFinding,
  WafInput,
  WafMatch,
  WafProgram,
  WafSettings,
} from '../waf/request/inspection.ts';
export type * from './decision.ts';
export { createDomains, type Domains } from './domains.ts';
export {
  type EdgeSettings,
  hasProbes,
  type PoolEjection,
  type PoolHealth,
  type PoolOriginAddress,
  type PoolSettings,
} from './edge-settings.ts';
export { type Evaluator, type EvaluatorOptions, loadPlan } from './evaluate.ts';
export { type OpenedList, type OpenListOptions, openList } from './lists.ts';
export { type FindList, openPlanPart, type PlanPart } from './plan-parts.ts';
export type { EdgeRequest } from './request.ts';
export type { OriginStates } from './run.ts';
export type {
  CheckTrace,
  FactsTrace,
  InspectionTrace,
  Phase,
  PhaseTrace,
  ReasonCode,
  RuleOutcome,
  RuleTrace,
  Trace,
} from './trace.ts';
