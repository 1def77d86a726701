/**
 * Detects path traversal: `detectPath` for `@detectPath`. The value is read as file systems and lenient decoders read a
 * path: dots and separators in every spelling, control characters skipped, parameters of segments left out. What a step
 * up reaches decides: a private file, the outside of any document root, or a step that only an evasion is written for.
 * Sources: Microsoft MS00-078 and MS00-086 (lenient UTF-8 and hexadecimal digits), Apache Tomcat's path parameters, the
 * manual of dotdotpwn.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isAlphanumeric, isSpace } from '../octets/latin1.ts';
import { isPrivateFile } from './path/private-files.ts';

/** The length in octets of the shortest path that is detected. */
export const SHORTEST_PATH = 4;
/** Every separator has an octet of these kinds. */
export const PATH_KINDS = KIND.slash | KIND.backslash | KIND.digit | KIND.percent | KIND.high;
/** Texts (`Detector.triggers`): a dot and another one, or a control character that is skipped; any dot that is spelled. */
export const PATH_TRIGGERS = [
  ...['..', '.?', '?.', '??', '0x', '%', '\xc0', '\xc1'],
  ...Array.from({ length: 32 }, (_, code) => code)
    .filter((code) => !isSpace(code))
    .flatMap((code) => [`.${String.fromCharCode(code)}`, `?${String.fromCharCode(code)}`]),
];

/** What a unit of a path is: the end of the path; a character of a name; a dot; a separator; nothing at all. */
const END = 0;
const NAME = 1;
const DOT = 2;
const SEPARATOR = 3;
const IGNORED = 4;

/** How a unit is spelled: as every client does; in a way that text has, too; as only an evasion does. */
const PLAIN = 0;
const DOUBTFUL = 1;
const EVASIVE = 2;

/**
 * A unit as one number: its kind, its spelling, and the place after it.
 * PERF: an object would be an allocation for each character.
 */
function unitOf(kind: number, spelling: number, end: number): number {
  return kind | (spelling << 3) | (end << 5);
}

function kindOf(unit: number): number {
  return unit & 7;
}

function spellingOf(unit: number): number {
  return (unit >> 3) & 3;
}

function endOf(unit: number): number {
  return unit >>> 5;
}

/** Reads the unit at `at`. */
function readUnit(text: string, at: number): number {
  if (at >= text.length) return unitOf(END, PLAIN, at);
  const code = text.charCodeAt(at);
  if (code === 0x2e) return unitOf(DOT, PLAIN, at + 1);
  if (code === 0x2f || code === 0x5c) return unitOf(SEPARATOR, PLAIN, at + 1);
  // Windows reads a question mark in a pattern as a dot, too.
  if (code === 0x3f) return unitOf(DOT, DOUBTFUL, at + 1);
  if (code === 0x30) return readHexLiteral(text, at);
  if (code === 0x25 || code >= 0xc0) return readLenient(text, at);
  if (isSpace(code) || '"\'<>|&'.includes(text.charAt(at))) return unitOf(END, PLAIN, at);
  if (code < 0x20) return unitOf(IGNORED, EVASIVE, at + 1);
  return unitOf(NAME, PLAIN, at + 1);
}

/** Reads `0x2e`, `0x2f` or `0x5c`; any other digit is a character of a name. */
function readHexLiteral(text: string, at: number): number {
  if ((text.charCodeAt(at + 1) | 32) === 0x78) {
    const octet = looseOctet(text, at + 2);
    if (octet === 0x2e) return unitOf(DOT, EVASIVE, at + 4);
    if (octet === 0x2f || octet === 0x5c) return unitOf(SEPARATOR, EVASIVE, at + 4);
  }
  return unitOf(NAME, PLAIN, at + 1);
}

/**
 * Reads a two-octet sequence whose first octet is C0 or C1, either octet as it is or as `%` and two loose digits. Decoders
 * that do not check the second octet take its low bits, so that many of them are a dot or a separator.
 */
function readLenient(text: string, at: number): number {
  const lead = octetAt(text, at);
  if (lead !== 0xc0 && lead !== 0xc1) return unitOf(NAME, PLAIN, at + 1);
  const second = at + widthAt(text, at);
  if (second >= text.length) return unitOf(NAME, PLAIN, at + 1);
  const end = second + widthAt(text, second);
  switch (octetAt(text, second) & 0x0f) {
    case 0x0e:
      return unitOf(DOT, EVASIVE, end);
    case 0x0c:
    case 0x0f:
      return unitOf(SEPARATOR, EVASIVE, end);
    default:
      return unitOf(NAME, PLAIN, at + 1);
  }
}

/** The octet at `at`, where a `%` and two letters or digits are one octet. */
function octetAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x25) return text.charCodeAt(at);
  const octet = looseOctet(text, at + 1);
  return octet < 0 ? 0x25 : octet;
}

function widthAt(text: string, at: number): number {
  return text.charCodeAt(at) === 0x25 && looseOctet(text, at + 1) >= 0 ? 3 : 1;
}

/** The octet of two digits as a decoder reads them that takes any letter for a digit (`%qf` is AF); -1: one of them is neither a digit nor a letter. */
function looseOctet(text: string, at: number): number {
  const high = text.charCodeAt(at);
  const low = text.charCodeAt(at + 1);
  if (!isAlphanumeric(high) || !isAlphanumeric(low)) return -1;
  return (looseDigit(high) * 16 + looseDigit(low)) & 255;
}

