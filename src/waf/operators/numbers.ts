import { isDigit, isSpace } from '../octets/latin1.ts';

/** `@eq` and its kin, over whole numbers; an argument is prepared with `numberOf`. */

const MINUS = 45;
const PLUS = 43;

/**
 * The whole number that a text begins with, after white space; 0 where there is none. Beyond what is exact in a number
 * (2⁵³) it stays there: ModSecurity's own limits (2³¹ in `@eq`, 2⁶³ elsewhere) differ between operators.
 */
export function numberOf(text: string): number {
  let at = 0;
  while (isSpace(text.charCodeAt(at))) at++;
  const sign = text.charCodeAt(at);
  if (sign === MINUS || sign === PLUS) at++;
  let number = 0;
  for (; isDigit(text.charCodeAt(at)); at++) {
    number = Math.min(number * 10 + text.charCodeAt(at) - 48, Number.MAX_SAFE_INTEGER);
  }
  return sign === MINUS && number > 0 ? -number : number;
}

/** The value is the number. */
export function eq(value: string, argument: number): boolean {
  return numberOf(value) === argument;
}

/** The value is the number or greater. */
export function ge(value: string, argument: number): boolean {
  return numberOf(value) >= argument;
}

/** The value is greater. */
export function gt(value: string, argument: number): boolean {
  return numberOf(value) > argument;
}

/** The value is the number or less. */
export function le(value: string, argument: number): boolean {
  return numberOf(value) <= argument;
}

/** The value is less. */
export function lt(value: string, argument: number): boolean {
  return numberOf(value) < argument;
}
