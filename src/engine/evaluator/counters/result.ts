/** The result of counting one request. */
export interface RateResult {
  readonly breached: boolean;
  /** Requests in the window that ends now, this one included; never told beyond one above what the key can judge. */
  readonly count: number;
  /** Whole seconds until a request would be let through were none sent meanwhile; 0 when not breached. */
  readonly retryAfter: number;
}

/** A result the caller owns and every hit overwrites. */
export interface MutableRateResult {
  breached: boolean;
  count: number;
  retryAfter: number;
}
