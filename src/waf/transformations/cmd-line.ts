import { latin1Text, scratchOctets } from '../octets/latin1.ts';

/** What becomes of an octet on a command line. */
const KEPT = 0;
const DROPPED = 1;
const SPACE = 2;
/** Swallows the space before it: `/` and `(`. */
const TIGHT = 3;
const UPPER = 4;

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
 * A command line the way a shell reads it, so that quoting hides nothing: `"`, `'`, `\` and `^` go, runs of white
 * space, commas and semicolons become one space, a space before `/` or `(` goes, letters become lower case.
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

function changesAt(value: string, at: number): boolean {
  const code = value.charCodeAt(at);
  const kind = CLASS[code]!;
  if (kind === KEPT || kind === TIGHT) return false;
  if (code !== 32) return true;
  const next = at + 1 < value.length ? CLASS[value.charCodeAt(at + 1)]! : KEPT;
  return next === SPACE || next === TIGHT;
}
