/** Transformations of paths and command lines to the form that file systems and shells read. */
import { latin1Text, scratchOctets } from '../octets/latin1.ts';

const SLASH = 47;
const DOT = 46;

/**
 * Removes empty segments, `.` segments, and `..` segments together with the segment before. `..` at the root is removed;
 * in a path without leading slash, leading `..` segments stay. A slash at the end stays; as in ModSecurity, `/a/..`
 * becomes the empty text. One deviation: a segment that only ends in two dots (`a..`) is an ordinary name here.
 */
export function normalizePath(value: string): string {
  if (value.indexOf('/.') < 0 && value.indexOf('//') < 0 && value.charCodeAt(0) !== DOT) return value;
  const octets = scratchOctets(value.length + 1);
  const root = value.charCodeAt(0) === SLASH ? 1 : 0;
  /** Octets before `floor` are never removed again: the root, and leading `..` segments. */
  let floor = root;
  let count = root;
  octets[0] = SLASH;
  for (let start = 0, end = 0; start < value.length; start = end + 1) {
    end = value.indexOf('/', start);
    if (end < 0) end = value.length;
    const kind = segmentKind(value, start, end);
    if (kind === 'here') continue;
    if (kind === 'up' && count > floor) {
      count = lastSegment(octets, floor, count);
      continue;
    }
    if (kind === 'up' && root === 1) continue;
    if (count > root) octets[count++] = SLASH;
    for (let at = start; at < end; at++) octets[count++] = value.charCodeAt(at);
    if (kind === 'up') floor = count;
  }
  return withEnd(latin1Text(octets, 0, count), { root, trailing: value.endsWith('/') });
}

/** The kind of the segment from `start` to `end`: empty or `.`; `..`; any other name. */
function segmentKind(value: string, start: number, end: number): 'here' | 'up' | 'name' {
  if (end === start) return 'here';
  if (value.charCodeAt(start) !== DOT) return 'name';
  if (end - start === 1) return 'here';
  return end - start === 2 && value.charCodeAt(start + 1) === DOT ? 'up' : 'name';
}

/** The start of the last segment, including the slash before it. */
function lastSegment(octets: Uint8Array, floor: number, count: number): number {
  let at = count - 1;
  while (at > floor && octets[at] !== SLASH) at--;
  return at;
}

function withEnd(path: string, { root, trailing }: { root: number; trailing: boolean }): string {
  if (path.length === root) return root === 1 && trailing ? '/' : '';
  return trailing ? `${path}/` : path;
}

/** Converts every `\` to `/`, then normalises as `normalizePath` does. */
export function normalizePathWin(value: string): string {
  return normalizePath(value.indexOf('\\') < 0 ? value : value.replaceAll('\\', '/'));
}

// The transformation `cmdLine`: undoes what shells ignore in a command line, so that `c^at "/etc"/passwd` and
// `cat /etc/passwd` look alike to a rule.

/** Classes of octets: copied; removed; counts as a space. */
const COPIED = 0;
const DROPPED = 1;
const SPACE = 2;
/** Removes the space before it: `/` and `(`. */
const TIGHT = 3;
/** Becomes lower case. */
const UPPER = 4;

/** By octet, its class. */
const CLASS = classTable();

function classTable(): Uint8Array {
  const table = new Uint8Array(256);
  for (const mark of '"\'\\^') table[mark.charCodeAt(0)] = DROPPED;
  for (const mark of ' ,;\t\r\n') table[mark.charCodeAt(0)] = SPACE;
  for (const mark of '/(') table[mark.charCodeAt(0)] = TIGHT;
  for (let code = 65; code <= 90; code++) table[code] = UPPER;
  return table;
}

/**
 * Removes `"`, `'`, `\` and `^`; replaces runs of white space, commas and semicolons by one space; removes a space before
 * `/` or `(`; converts ASCII letters to lower case.
 */
export function cmdLine(value: string): string {
  let at = 0;
  while (at < value.length && !changesAt(value, at)) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  let spaced = false;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    const kind = CLASS[code]!;
    if (kind === DROPPED) continue;
    if (kind === SPACE) {
      if (!spaced) octets[count++] = 32;
      spaced = true;
      continue;
    }
    if (kind === TIGHT && spaced) count--;
    octets[count++] = kind === UPPER ? code | 32 : code;
    spaced = false;
  }
  return latin1Text(octets, 0, count);
}

/** Whether the transformation changes the octet at `at`, given that it changes none before it. */
function changesAt(value: string, at: number): boolean {
  const code = value.charCodeAt(at);
  const kind = CLASS[code]!;
  if (kind === COPIED || kind === TIGHT) return false;
  if (code !== 32) return true;
  const next = at + 1 < value.length ? CLASS[value.charCodeAt(at + 1)]! : COPIED;
  return next === SPACE || next === TIGHT;
}
