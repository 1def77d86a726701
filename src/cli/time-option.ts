/** Times on the command line: a date, an RFC 3339 time, or how long ago. */
import { InvalidArgumentError } from 'commander';

/** A time that was given; `ago` is relative to when it is used, so that a command that repeats moves along. */
export type GivenTime = { readonly at: number } | { readonly ago: number };

/** Milliseconds per unit. */
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a duration such as `90m`, `24h`, `7d`, `2w` as milliseconds; `null`: the text is no duration. */
function readSpan(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** Parses a duration. */
export function readDuration(text: string): number {
  const span = readSpan(text);
  if (span !== null && span > 0) return span;
  throw new InvalidArgumentError('write a duration such as 90m, 24h, 7d or 2w.');
}

/** Parses a time: a date, an RFC 3339 time, or a duration before now. */
export function readTime(text: string): GivenTime {
  const ago = readSpan(text);
  if (ago !== null) return { ago };
  const at = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { at };
  throw new InvalidArgumentError(
    'write 2026-11-20, 2026-11-20T09:00:00Z, or how long ago: 90m, 24h, 7d, 2w.',
  );
}

/** The time in milliseconds since the epoch. */
export function timeAt(given: GivenTime, now: number): number {
  return 'at' in given ? given.at : now - given.ago;
}
