/** The domains that an edge serves, as what decides requests sees them; of nothing but portable types. */
import type { EdgeSettings, Evaluator } from '../../engine/evaluator/index.ts';
import type { PurgeIndex } from '../../engine/plan/purges.ts';

/** A name the node serves, at one revision. */
export interface ServedDomain {
  readonly name: string;
  readonly evaluator: Evaluator;
  readonly settings: EdgeSettings;
  readonly revision: number;
  /** SHA-256 of the sealed plan, 64 lower-case hex digits. */
  readonly digest: string;
  /** A cached response of a lower one is stale. */
  readonly purgeEpoch: number;
  /** The purges of single responses. */
  readonly purges: PurgeIndex;
}

/** The names this node serves. */
export interface Plans {
  /**
   * The domain of a Host value as sent. `refused`: its name must not be served (a tombstone); `null`: it belongs to no
   * name. Opens a plan at its first request.
   */
  find(host: string): ServedDomain | 'refused' | null;
  /** The name that a Host value belongs to, also one that must not be served; `null`: none. Opens no plan. */
  owner(host: string): string | null;
  /**
   * Hosts that are served, at most so many; `*.` before a name: all below it. Opens plans for it, so it is for a table of
   * few names.
   */
  hosts(most: number): readonly string[];
  /** Number of names. */
  readonly size: number;
}
