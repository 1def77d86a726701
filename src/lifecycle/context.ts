/** What the watch over domains works with, whichever of its files does the work. */
import type { SpecialJudge } from '../base/special-addresses.ts';
import type { Dns } from '../dns/resolver.ts';
import type { DomainRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Delegation } from './check-delegation.ts';

export interface LifecycleOptions {
  readonly store: Store;
  readonly dns: Dns;
  /** Nameserver sets, the recommended one first. */
  readonly sets: readonly (readonly string[])[];
  /** Records a domain may hold; `null`: no limit. Default: no limit. */
  readonly maxRecords?: (domain: DomainRow) => Promise<number | null>;
  /** What keeps an address from being an origin: such a record is imported unproxied. Default: nothing does. */
  readonly specialOrigin?: SpecialJudge;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds between two looks for due domains. */
  readonly pollMs?: number;
  /** Hears what happened, for logs and metrics. */
  readonly note?: (note: LifecycleNote) => void;
}

export type LifecycleNote =
  | { readonly kind: 'checked'; readonly domain: string; readonly delegation: Delegation }
  | { readonly kind: 'changed'; readonly domain: string; readonly from: string; readonly to: string }
  | {
      readonly kind: 'scanned';
      readonly domain: string;
      readonly imported: number;
      readonly complete: boolean;
    }
  /** It was removed, since nobody proved its name. */
  | { readonly kind: 'lapsed'; readonly domain: string }
  /** The world failed; it is tried again later by itself. */
  | { readonly kind: 'failed'; readonly domain: string | null; readonly error: unknown };

/** The options with their defaults, and the room's own end. */
export interface LifecycleContext extends LifecycleOptions {
  readonly clock: () => number;
  readonly note: (note: LifecycleNote) => void;
  readonly signal: AbortSignal;
}
