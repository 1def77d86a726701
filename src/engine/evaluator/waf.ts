/** What the evaluator needs of a signature program; `engine/waf/load` makes one. */
export type {
  InspectionExclusion,
  WafFinding,
  WafInput,
  WafMatch,
  WafProgram,
  WafSettings,
} from '../waf/request/inspection.ts';
