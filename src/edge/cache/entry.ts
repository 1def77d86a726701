/** What the cache keeps of an answer, and what may be done with it at a moment. */
import type { CacheMode } from '../../base/vocabulary.ts';
import type { CacheDirective } from '../../evaluator/index.ts';
import type { HeaderList } from '../response.ts';
import type { FilePlace } from './disk.ts';
import { CLOCK_SLACK_MS, DISCONNECTED_SEC } from './limits.ts';

export interface Entry {
  readonly status: number;
  /** End-to-end headers with `Date` and, where there is a body, `Content-Length`; without `Age`. */
  readonly headers: HeaderList;
  /** Octets of the body. */
  readonly length: number;
  /** Where the body is: here, or in the entry's file alone. */
  readonly body: Uint8Array | FiledBody;
  readonly life: Lifetime;
  readonly validators: Validators;
  /** What it was kept under; under anything else it must not be used. */
  readonly terms: Terms;
  /** The headers for clients as last prepared, for one browser lifetime. */
  readonly prepared: { browserTtl: number | null; headers: HeaderList };
}

export interface FiledBody {
  readonly place: FilePlace;
  /** Checksum of the body, by which the file is told from one that replaced it. */
  readonly sum: number;
}

export interface Terms {
  readonly epoch: number;
  readonly mode: CacheMode;
  readonly edgeTtl: number | null;
}

/** Times in milliseconds since the epoch, spans in seconds. */
export interface Lifetime {
  /** When the answer came. */
  readonly storedAt: number;
  /** Its age by then (RFC 9111 §4.2.3, corrected_initial_age). */
  readonly initialAge: number;
  readonly freshUntil: number;
  /** Never without asking the origin (`no-cache`). */
  readonly validateAlways: boolean;
  /** Not stale, whatever happens (`must-revalidate`, `proxy-revalidate`). */
  readonly neverStale: boolean;
  /**
   * Stale only where the answer says so itself: `s-maxage` forbids it (RFC 9111 §5.2.2.10), yet is what people write
   * `stale-while-revalidate` beside, and then mean that.
   */
  readonly staleIfSaid: boolean;
  readonly staleWhileRevalidate: number;
  /** `null`: not said. */
  readonly staleIfError: number | null;
}

export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Whether an entry was kept under the terms that hold now: same purge epoch, same kind of rule. */
export function isUsable({ terms }: Entry, { mode, edgeTtl }: CacheDirective, epoch: number): boolean {
  return terms.epoch === epoch && terms.mode === mode && terms.edgeTtl === edgeTtl;
}

/** Fresh by the clock. */
export function isFresh({ life }: Entry, now: number): boolean {
  return now < life.freshUntil && !life.validateAlways && !isFromFuture(life, now);
}

/** The clock was set back since: how old the answer is cannot be told, and only its origin knows whether it still holds. */
function isFromFuture({ storedAt }: Lifetime, now: number): boolean {
  return now < storedAt - CLOCK_SLACK_MS;
}

/** Whether it may be used stale at all. */
function maySpoil({ life }: Entry, now: number): boolean {
  return !life.neverStale && !life.validateAlways && !isFromFuture(life, now);
}

/** Whether concurrent requests may share it: it is fresh for a while once it is here. */
export function isShared({ life }: Pick<Entry, 'life'>): boolean {
  return life.freshUntil > life.storedAt && !life.validateAlways;
}

/** Whether it may be given out stale while it is asked for anew behind (RFC 5861 §3). */
export function mayServeWhile(entry: Entry, now: number): boolean {
  const { life } = entry;
  if (!maySpoil(entry, now)) return false;
  return now < life.freshUntil + life.staleWhileRevalidate * 1_000;
}

/** Whether it may stand in for an origin's error (RFC 5861 §4). */
export function mayServeOnError(entry: Entry, now: number): boolean {
  const { life } = entry;
  if (!maySpoil(entry, now)) return false;
  return now < life.freshUntil + (life.staleIfError ?? 0) * 1_000;
}

/** Whether it may stand in for an origin that cannot be reached: allowed unless forbidden (RFC 9111 §4.2.4). */
export function mayServeUnreached(entry: Entry, now: number): boolean {
  const { life } = entry;
  if (!maySpoil(entry, now)) return false;
  const seconds = life.staleIfError ?? (life.staleIfSaid ? 0 : DISCONNECTED_SEC);
  return now < life.freshUntil + seconds * 1_000;
}

/** Seconds. */
export function ageOf({ life }: Pick<Entry, 'life'>, now: number): number {
  // A request that waited for its answer began before it came.
  return Math.floor(life.initialAge + Math.max(0, now - life.storedAt) / 1_000);
}

/** Whether the origin can be asked if it changed. */
export function isValidatable({ validators }: Pick<Entry, 'validators'>): boolean {
  return validators.etag !== null || validators.lastModified !== null;
}
