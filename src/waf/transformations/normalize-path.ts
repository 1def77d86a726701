import { latin1Text, scratchOctets } from '../octets/latin1.ts';

const SLASH = 47;
const DOT = 46;

/**
 * A path without empty and `.` segments and with `..` taken back, never above the root; a path without leading slash
 * keeps the `..` that lead out of it. A slash at the end stays if one was there: `/a/..` becomes nothing, as in
 * ModSecurity. (There a segment that merely ends in two dots is taken back too; here it is a name like any other.)
 */
export function normalizePath(value: string): string {
  if (value.indexOf('/.') < 0 && value.indexOf('//') < 0 && value.charCodeAt(0) !== DOT) return value;
  const octets = scratchOctets(value.length + 1);
  const root = value.charCodeAt(0) === SLASH ? 1 : 0;
  /** What lies before `floor` is never taken back: the root, and `..` that lead out. */
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

function segmentKind(value: string, start: number, end: number): 'here' | 'up' | 'name' {
  if (end === start) return 'here';
  if (value.charCodeAt(start) !== DOT) return 'name';
  if (end - start === 1) return 'here';
  return end - start === 2 && value.charCodeAt(start + 1) === DOT ? 'up' : 'name';
}

/** Where the last segment, with the slash before it, starts. */
function lastSegment(octets: Uint8Array, floor: number, count: number): number {
  let at = count - 1;
  while (at > floor && octets[at] !== SLASH) at--;
  return at;
}

function withEnd(path: string, { root, trailing }: { root: number; trailing: boolean }): string {
  if (path.length === root) return root === 1 && trailing ? '/' : '';
  return trailing ? `${path}/` : path;
}
