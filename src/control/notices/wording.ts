/** Words of letters: times, durations, counts and lists as people write them. */

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

/** A time as `25 November 2026, 04:30 UTC`; an ISO 8601 text or milliseconds since the epoch. */
export function timeWords(time: string | number): string {
  const at = new Date(time);
  const clock = at.toISOString().slice(11, 16);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}, ${clock} UTC`;
}

/** The day of a time: `25 November 2026`. */
export function dayWords(time: string | number): string {
  return timeWords(time).split(',')[0]!;
}

/** A count with its noun: `1 minute`, `12 minutes`. */
export function countWords(count: number, noun: string): string {
  return `${count.toLocaleString('en-GB')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A duration in its two largest units: `2 hours 5 minutes`; less than a minute counts as one. */
export function durationWords(milliseconds: number): string {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  const parts = [
    { count: Math.floor(minutes / 1_440), noun: 'day' },
    { count: Math.floor(minutes / 60) % 24, noun: 'hour' },
    { count: minutes % 60, noun: 'minute' },
  ];
  const first = parts.findIndex(({ count }) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ count, noun }) => countWords(count, noun))
    .join(' ');
}

/**
 * Text of others as part of one line: control characters, line ends and the marks that turn the direction of text become
 * spaces, so that it cannot look like lines of ours.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069\s]+/gu, ' ').trim();
}

/** Names in a sentence: `a`, `a and b`, `a, b and 3 more`. */
export function listWords(names: readonly string[], most = 3): string {
  if (names.length > most) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
