/** Words of letters: times, durations, counts and lists as people write them, links, and text that a person wrote. */

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

// Text that a person wrote, for letters: paragraphs, lists and excerpts keep their lines. In: any text. Out: blocks of clean
// lines, which `render.ts` and the feed show.

/** A paragraph or an excerpt. */
export interface WrittenBlock {
  /** `prose`: its lines may be wrapped; `excerpt`: they have a fixed width and stay as they are. */
  readonly kind: 'prose' | 'excerpt';
  readonly lines: readonly string[];
}

/** A line that begins or ends an excerpt (CommonMark §4.5, fenced code blocks). */
const FENCE = /^ {0,3}```/;
/** The indent that makes a line an excerpt (CommonMark §4.4, indented code blocks). */
const INDENT = '    ';

/**
 * One line of others, with its blanks: control characters and the marks that turn the direction of text become spaces, so
 * that the line stays one line and reads in its own order.
 */
export function cleanLine(text: string): string {
  return text
    .replaceAll('\t', INDENT)
    .replaceAll(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, ' ')
    .trimEnd();
}

/** A block whose lines are still being read. */
interface OpenBlock {
  kind: WrittenBlock['kind'];
  readonly lines: string[];
}

/**
 * Reads a text. An excerpt is between fences, or indented by four blanks outside of a list, or a table by blanks; a blank line
 * ends a block.
 */
export function readWritten(text: string): readonly WrittenBlock[] {
  const blocks: OpenBlock[] = [];
  let fenced = false;
  let last: OpenBlock | null = null;
  for (const line of text.split(/\r\n|[\n\r\u2028\u2029]/).map(cleanLine)) {
    const isFence = FENCE.test(line);
    if (isFence) fenced = !fenced;
    if (isFence || (line === '' && !fenced)) {
      last = null;
      continue;
    }
    // An indented line that continues a paragraph or an item of a list is a part of it.
    const isExcerpt: boolean = fenced || (last?.kind !== 'prose' && line.startsWith(INDENT));
    const kind = isExcerpt ? 'excerpt' : 'prose';
    const block: OpenBlock = last?.kind === kind ? last : { kind, lines: [] };
    if (block !== last) blocks.push(block);
    block.lines.push(line);
    last = block;
  }
  return blocks.map(({ kind, lines }) => ({ kind: isTable(lines) ? 'excerpt' : kind, lines }));
}

/** Whether all lines have columns: blanks in a row between their words. */
function isTable(lines: readonly string[]): boolean {
  return lines.length > 1 && lines.every((line) => line.trim().includes('  '));
}

// Links in messages: the operator's public URL, with the name of the domain where the URL has `{domain}`.

const PLACE = '{domain}';

/** What is wrong with a public URL; `null`: nothing. */
export function judgePublicUrl(text: string): string | null {
  const plain = text.replaceAll(PLACE, 'example.com');
  const isUrl = URL.canParse(plain) && /^https?:$/.test(new URL(plain).protocol);
  return isUrl ? null : 'write https://panel.example.net, or https://panel.example.net/domains/{domain}';
}

/** The link of a message; without a domain, the part of the URL before `{domain}`. */
export function linkTo(publicUrl: string, domain: string | null): string {
  if (domain !== null) return publicUrl.replaceAll(PLACE, encodeURIComponent(domain));
  const at = publicUrl.indexOf(PLACE);
  return at < 0 ? publicUrl : publicUrl.slice(0, at);
}
