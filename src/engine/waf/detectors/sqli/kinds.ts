/**
 * The kinds and flags of tokens. A kind is the character code of its letter in a fingerprint (N. Galbreath,
 * "libinjection", Black Hat USA 2012), so that kinds fit typed arrays.
 */

/** k: a keyword of a clause (`FROM`, `WHERE`, `LIMIT`). */
export const KEYWORD = 0x6b;
/** U: a set operation (`UNION`, `INTERSECT`, `EXCEPT`, `MINUS`). */
export const UNION = 0x55;
/** B: `GROUP BY` and `ORDER BY`. */
export const GROUPING = 0x42;
/** E: the verb of a statement or expression that queries or changes rows (`SELECT`, `UPDATE`, `CASE`). */
export const EXPRESSION = 0x45;
/** T: the verb of any other statement (`DROP`, `EXEC`, `WAITFOR`). */
export const STATEMENT = 0x54;
/** t: a type or a character set (`VARCHAR`, `_UTF8`). */
export const TYPE = 0x74;
/** f: the name of a built-in function. */
export const FUNCTION = 0x66;
/** n: a name: a word outside the vocabulary, or a keyword that is also a frequent name. */
export const BAREWORD = 0x6e;
/** 1: a number, `TRUE`, `FALSE`. */
export const NUMBER = 0x31;
/** v: a variable (`@x`, `@@version`), `NULL`, or a value without brackets (`CURRENT_USER`). */
export const VARIABLE = 0x76;
/** s: a string. */
export const STRING = 0x73;
/** o: an operator by sign or word (`=`, `LIKE`, `NOT`). */
export const OPERATOR = 0x6f;
/** &: a logical connective (`AND`, `OR`, `&&`). */
export const LOGIC = 0x26;
/** A: `COLLATE`. */
export const COLLATE = 0x41;
/** c: a comment. */
export const COMMENT = 0x63;
/** `(` */
export const OPEN = 0x28;
/** `)` */
export const CLOSE = 0x29;
/** {: of an ODBC escape (`{d '2020-01-01'}`), which MySQL accepts. */
export const OPEN_BRACE = 0x7b;
/** `}` */
export const CLOSE_BRACE = 0x7d;
/** . outside a name or number. */
export const DOT = 0x2e;
/** `,` */
export const COMMA = 0x2c;
/** `:` */
export const COLON = 0x3a;
/** `;` */
export const SEMICOLON = 0x3b;
/** \: T-SQL accepts it as a number without digits. */
export const BACKSLASH = 0x5c;
/** ?: any other character. */
export const OTHER = 0x3f;
/** A conditional comment of MySQL or a nested comment: ordinary text has none, and dialects disagree on it. */
export const EVIL = 0x58; // X

/** Flag: an operator that can be a sign. */
export const UNARY = 1;
/** Flag: an operator of arithmetic. */
export const ARITHMETIC = 2;
/** Flag: a quoted token whose opening quote is in the value, not assumed before it. */
export const OPENED = 4;
/** Flag: a quoted token whose closing quote is in the value. */
export const CLOSED = 8;
/** Flag: a token in backquotes. */
export const TICK = 16;
/** Flag: the quotes are empty. */
export const EMPTY = 32;
/** Flag: there is no white space before the token. */
export const ADJACENT = 64;
