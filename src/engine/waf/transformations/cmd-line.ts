/**
 * The transformation `cmdLine`: undoes what shells ignore in a command line, so that `c^at "/etc"/passwd` and
 * `cat /etc/passwd` look alike to a rule.
 */
import { latin1Text, scratchOctets } from '../octets/latin1.ts';

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
