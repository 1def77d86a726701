/** Numbers of autonomous systems (RFC 6793), as numbers and as texts. */
import { MAX_ASN } from '../vocabulary/limits.ts';

/** Whether a value is the number of an autonomous system; 0 is reserved (RFC 7607). */
export function isAsn(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_ASN;
}

/** The number in a text of digits (asplain, RFC 5396), also with `AS` before it; `null`: the text is no such number. */
export function parseAsn(text: string): number | null {
  const [, digits = ''] = /^(?:AS)?([0-9]{1,10})$/i.exec(text) ?? [];
  const number = Number(digits);
  return isAsn(number) ? number : null;
}
