/**
 * The parts a token can play, as the letters a fingerprint is written with (N. Galbreath, "libinjection", Black Hat USA
 * 2012). Kinds are character codes so that tokens fit typed arrays.
 */

export const KEYWORD = 0x6b; // k
export const UNION = 0x55; // U
export const GROUPING = 0x42; // B: GROUP BY, ORDER BY
export const EXPRESSION = 0x45; // E: a statement or expression that queries or changes rows
export const STATEMENT = 0x54; // T: any other statement verb
export const TYPE = 0x74; // t
export const FUNCTION = 0x66; // f
export const BAREWORD = 0x6e; // n
export const NUMBER = 0x31; // 1
export const VARIABLE = 0x76; // v
export const STRING = 0x73; // s
export const OPERATOR = 0x6f; // o
export const LOGIC = 0x26; // &
export const COLLATE = 0x41; // A
export const COMMENT = 0x63; // c
export const OPEN = 0x28; // (
export const CLOSE = 0x29; // )
export const OPEN_BRACE = 0x7b; // {
export const CLOSE_BRACE = 0x7d; // }
export const DOT = 0x2e; // .
export const COMMA = 0x2c; // ,
export const COLON = 0x3a; // :
export const SEMICOLON = 0x3b; // ;
export const BACKSLASH = 0x5c; // \
export const OTHER = 0x3f; // ?
/** What no ordinary text has and dialects read differently: a MySQL conditional or a nested comment. */
export const EVIL = 0x58; // X

/** What the tokenizer says about one token besides its kind. */
export const UNARY = 1;
export const ARITHMETIC = 2;
/** A quoted token whose opening quote stands in the value (rather than being supposed before it). */
export const OPENED = 4;
/** A quoted token whose closing quote stands in the value. */
export const CLOSED = 8;
export const TICK = 16;
/** Nothing stands between the quotes. */
export const EMPTY = 32;
/** No space stands between this token and the one before it. */
export const ADJACENT = 64;
