/** Times as text. */

/** A time as the API writes it (RFC 3339 in UTC, with milliseconds), from milliseconds since the epoch. */
export function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
