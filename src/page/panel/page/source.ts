/**
 * Where plans, rules and findings come from. The page asks a `PageSource` and nothing else; `sources/` has one implementation for
 * each server that serves the page.
 */
import type { SimulationSubject } from '../../../workbench/simulation/simulate.ts';
import type { FindingDocument } from '../documents.ts';

/** A plan that can be evaluated. */
export interface PlanEntry {
  /** 64 hex digits. */
  readonly digest: string;
  /** In a few words, such as `#3`. */
  readonly label: string;
  /** When it was made: RFC 3339. */
  readonly at: string;
  /** `null`: not known. */
  readonly rules: number | null;
}

/** What a source last reported. */
export interface SourceState {
  /** Whether changes arrive; `false`: the server does not answer, and what is shown is the last state. */
  readonly live: boolean;
  /** What the plans are made of: the name of a file, or of a domain. */
  readonly title: string;
  readonly domain: string | null;
  /** The newest first. */
  readonly plans: readonly PlanEntry[];
  /** Why the edge refuses every request now, whatever a plan decides, in a sentence; `null`: it does not. */
  readonly refuses: string | null;
  /** Why what is written now has no plan; empty: `plans[0]` is its plan. */
  readonly mistakes: readonly FindingDocument[];
  /** What lint found; `null`: not known yet. */
  readonly findings: readonly FindingDocument[] | null;
}

/** A source of plans. */
export interface PageSource {
  /** Reports the state now and after each change, until the page is closed. */
  follow(report: (state: SourceState) => void): void;
  /** The plan of a digest with what it was compiled from. @throws Error in a sentence when it cannot be had */
  plan(digest: string): Promise<SourcePlan>;
}

/** A plan with what is known of it. */
export interface SourcePlan {
  readonly subject: SimulationSubject;
  /** The sealed signatures of its `waf` rules with their name; `null`: none. */
  readonly signatures: { readonly name: string; readonly digest: string; readonly sealed: Uint8Array } | null;
  /** Fetches a sealed list that the plan names by digest; `null`: the plan contains its lists. */
  readonly list: ((digest: string) => Promise<Uint8Array>) | null;
}
