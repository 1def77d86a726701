/** Options and context of the scheduler, which its files share, and the notes it emits. */
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import type { Dns } from '../dns/resolver.ts';
import type { Store } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { Delegation } from './check-delegation.ts';

/** What the scheduler is created with. */
export interface LifecycleOptions {
  readonly store: Store;
  readonly dns: Dns;
  /** Nameserver sets, the recommended one first. */
  readonly sets: readonly (readonly string[])[];
  /** Records a domain may hold; `null`: no limit. Default: no limit. */
  readonly maxRecords?: (domain: DomainRow) => Promise<number | null>;
  /** Judges whether an address may be an origin; a record whose address may not is imported unproxied. Default: all may. */
  readonly specialOrigin?: SpecialJudge;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Milliseconds between two polls for due domains. Default: `POLL_MS`. */
  readonly pollMs?: number;
  /** Called with each note, for logs and metrics. */
  readonly note?: (note: LifecycleNote) => void;
}

/** An event for logs and metrics. */
export type LifecycleNote =
  | { readonly kind: 'checked'; readonly domain: string; readonly delegation: Delegation }
  | { readonly kind: 'changed'; readonly domain: string; readonly from: string; readonly to: string }
  | {
      readonly kind: 'scanned';
      readonly domain: string;
      readonly imported: number;
      readonly complete: boolean;
    }
  /** The domain was removed: its name was unproved for 14 days. */
  | { readonly kind: 'lapsed'; readonly domain: string }
  /** A check or scan failed and will run again; `null`: a failure of the store, about no one domain. */
  | { readonly kind: 'failed'; readonly domain: string | null; readonly error: unknown };

/** The options with their defaults, and the signal that `stop` aborts. */
export interface LifecycleContext extends LifecycleOptions {
  readonly clock: () => number;
  readonly note: (note: LifecycleNote) => void;
  readonly signal: AbortSignal;
}
