/**
 * Segments of paths that are obviously values: numbers, UUIDs, dates, hashes and random tokens. In: a canonical path. Out: the path
 * with each of them replaced by its kind, so that counts of paths neither grow with identifiers nor contain them.
 */

/** What a segment obviously is. `token`: a random or prefixed identifier, or an e-mail address. */
export const SEGMENT_KINDS = ['integer', 'uuid', 'date', 'hash', 'token'] as const;
/** One of SEGMENT_KINDS. */
export type SegmentKind = (typeof SEGMENT_KINDS)[number];

/** Segments of a path that is generalized, at most: paths of APIs have some ten. */
export const MAX_SEGMENTS = 32;
/** Maximum length, in characters, of a path that is generalized: each request without an operation takes the time of it. */
export const MAX_GENERALIZED = 2_048;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** A date, or a date with a time (RFC 3339 §5.6). */
const DATE = /^\d{4}-\d{2}-\d{2}(?:T[0-9:.,]{4,18}(?:Z|[+-]\d{2}:\d{2})?)?$/;
/** Identifiers of the kind `INV-20311`. */
const NUMBERED = /^[A-Za-z]{1,5}[-_]\d{3,}$/;
/** Identifiers of the kind `cus_9s6XKzkNRiz8i3`. */
const PREFIXED = /^[A-Za-z]{2,8}_[0-9A-Za-z]{8,}$/;
const TOKEN = /^[0-9A-Za-z_~.=-]+$/;

/** Characters of the longest segment that may be a word, such as `recommendations-for-visitors`. */
const LONG = 20;
/** Digits of a long segment that is a token, at least: `2fa-recovery-code-settings` has one. */
const DIGITS_OF_LONG = 2;
/** Characters of a short token, and its changes from letters to digits and back, at least: `v1alpha12` has three. */
const SHORT = 8;
const CHANGES_OF_SHORT = 4;
/** Hexadecimal digits of a hash with letters and digits, at least, and of one without digits: as a CRC-32 and a short SHA-1 have. */
const HASH = 8;
const HASH_OF_LETTERS = 16;

/** A name with an extension, such as `20311.json`. */
const EXTENDED = /^([^.]+)(\.[a-z]{2,5})$/;

/** What a segment is; `null`: text. One digit is text: `2` in `/api/2/issues` is a version. */
export function segmentKind(segment: string): SegmentKind | null {
  const { length } = segment;
  if (length < 2) return null;
  const { digits, hexadecimal, changes } = charactersOf(segment);
  if (digits === length) return 'integer';
  if (length === 36 && UUID.test(segment)) return 'uuid';
  if (digits >= HASH && DATE.test(segment)) return 'date';
  if (hexadecimal === length && length >= (digits > 0 ? HASH : HASH_OF_LETTERS)) return 'hash';
  const isToken =
    NUMBERED.test(segment) ||
    isAddress(segment) ||
    (PREFIXED.test(segment) && (digits > 0 || hasMixedCase(segment))) ||
    (TOKEN.test(segment) &&
      ((length >= LONG && digits >= DIGITS_OF_LONG) || (length >= SHORT && changes >= CHANGES_OF_SHORT)));
  return isToken ? 'token' : null;
}

/** Counts of a segment's characters. */
interface Characters {
  readonly digits: number;
  readonly hexadecimal: number;
  /** Places where a digit follows a letter, or a letter a digit. */
  readonly changes: number;
}

function charactersOf(segment: string): Characters {
  let digits = 0;
  let hexadecimal = 0;
  let changes = 0;
  let before = 0;
  for (let at = 0; at < segment.length; at++) {
    const code = segment.charCodeAt(at);
    const isDigit = code >= 0x30 && code <= 0x39;
    const lower = code | 0x20;
    const now = isDigit ? 1 : lower >= 0x61 && lower <= 0x7a ? 2 : 0;
    if (isDigit) digits++;
    if (isDigit || (lower >= 0x61 && lower <= 0x66)) hexadecimal++;
    if (now !== before && now !== 0 && before !== 0) changes++;
    before = now;
  }
  return { digits, hexadecimal, changes };
}

/**
 * Whether a prefixed identifier without digits, such as `cus_NffrFeUfNVHibQ`, has two capitals and later a small letter. Words with an
 * underscore have one case, or capitals at their beginnings.
 */
function hasMixedCase(segment: string): boolean {
  const name = segment.slice(segment.indexOf('_') + 1);
  const capitals = name.search(/[A-Z]{2}/);
  return capitals >= 0 && /[a-z]/.test(name.slice(capitals + 2));
}

/** Whether a segment looks like an e-mail address; `@me` is a word of some APIs. */
function isAddress(segment: string): boolean {
  const at = segment.indexOf('@');
  return at > 0 && segment.indexOf('.', at) > at + 1 && segment.indexOf('@', at + 1) < 0;
}

/** The segment that a kind is written as, such as `{uuid}`. */
export function kindText(kind: SegmentKind): string {
  return `{${kind}}`;
}

const KIND_BY_TEXT: ReadonlyMap<string, SegmentKind> = new Map(
  SEGMENT_KINDS.map((kind) => [kindText(kind), kind]),
);

/** A segment of a generalized path that has a value. */
export interface ValueSegment {
  readonly kind: SegmentKind;
  /** What follows it, such as `.json`; empty: nothing. */
  readonly extension: string;
}

/** The value of a segment of a generalized path; `null`: it is text. */
export function valueOfText(segment: string): ValueSegment | null {
  const end = segment.indexOf('}') + 1;
  const kind = KIND_BY_TEXT.get(segment.slice(0, end));
  return kind === undefined ? null : { kind, extension: segment.slice(end) };
}

/** Index of the first segment: a path begins with a slash. */
const FIRST = 1;

/** A segment with its value replaced by its kind: `{integer}`, `{integer}.json`. The first one may be a version: `/2010-04-01`. */
function generalize(segment: string, index: number): string {
  const kind = segmentKind(segment);
  if (kind === 'date' && index <= FIRST) return segment;
  if (kind !== null) return kindText(kind);
  const [, name = '', extension = ''] = EXTENDED.exec(segment) ?? [];
  const kindOfName = segmentKind(name);
  return kindOfName === null ? segment : `${kindText(kindOfName)}${extension}`;
}

/**
 * A canonical path with each obvious value replaced by its kind: `/orders/{integer}`. `null`: the path has braces, a `;` or too many
 * segments, or is too long, and no template is made of it.
 */
export function generalizePath(path: string): string | null {
  if (path.length > MAX_GENERALIZED || /[{};]/.test(path)) return null;
  const segments = path.split('/');
  if (segments.length > MAX_SEGMENTS + 1) return null;
  return segments.map(generalize).join('/');
}
