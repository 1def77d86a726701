/** What the evaluator needs of a signature program; `waf/runtime` provides one. */
import type { EdgeRequest } from './request.ts';

export interface WafSettings {
  /** 1…4. */
  readonly paranoia: number;
  /** Ids of signatures that do not count. */
  readonly excludes: readonly string[];
}

export interface WafInput {
  readonly request: EdgeRequest;
  /** The body up to the rule's cap; `null` when the body is not inspected or there is none. */
  readonly body: Uint8Array | null;
}

export interface WafFinding {
  /** The sum of the inbound anomaly scores. */
  readonly score: number;
  /** The signatures that matched. */
  readonly ids: readonly number[];
  /** The step budget ran out. */
  readonly exhausted: boolean;
}

export interface WafProgram {
  inspect(input: WafInput, settings: WafSettings): WafFinding;
}
