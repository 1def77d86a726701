/** What the evaluator needs of a signature program; `waf/runtime` provides one. */
export type {
  InspectionExclusion,
  WafFinding,
  WafInput,
  WafMatch,
  WafProgram,
  WafSettings,
} from '../waf/runtime/inspection.ts';
