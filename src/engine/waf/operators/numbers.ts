/** The operators `@eq`, `@ge`, `@gt`, `@le` and `@lt` over whole numbers; their argument is parsed with `numberOf`. */
import { isDigit, isSpace } from '../octets/latin1.ts';

const MINUS = 45;
const PLUS = 43;

/**
 * Parses the whole number at the start of a text, after white space (C's `atoi`); 0: the text does not start with one.
 * Larger numbers become ±(2⁵³ - 1). ModSecurity's own limits differ between operators (2³¹ in `@eq`, 2⁶³ in others).
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

/** `@eq`: the value equals the argument. */
export function eq(value: string, argument: number): boolean {
  return numberOf(value) === argument;
}

/** `@ge`: the value is greater than the argument or equal. */
export function ge(value: string, argument: number): boolean {
  return numberOf(value) >= argument;
}

/** `@gt`: the value is greater than the argument. */
export function gt(value: string, argument: number): boolean {
  return numberOf(value) > argument;
}

/** `@le`: the value is less than the argument or equal. */
export function le(value: string, argument: number): boolean {
  return numberOf(value) <= argument;
}

/** `@lt`: the value is less than the argument. */
export function lt(value: string, argument: number): boolean {
  return numberOf(value) < argument;
}
