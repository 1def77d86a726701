/** Transformations of white space, NUL octets and letter case, and the length of a text. */
import { isSpace, isUpper, latin1Text, scratchOctets } from '../octets/latin1.ts';

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

/** Converts ASCII letters to upper case; octets above 127 stay. */
export function uppercase(value: string): string {
  let at = 0;
  while (at < value.length && !isLower(value.charCodeAt(at))) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    octets[index] = isLower(code) ? code - 32 : code;
  }
  return latin1Text(octets, 0, value.length);
}

function isLower(code: number): boolean {
  return code > 96 && isUpper(code - 32);
}

// The transformation `length`: replaces the value by its length in octets, in decimal.

export function length(value: string): string {
  return String(value.length);
}

// Transformations of white space and NUL octets.

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

/**
 * Removes white space. As in libmodsecurity 3, also the octets of a no-break space in Latin-1 (0xA0) and in UTF-8
 * (0xC2 0xA0); 0xC2 wherever it occurs.
 */
export function removeWhitespace(value: string): string {
  return dropOctets(value, isRemoved);
}

function isRemoved(code: number): boolean {
  return isSpace(code) || code === 0xa0 || code === 0xc2;
}

/** Removes white space at both ends. */
export function trim(value: string): string {
  return trimRight(trimLeft(value));
}

/** Removes white space at the start. */
export function trimLeft(value: string): string {
  let from = 0;
  while (from < value.length && isSpace(value.charCodeAt(from))) from++;
  return from === 0 ? value : value.slice(from);
}

/** Removes white space at the end. */
export function trimRight(value: string): string {
  let to = value.length;
  while (to > 0 && isSpace(value.charCodeAt(to - 1))) to--;
  return to === value.length ? value : value.slice(0, to);
}

/** Removes NUL octets. */
export function removeNulls(value: string): string {
  return value.indexOf('\0') < 0 ? value : dropOctets(value, isNull);
}

function isNull(code: number): boolean {
  return code === 0;
}

// The transformation `replaceNulls`: replaces each NUL octet by a space.

export function replaceNulls(value: string): string {
  return value.indexOf('\0') < 0 ? value : value.replaceAll('\0', ' ');
}

// Removal of single octets, for `removeNulls` and `removeWhitespace`.

/** Removes the octets for which `isDropped` is true; returns the same string if there are none. */
function dropOctets(value: string, isDropped: (code: number) => boolean): string {
  let at = 0;
  while (at < value.length && !isDropped(value.charCodeAt(at))) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  for (let index = at + 1; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (!isDropped(code)) octets[count++] = code;
  }
  return value.slice(0, at) + latin1Text(octets, 0, count);
}
