/** The transformation `lowercase`. */
import { isUpper, latin1Text, scratchOctets } from '../octets/latin1.ts';

/** Converts ASCII letters to lower case; octets above 127 stay. */
export function lowercase(value: string): string {
  let hasUpper = false;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code > 127) return hasUpper || hasUpperFrom(value, at) ? lowerOctets(value) : value;
    if (isUpper(code)) hasUpper = true;
  }
  return hasUpper ? value.toLowerCase() : value;
}

function hasUpperFrom(value: string, from: number): boolean {
  for (let at = from; at < value.length; at++) if (isUpper(value.charCodeAt(at))) return true;
  return false;
}

/** Converts octet by octet, since `toLowerCase` also changes letters above 127. */
function lowerOctets(value: string): string {
  const octets = scratchOctets(value.length);
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    octets[at] = isUpper(code) ? code | 32 : code;
  }
  return latin1Text(octets, 0, value.length);
}