function looseDigit(code: number): number {
  return code >= 65 ? (code & 0xdf) - 55 : code - 48;
}

/** What a path is, as far as it was read. */
interface Steps {
  /** Steps up. */
  ups: number;
  /** The strangest spelling in a step up. */
  spelling: number;
  /** The names after the last step up, in lower case, each after a `/`. */
  names: string;
  /** The place after the path. */
  end: number;
}

/** The most characters of names that are compared. */
const LONGEST_NAMES = 96;

const steps: Steps = { ups: 0, spelling: PLAIN, names: '', end: 0 };

/** The most units of a step up that are read: dots, what decoders ignore, parameters. */
const LONGEST_STEP = 24;

/**
 * Reads the step up at `at`: two dots or more, whatever decoders ignore between them, parameters (`..;a=b`), and the
 * separator. Returns the place after it; -1: no step up begins at `at`.
 */
function stepUp(text: string, at: number): number {
  let dots = 0;
  let spelling = PLAIN;
  let rest = LONGEST_STEP;
  let unit = readUnit(text, at);
  for (; kindOf(unit) === DOT || kindOf(unit) === IGNORED; unit = readUnit(text, endOf(unit))) {
    if (kindOf(unit) === DOT) dots++;
    else if (dots === 0) return -1;
    if (--rest === 0) return -1;
    spelling = Math.max(spelling, spellingOf(unit));
  }
  if (dots < 2) return -1;
  // Filters that remove `../` once make a step of `....//`, but `C:/.../file` only leaves out names.
  if (dots > 2) spelling = Math.max(spelling, DOUBTFUL);
  // A name that begins with a semicolon is the parameter of the segment.
  if (kindOf(unit) === NAME && text.charCodeAt(endOf(unit) - 1) === 0x3b) {
    spelling = EVASIVE;
    while ((kindOf(unit) === NAME || kindOf(unit) === DOT) && --rest > 0) unit = readUnit(text, endOf(unit));
  }
  if (kindOf(unit) !== SEPARATOR) return -1;
  steps.spelling = Math.max(steps.spelling, spelling, spellingOf(unit));
  return endOf(unit);
}

/** Reads the path that begins with a step up at `at`; `false`: none does. */
function readPath(text: string, at: number): boolean {
  steps.ups = 0;
  steps.spelling = PLAIN;
  steps.names = '';
  let place = stepUp(text, at);
  if (place < 0) return false;
  steps.ups = 1;
  for (;;) {
    const next = stepUp(text, place);
    if (next >= 0) {
      steps.ups++;
      steps.names = '';
      place = next;
      continue;
    }
    const unit = readName(text, place);
    steps.end = endOf(unit);
    if (kindOf(unit) !== SEPARATOR) return true;
    place = endOf(unit);
  }
}

/** Reads one segment that is not a step up, and adds it to the names. Returns the unit that ends it. */
function readName(text: string, at: number): number {
  let name = '';
  let unit = readUnit(text, at);
  for (; kindOf(unit) !== END && kindOf(unit) !== SEPARATOR; unit = readUnit(text, endOf(unit))) {
    if (kindOf(unit) === IGNORED || steps.names.length + name.length >= LONGEST_NAMES) continue;
    name += kindOf(unit) === DOT ? '.' : text.charAt(endOf(unit) - 1);
  }
  if (name !== '' && name !== '.') steps.names += `/${name.toLowerCase()}`;
  return unit;
}

/** Whether a step up can begin at `at`: not inside a name. */
function mayBegin(text: string, at: number): boolean {
  const before = at === 0 ? 0x2f : text.charCodeAt(at - 1);
  return (
    !isAlphanumeric(before) &&
    before !== 0x2e &&
    before !== 0x3f &&
    before !== 0x5f &&
    (before | 1) !== 0xc1 &&
    before !== 0x29
  );
}

/** Steps up that no relative link of a document takes. */
const MANY = 3;

/**
 * Returns the construct found, or `null`. `value` is Latin-1: one character an octet. Takes linear time; never throws.
 */
export function detectPath(value: string): string | null {
  // A path inside of prose is not the name of a file: only the first word counts as one.
  let begun = false;
  let first = true;
  for (let at = 0; at < value.length; ) {
    const code = value.charCodeAt(at);
    if (isSpace(code)) first &&= !begun;
    else begun = true;
    if (!mayBeDot(code) || !mayBegin(value, at) || !readPath(value, at)) {
      at++;
      continue;
    }
    const found = construct(first);
    if (found !== null) return found;
    at = Math.max(at + 1, steps.end);
  }
  return null;
}

/** Whether an octet can begin a dot. */
function mayBeDot(code: number): boolean {
  return code === 0x2e || code === 0x30 || code === 0x3f || code === 0x25 || (code | 1) === 0xc1;
}

/** What is wrong with the path that was read last; `null`: nothing. */
function construct(first: boolean): string | null {
  const { ups, spelling, names } = steps;
  if (spelling === EVASIVE) return 'step up in a spelling that hides it';
  if (!first) return null;
  if (isPrivateFile(names, ups)) return 'step up to a private file';
  return ups >= MANY && !isAsset(names) ? 'steps up to the root' : null;
}

/** Extensions of what documents and modules link to. */
const ASSETS: ReadonlySet<string> = new Set(
  'css gif jpeg jpg jsx less md mjs png scss svelte svg ts tsx vue webp woff woff2'.split(' '),
);

function isAsset(names: string): boolean {
  return ASSETS.has(names.slice(names.lastIndexOf('.') + 1));
}
