/**
 * Detects includes of servers and of caches: `detectInclude` for `@detectInclude`. Reads the directives of server-side
 * includes (Apache mod_include, nginx ngx_http_ssi_module) and the elements of Edge Side Includes (W3C note ESI 1.0).
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isAlphanumeric, isSpace } from '../octets/latin1.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const INCLUDE_KINDS = KIND.angle;
/** The length in octets of the shortest value that is detected: `<!--esi`. */
export const SHORTEST_INCLUDE = 7;
/** Texts (`Detector.triggers`): the beginnings of a comment and of an element. */
export const INCLUDE_TRIGGERS = ['<!--', '<esi:', '</esi:'];

/** Directives of server-side includes, and what each is. */
const DIRECTIVES: ReadonlyMap<string, string> = new Map([
  ['exec', 'server-side include that runs a command'],
  ['include', 'server-side include of a file'],
  ['fsize', 'server-side include of a file'],
  ['flastmod', 'server-side include of a file'],
  ['echo', 'server-side include of a variable'],
  ['printenv', 'server-side include of a variable'],
  ['config', 'server-side include'],
  ['set', 'server-side include'],
  ['block', 'server-side include'],
]);

/** Elements of Edge Side Includes. */
const ELEMENTS: ReadonlySet<string> = new Set(
  'include inline debug vars remove try choose comment text assign eval function'.split(' '),
);

/** The most white space before a directive. */
const LONGEST_SPACE = 64;
const LONGEST_NAME = 16;

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectInclude(value: string): string | null {
  for (let at = value.indexOf('<'); at >= 0; at = value.indexOf('<', at + 1)) {
    const found = includeAt(value, at);
    if (found !== null) return found;
  }
  return null;
}

function includeAt(value: string, at: number): string | null {
  if (value.charCodeAt(at + 1) === 0x21)
    return value.startsWith('--', at + 2) ? commentAt(value, at + 4) : null;
  const head = value.slice(at + 1, at + 6).toLowerCase();
  const tag = head.startsWith('/') ? head.slice(1) : head.slice(0, 4);
  if (tag !== 'esi:') return null;
  return ELEMENTS.has(nameAt(value, at + (head.startsWith('/') ? 6 : 5))) ? 'edge-side include' : null;
}

/** Judges what follows `<!--`: `esi`, or `#` and a directive. */
function commentAt(value: string, at: number): string | null {
  if (nameAt(value, at) === 'esi') return 'edge-side include';
  let next = at;
  while (next - at < LONGEST_SPACE && isSpace(value.charCodeAt(next))) next++;
  if (value.charCodeAt(next) !== 0x23) return null;
  next++;
  while (next - at < LONGEST_SPACE && isSpace(value.charCodeAt(next))) next++;
  return DIRECTIVES.get(nameAt(value, next)) ?? null;
}

/** The name at `at`, in lower case. */
function nameAt(value: string, at: number): string {
  let end = at;
  while (end - at < LONGEST_NAME && isAlphanumeric(value.charCodeAt(end))) end++;
  return value.slice(at, end).toLowerCase();
}
