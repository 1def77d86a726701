/** The transformation `compressWhitespace`. */
import { isSpace, latin1Text, scratchOctets } from '../octets/latin1.ts';

/** Replaces every run of white space by one space. As in libmodsecurity 3, a no-break space (0xA0) is not white space. */
export function compressWhitespace(value: string): string {
  let at = 0;
  while (at < value.length && (value.charCodeAt(at) > 32 || !changesAt(value, at))) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  let inRun = false;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    const space = isSpace(code);
    if (!space || !inRun) octets[count++] = space ? 32 : code;
    inRun = space;
  }
  return latin1Text(octets, 0, count);
}

/** Whether white space at `at` is not a single space. */
function changesAt(value: string, at: number): boolean {
  const code = value.charCodeAt(at);
  return isSpace(code) && (code !== 32 || isSpace(value.charCodeAt(at + 1)));
}
