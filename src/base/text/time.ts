/** Times: as text, and of the steady clock that Node, Workers and browsers all have. */

/** A time as the API writes it (RFC 3339 in UTC, with milliseconds), from milliseconds since the epoch. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

// The part of `performance` that Node, Workers and browsers all have (High Resolution Time, W3C).

interface Platform {
  readonly performance: { readonly timeOrigin: number; now(): number };
}

/** Milliseconds since the epoch as the process began, and from then on by a monotonic clock. */
export function steadyNow(): number {
  const { performance } = globalThis as unknown as Platform;
  return performance.timeOrigin + performance.now();
}
