/**
 * Numbers of JSON without rounding (RFC 8259 §6). A number of at most 15 significant digits is a `number`, since a
 * binary64 (IEEE 754) is the nearest to one such decimal alone; any other is a `Decimal`.
 */

/** `digits` × 10^`exponent`; the last digit is not 0, and 0 has the exponent 0. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
  /** Number of decimal digits of `digits`, whose conversion takes the square of it. */
  readonly length: number;
}

/** Digits up to which each decimal has a binary64 of its own. */
const EXACT_DIGITS = 15;
/** Exponents up to which these are normal numbers. */
const EXACT_EXPONENT = 200;
/** Maximum length, in characters, of a number: arithmetic takes the square of it. */
const MAX_NUMBER_CHARACTERS = 1_024;
/** Maximum exponent; a power of ten modulo a divisor takes its logarithm. */
const MAX_EXPONENT = 1_000_000;

/** The number of a text in the syntax of JSON; `null`: its digits or its exponent are beyond the bounds. */
export function readDecimal(text: string): number | Decimal | null {
  // `+ 0` makes 0 of -0, which are one number.
  if (text.length <= EXACT_DIGITS && !/e/i.test(text)) return Number(text) + 0;
  if (text.length > MAX_NUMBER_CHARACTERS) return null;
  const decimal = parseDecimal(text);
  return Math.abs(decimal.exponent) > MAX_EXPONENT ? null : exact(decimal);
}

/**
 * The value of a number: the shortest decimal of its binary64, as JSON is written of it. Of an integer with more digits than the ones
 * that a binary64 distinguishes it is the binary64 itself: the shortest decimal of -2^63 is 192 less.
 */
export function decimalOf(value: number | Decimal): Decimal {
  if (typeof value !== 'number') return value;
  return isRounded(value) ? normal(BigInt(value), 0) : parseDecimal(String(value));
}

/** Integers from here on are printed with an exponent, as they are most likely written. */
const LARGEST_PRINTED = 1e21;

/** Whether a number that was read may not be the one that was written, for an integer with too many digits. */
export function isRounded(value: number): boolean {
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= LARGEST_PRINTED)
    return false;
  return parseDecimal(String(value)).length > EXACT_DIGITS;
}

function parseDecimal(text: string): Decimal {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e');
  const point = mantissa.indexOf('.');
  const fraction = point < 0 ? '' : mantissa.slice(point + 1);
  return normal(
    BigInt(point < 0 ? mantissa : mantissa.slice(0, point) + fraction),
    Number(power) - fraction.length,
  );
}

function normal(digits: bigint, exponent: number): Decimal {
  if (digits === 0n) return { digits, exponent: 0, length: 1 };
  const text = String(digits);
  let zeros = 0;
  while (text.charCodeAt(text.length - 1 - zeros) === 48) zeros++;
  const length = text.length - zeros - (digits < 0n ? 1 : 0);
  return zeros === 0
    ? { digits, exponent, length }
    : { digits: BigInt(text.slice(0, text.length - zeros)), exponent: exponent + zeros, length };
}

/** The same number, as a `number` if it is one. */
export function exact(decimal: Decimal): number | Decimal {
  const { digits, exponent, length } = decimal;
  return length <= EXACT_DIGITS && Math.abs(exponent) <= EXACT_EXPONENT
    ? Number(`${digits}e${exponent}`)
    : decimal;
}

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compareNumbers(a: number | Decimal, b: number | Decimal): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareDecimals(decimalOf(a), decimalOf(b));
}

function compareDecimals(a: Decimal, b: Decimal): number {
  const [signA, signB] = [signOf(a), signOf(b)];
  if (signA !== signB || signA === 0) return signA - signB;
  // Without this, 1e999999 would become a million digits.
  const places = (placesOf(a) - placesOf(b)) * signA;
  if (places !== 0) return places;
  const shift = a.exponent - b.exponent;
  const left = shift > 0 ? a.digits * 10n ** BigInt(shift) : a.digits;
  const right = shift < 0 ? b.digits * 10n ** BigInt(-shift) : b.digits;
  return left < right ? -1 : left > right ? 1 : 0;
}

function signOf({ digits }: Decimal): number {
  return digits > 0n ? 1 : digits < 0n ? -1 : 0;
}

/** The place of the first digit before the point. */
function placesOf({ length, exponent }: Decimal): number {
  return length + exponent;
}

/** Whether a number has no fraction; 1.0 has none. */
export function isInteger(value: number | Decimal): boolean {
  return typeof value === 'number' ? Number.isInteger(value) : value.exponent >= 0;
}

/** Whether a number is an integer times a divisor, which is greater than 0. */
export function isMultipleOf(value: number | Decimal, divisor: number | Decimal): boolean {
  if (typeof value === 'number' && typeof divisor === 'number' && isSafe(value) && isSafe(divisor))
    return value % divisor === 0;
  const [one, of] = [decimalOf(value), decimalOf(divisor)];
  if (one.digits === 0n) return true;
  const shift = one.exponent - of.exponent;
  // The last digit is not 0, so it is no multiple of a power of ten.
  if (shift < 0) return false;
  return ((one.digits % of.digits) * powerOfTen(shift, of.digits)) % of.digits === 0n;
}

function isSafe(value: number): boolean {
  return Number.isSafeInteger(value);
}

/** 10^`exponent` modulo `modulus`, by squaring. */
function powerOfTen(exponent: number, modulus: bigint): bigint {
  let [power, square] = [1n % modulus, 10n % modulus];
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = (power * square) % modulus;
    square = (square * square) % modulus;
  }
  return power;
}

/** A text that two numbers have in common if they are equal. */
export function numberKey(value: number | Decimal): string {
  return typeof value === 'number' ? String(value) : `${value.digits}e${value.exponent}`;
}
