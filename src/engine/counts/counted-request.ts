/** One finished request, as it is counted: plain values, so that nodes and tests make it alike. */
import type { BotKind } from '../../base/vocabulary/vocabulary.ts';
import type { Decision, Match } from '../evaluator/decision.ts';
import { MAX_VALUE_LENGTH, OTHER } from './limits.ts';

/** A finished request. */
export interface CountedRequest {
  /** The end of the request, milliseconds since the epoch. */
  readonly at: number;
  /** `null`: refused before a plan was evaluated. */
  readonly decision: Decision | null;
  /** Matches of error_page rules on the response. */
  readonly pageMatches: readonly Match[];
  /** The status of the response. */
  readonly status: number;
  /** Octets of the request's body and of the response's. */
  readonly octetsIn: number;
  readonly octetsOut: number;
  /** `hit`, `miss`, …; `null`: the request did not reach the cache. */
  readonly cache: string | null;
  /** ISO 3166-1 alpha-2, upper case; `null`: unknown. */
  readonly country: string | null;
  /** `null`: not a bot. */
  readonly bot: BotKind | null;
  /** The visitor's address; `null`: unknown. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** In canonical form, without the query (semantics §1.1); `null`: the request has none that is valid. */
  readonly path: string | null;
  /** Host and path of the Referer field: its query may contain secrets. */
  readonly referrer: string | null;
  readonly ja4: string | null;
  /** Milliseconds from the request's arrival to the first octet of the response; `null`: there was none. */
  readonly edgeMs: number | null;
  /** The same of the origin's response; `null`: no origin responded. */
  readonly originMs: number | null;
  /** Whether the request went to an origin. */
  readonly originRequest: boolean;
  /** Whether it did and the origin did not respond, or with a status of 500 or more. */
  readonly originError: boolean;
  /** Whether its record has `monitor: true`. */
  readonly monitored: boolean;
  /** Whether it came through a gateway. */
  readonly gateway: boolean;
}

/** The key of dimension `status`. */
export function statusKey(status: number): string {
  return Number.isInteger(status) && status >= 100 && status < 600 ? String(status) : OTHER;
}

/** A value as top lists have it: its first 512 characters, and no half of a surrogate pair. */
export function topValue(value: string): string {
  if (value.length <= MAX_VALUE_LENGTH) return value;
  const last = value.charCodeAt(MAX_VALUE_LENGTH - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return value.slice(0, isHalf ? MAX_VALUE_LENGTH - 1 : MAX_VALUE_LENGTH);
}
