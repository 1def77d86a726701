/** The transformation `normalizePath`: removes dot segments and empty segments from a path. */
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
