/** Reads a time of the command line: a date, an RFC 3339 time, or a duration before now. */
import { InvalidArgumentError } from 'commander';

/** Milliseconds per unit. */
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of a duration such as `90m`, `24h`, `7d`, `2w`; `null`: the text is none. */
export function durationMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** Milliseconds since the epoch of a date, an RFC 3339 time, or a duration before now. */
export function readMoment(text: string): number {
  const ago = durationMs(text);
  if (ago !== null) return Date.now() - ago;
  const at = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError(
    'write 2026-11-20, 2026-11-20T09:00:00Z, or how long ago: 90m, 24h, 7d, 2w.',
  );
}
