/**
 * The operators of SecLang that look at one value and need no automaton: `(value, argument) => boolean` over Latin-1
 * text, true when the operator holds (for those named `validate…`: when the value is invalid), as libmodsecurity 3 has
 * them. Arguments come expanded, and prepared once where that is worth while: numbers by `numberOf`, addresses by
 * `prepareIpMatch`, octets by `prepareByteRange`.
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

export const NUMBER_OPERATORS: Readonly<
  Record<NumberOperator, (value: string, argument: number) => boolean>
> = { eq, ge, gt, le, lt };

export const TEXT_OPERATORS: Readonly<Record<TextOperator, (value: string, argument: string) => boolean>> = {
  streq,
  contains,
  containsWord,
  beginsWith,
  endsWith,
  strmatch: contains,
  within,
};

/** The two detectors, which need tables of their own, are not among these. */
export const PLAIN_OPERATORS: Readonly<Record<PlainOperator, (value: string) => boolean>> = {
  noMatch: () => false,
  unconditionalMatch: () => true,
  validateUrlEncoding,
  validateUtf8Encoding,
};
