/**
 * The operators of SecLang that test one value and need no automaton: `(value, argument) => boolean` over Latin-1 text.
 * `true` means that the operator matches; for those named `validate…`, as in libmodsecurity 3, that the value is invalid.
 * Macros in arguments are expanded already. Arguments that need parsing are parsed once: numbers by `numberOf`, addresses
 * by `prepareIpMatch`, octets by `prepareByteRange`.
 */
import type {
  WAF_NUMBER_OPERATORS,
  WAF_PLAIN_OPERATORS,
  WAF_TEXT_OPERATORS,
} from '../../plan/signature-program.ts';
import { beginsWith } from './begins-with.ts';
import { contains } from './contains.ts';
import { containsWord } from './contains-word.ts';
import { endsWith } from './ends-with.ts';
import { eq, ge, gt, le, lt } from './numbers.ts';
import { streq } from './streq.ts';
import { validateUrlEncoding } from './validate-url-encoding.ts';
import { validateUtf8Encoding } from './validate-utf8-encoding.ts';
import { within } from './within.ts';

export { ipMatch, prepareIpMatch } from './ip-match.ts';
export { numberOf } from './numbers.ts';
export { prepareByteRange, validateByteRange } from './validate-byte-range.ts';

type NumberOperator = (typeof WAF_NUMBER_OPERATORS)[number];
type TextOperator = (typeof WAF_TEXT_OPERATORS)[number];
type PlainOperator = Exclude<(typeof WAF_PLAIN_OPERATORS)[number], 'detectSQLi' | 'detectXSS'>;

/** Operators that compare the value, as a number, with a number. */
export const NUMBER_OPERATORS: Readonly<
  Record<NumberOperator, (value: string, argument: number) => boolean>
> = { eq, ge, gt, le, lt };

/** Operators that compare the value with a text. */
export const TEXT_OPERATORS: Readonly<Record<TextOperator, (value: string, argument: string) => boolean>> = {
  streq,
  contains,
  containsWord,
  beginsWith,
  endsWith,
  strmatch: contains,
  within,
};

/** Operators without an argument, except `@detectSQLi` and `@detectXSS`, which are the room `engine/waf/detectors`. */
export const PLAIN_OPERATORS: Readonly<Record<PlainOperator, (value: string) => boolean>> = {
  noMatch: () => false,
  unconditionalMatch: () => true,
  validateUrlEncoding,
  validateUtf8Encoding,
};
