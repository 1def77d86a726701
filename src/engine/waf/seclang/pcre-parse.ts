/**
 * Parses a pattern in PCRE syntax (pcre2pattern(3)) with the options with which ModSecurity 2 compiles: octets, no UTF,
 * `PCRE_DOTALL` and `PCRE_DOLLAR_ENDONLY`. Only ASCII letters have a case. In: a pattern. Out: its syntax tree, or the
 * reason why it is refused.
 */
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from '../../../base/regex/program.ts';
import { classOctets, type OctetSet, octetSet, withBothCases } from './pcre-classes.ts';

/** A node of the syntax tree. */
export type PcreNode =
  | { readonly kind: 'octet'; readonly set: OctetSet }
  | { readonly kind: 'assert'; readonly flags: number }
  | { readonly kind: 'sequence'; readonly parts: readonly PcreNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PcreNode[] }
  /** A capturing group. */
  | { readonly kind: 'group'; readonly number: number; readonly body: PcreNode }
  | {
      readonly kind: 'repeat';
      readonly body: PcreNode;
      readonly least: number;
      /** `Infinity`: any number. */
      readonly most: number;
      readonly lazy: boolean;
    }
  /** An atomic group; a possessive quantifier is one around its repeat. */
  | { readonly kind: 'atomic'; readonly body: PcreNode }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negative: boolean; readonly body: PcreNode }
  /** A backreference to a group by number or name. */
  | { readonly kind: 'reference'; readonly group: number | string; readonly ignoreCase: boolean };

/** A parsed pattern. */
export interface ParsedPcre {
  readonly root: PcreNode;
  /** Capturing groups, without the whole match. */
  readonly groups: number;
  /** The numbers of named groups. */
  readonly names: ReadonlyMap<string, number>;
  /** Whether it has look-around, a backreference, an atomic group or a possessive quantifier. */
  readonly backtracks: boolean;
}

/** A parsed pattern, or the reason why it is refused. */
export type PcreResult =
  | { readonly ok: true; readonly parsed: ParsedPcre }
  | { readonly ok: false; readonly reason: string };

/** Maximum depth of groups: that of PCRE (`parens_nest_limit`). */
const MAX_DEPTH = 250;
/** Maximum number of repeats in a quantifier, as in PCRE. */
const MAX_REPEATS = 65_535;

/** Options that a pattern switches with `(?i)`. */
interface Options {
  /** `i`: letters match without case. */
  readonly ignoreCase: boolean;
  /** `m`: `^` and `$` match at lines. */
  readonly lines: boolean;
  /** `s`: `.` matches a line feed. */
  readonly dotAll: boolean;
  /** `x`: white space and comments are ignored. */
  readonly extended: boolean;
  /** `U`: quantifiers are lazy, and greedy with `?`. */
  readonly ungreedy: boolean;
}

/** A pattern in progress. */
interface Parser {
  readonly text: string;
  at: number;
  groups: number;
  readonly names: Map<string, number>;
  /** The groups that backreferences name, with the place of the first. */
  readonly references: Map<number | string, string>;
  depth: number;
  backtracks: boolean;
  /** Inside `\Q…\E`. */
  quoted: boolean;
  /** The first mistake. */
  reason: string | null;
}

const EMPTY: PcreNode = { kind: 'sequence', parts: [] };
const ANY = octetSet([0, 0xff]);
const ANY_BUT_LINE_FEED = octetSet([0, 9, 11, 0xff]);

/** Parses a pattern. */
export function parsePcre(text: string, ignoreCase: boolean): PcreResult {
  const parser: Parser = {
    text,
    at: 0,
    groups: 0,
    names: new Map(),
    references: new Map(),
    depth: 0,
    backtracks: false,
    quoted: false,
    reason: null,
  };
  const options = { ignoreCase, lines: false, dotAll: true, extended: false, ungreedy: false };
  const root = parseChoice(parser, options);
  if (parser.reason === null && parser.at < text.length) refuse(parser, 'unexpected `)`');
  const { groups, names, backtracks, references } = parser;
  for (const [group, written] of references) {
    const known = typeof group === 'number' ? group >= 1 && group <= groups : names.has(group);
    if (!known) refuse(parser, `the backreference names no group: \`${written}\``);
  }
  const { reason } = parser;
  return reason === null ? { ok: true, parsed: { root, groups, names, backtracks } } : { ok: false, reason };
}

/** Records the first mistake and goes to the end of the pattern. */
function refuse(parser: Parser, reason: string): PcreNode {
  parser.reason ??= reason;
  parser.at = parser.text.length;
  return EMPTY;
}

/** Reads what a sticky expression matches at the present place; `null`: it does not match. */
function take(parser: Parser, expression: RegExp): RegExpExecArray | null {
  expression.lastIndex = parser.at;
  const found = expression.exec(parser.text);
  if (found !== null) parser.at = expression.lastIndex;
  return found;
}

/** Options alone in parentheses, which hold until the group ends. */
const SWITCH = /\(\?([imsxU]*)(?:-([imsxU]*))?\)/y;
/** Options before the body of a group. */
const SWITCHED_GROUP = /\(\?([imsxU]*)(?:-([imsxU]*))?:/y;
const IGNORED = /[\t-\r ]+|#[^\n]*/y;
const COMMENT = /\(\?#[^)]*\)/y;
const END_OF_QUOTE = /\\E/y;

/** Parses alternatives up to the end of their group or of the pattern. */
function parseChoice(parser: Parser, from: Options): PcreNode {
  let options = from;
  const choices: PcreNode[] = [];
  let parts: PcreNode[] = [];
  while (parser.at < parser.text.length) {
    if (take(parser, END_OF_QUOTE) !== null) {
      parser.quoted = false;
      continue;
    }
    if (!parser.quoted) {
      if (parser.text[parser.at] === ')') break;
      if (take(parser, COMMENT) !== null) continue;
      if (options.extended && take(parser, IGNORED) !== null) continue;
      const switched = take(parser, SWITCH);
      if (switched !== null) {
        options = switchOptions(options, switched);
        continue;
      }
      if (parser.text[parser.at] === '|') {
        parser.at++;
        choices.push(sequenceOf(parts));
        parts = [];
        continue;
      }
      if (parser.text.startsWith('\\Q', parser.at)) {
        parser.at += 2;
        parser.quoted = true;
        continue;
      }
    }
    parts.push(parseRepeats(parser, parseAtom(parser, options), options));
  }
  choices.push(sequenceOf(parts));
  return choices.length === 1 ? choices[0]! : { kind: 'choice', options: choices };
}

function sequenceOf(parts: readonly PcreNode[]): PcreNode {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

/** Switches the letters of the first group on and of the second off. */
function switchOptions(options: Options, [, on = '', off = '']: RegExpExecArray): Options {
  const after = (letter: string, before: boolean): boolean =>
    !off.includes(letter) && (before || on.includes(letter));
  return {
    ignoreCase: after('i', options.ignoreCase),
    lines: after('m', options.lines),
    dotAll: after('s', options.dotAll),
    extended: after('x', options.extended),
    ungreedy: after('U', options.ungreedy),
  };
}

const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})([+?]?)/y;

/** Reads the quantifier after an atom. */
function parseRepeats(parser: Parser, atom: PcreNode, { extended, ungreedy }: Options): PcreNode {
  if (take(parser, END_OF_QUOTE) !== null) parser.quoted = false;
  if (parser.quoted) return atom;
  while (take(parser, COMMENT) !== null || (extended && take(parser, IGNORED) !== null));
  const found = take(parser, QUANTIFIER);
  if (found === null) return atom;
  const [written, sign, low = '', comma, high = '', mode] = found;
  const least = sign === undefined ? Number(low) : sign === '+' ? 1 : 0;
  const bounded = comma === undefined ? least : high === '' ? Number.POSITIVE_INFINITY : Number(high);
  const most = sign === undefined ? bounded : sign === '?' ? 1 : Number.POSITIVE_INFINITY;
  if (least > most) return refuse(parser, `the numbers of the quantifier are out of order: \`${written}\``);
  if (least > MAX_REPEATS || (most > MAX_REPEATS && most !== Number.POSITIVE_INFINITY)) {
    return refuse(parser, `a quantifier has at most ${MAX_REPEATS}: \`${written}\``);
  }
  const lazy = mode === '+' ? false : (mode === '?') !== ungreedy;
  const repeat: PcreNode = { kind: 'repeat', body: atom, least, most, lazy };
  if (mode !== '+') return repeat;
  parser.backtracks = true;
  return { kind: 'atomic', body: repeat };
}

const REPEAT_AT_START = /[*+?]|\{\d+(?:,\d*)?\}/y;

/** Parses one atom. */
function parseAtom(parser: Parser, options: Options): PcreNode {
  const { text, at } = parser;
  const character = text[at]!;
  if (parser.quoted) return literal(parser, options);
  switch (character) {
    case '(':
      return parseGroup(parser, options);
    case '[':
      return parseClass(parser, options);
    case '\\':
      return parseEscape(parser, options);
    case '.':
      parser.at++;
      return { kind: 'octet', set: options.dotAll ? ANY : ANY_BUT_LINE_FEED };
    case '^':
      parser.at++;
      return { kind: 'assert', flags: options.lines ? BEGIN_LINE : BEGIN_TEXT };
    case '$':
      parser.at++;
      return { kind: 'assert', flags: options.lines ? END_LINE : END_TEXT };
    default: {
      const repeat = take(parser, REPEAT_AT_START);
      if (repeat !== null) return refuse(parser, `nothing to repeat: \`${repeat[0]}\``);
      return literal(parser, options);
    }
  }
}

/** Reads one character as itself. */
function literal(parser: Parser, options: Options): PcreNode {
  const code = parser.text.charCodeAt(parser.at++);
  return octet(code, options);
}

function octet(code: number, { ignoreCase }: Options): PcreNode {
  // A text has octets only: a larger character matches none.
  const ranges = code > 0xff ? [] : [code, code];
  return { kind: 'octet', set: octetSet(ignoreCase ? withBothCases(ranges) : ranges) };
}

function parseClass(parser: Parser, { ignoreCase }: Options): PcreNode {
  const found = classOctets(parser.text, parser.at, ignoreCase);
  if (!found.ok) return refuse(parser, found.reason);
  parser.at = found.end;
  return { kind: 'octet', set: found.set };
}

const LOOK = /\(\?(<?)([=!])/y;
const ATOMIC = /\(\?>/y;
const NAMED = /\(\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/y;
const NAMED_REFERENCE = /\(\?P=([A-Za-z_]\w*)\)/y;
const PLAIN = /\((?![?*])/y;

/** By the start of what has no equivalent, its name; the first that matches. */
const UNSUPPORTED: readonly { readonly start: RegExp; readonly name: string }[] = [
  { start: /\(\?(?:R|[+-]?\d+|&\w*|P>\w*)\)?/y, name: 'recursion is' },
  { start: /\(\?\(/y, name: 'conditional groups are' },
  { start: /\(\?C[^)]*\)?/y, name: 'callouts are' },
  { start: /\(\?\|/y, name: 'groups that reset their numbers are' },
  { start: /\(\*[^)]*\)?/y, name: 'verbs are' },
  { start: /\(\?.?/y, name: 'this kind of group is' },
];

/** Parses a group and what else begins with a parenthesis. */
function parseGroup(parser: Parser, options: Options): PcreNode {
  const look = take(parser, LOOK);
  if (look !== null) {
    parser.backtracks = true;
    const [, behind, sign] = look;
    const body = parseBody(parser, options);
    return { kind: 'look', behind: behind === '<', negative: sign === '!', body };
  }
  if (take(parser, ATOMIC) !== null) {
    parser.backtracks = true;
    return { kind: 'atomic', body: parseBody(parser, options) };
  }
  const switched = take(parser, SWITCHED_GROUP);
  if (switched !== null) return parseBody(parser, switchOptions(options, switched));
  const named = take(parser, NAMED);
  if (named !== null || take(parser, PLAIN) !== null) {
    const number = ++parser.groups;
    const name = named?.[1] ?? named?.[2];
    if (name !== undefined) {
      if (parser.names.has(name)) return refuse(parser, `two groups have the name \`${name}\``);
      parser.names.set(name, number);
    }
    return { kind: 'group', number, body: parseBody(parser, options) };
  }
  const reference = take(parser, NAMED_REFERENCE);
  if (reference !== null) return referTo(parser, reference[1]!, { written: reference[0], options });
  for (const { start, name } of UNSUPPORTED) {
    const found = take(parser, start);
    if (found !== null) return refuse(parser, `${name} not supported: \`${found[0]}\``);
  }
  return refuse(parser, 'missing `)`');
}

/** Parses alternatives and the parenthesis that closes them. */
function parseBody(parser: Parser, options: Options): PcreNode {
  if (parser.depth === MAX_DEPTH) return refuse(parser, `groups are nested more than ${MAX_DEPTH} deep`);
  parser.depth++;
  const body = parseChoice(parser, options);
  parser.depth--;
  if (parser.text[parser.at] !== ')') return refuse(parser, 'missing `)`');
  parser.at++;
  return body;
}

/** A backreference; whether its group exists is checked at the end, since the group may follow. */
function referTo(
  parser: Parser,
  group: number | string,
  { written, options }: { readonly written: string; readonly options: Options },
): PcreNode {
  parser.backtracks = true;
  if (!parser.references.has(group)) parser.references.set(group, written);
  return { kind: 'reference', group, ignoreCase: options.ignoreCase };
}

const NUMBER_REFERENCE = /\\(?:g(?:\{([+-]?\d+)\}|([+-]?\d+))|([1-9]\d*))/y;
const NAME_REFERENCE = /\\(?:g\{([A-Za-z_]\w*)\}|k(?:\{([A-Za-z_]\w*)\}|<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'))/y;
const OCTAL = /\\(?:o\{([0-7]+)\}|(0[0-7]{0,2}|[1-7][0-7]{0,2}))/y;
const HEXADECIMAL = /\\x(?:\{([\da-fA-F]+)\}|([\da-fA-F]{0,2}))/y;
const CONTROL = /\\c([ -~])/y;
const CLASS_ESCAPE = /\\(?:[dDwWsShHvVN]|[pP](?:\{\^?\w+\}|[A-Z]))/y;
const UNSUPPORTED_ESCAPE = /\\(?:[KXlLuU]|g(?:<[^>]*>?|'[^']*'?)?|k|[89]|$)/y;

/** By letter, an assertion. */
const ASSERTIONS: Readonly<Record<string, number>> = {
  b: WORD_BOUNDARY,
  B: NO_WORD_BOUNDARY,
  A: BEGIN_TEXT,
  z: END_TEXT,
  // A search begins at the start of the text.
  G: BEGIN_TEXT,
};

/** By letter, the code of a character. */
const CODES: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, e: 27 };

/** Parses an escape. */
function parseEscape(parser: Parser, options: Options): PcreNode {
  const reference = parseReference(parser, options);
  if (reference !== null) return reference;
  const code = parseCode(parser);
  if (code !== null) return octet(code, options);
  const named = take(parser, CLASS_ESCAPE);
  if (named !== null) {
    if (named[0] === '\\N') return { kind: 'octet', set: ANY_BUT_LINE_FEED };
    const found = classOctets(`[${named[0]}]`, 0, false);
    return found.ok ? { kind: 'octet', set: found.set } : refuse(parser, found.reason);
  }
  const refused = take(parser, UNSUPPORTED_ESCAPE);
  if (refused !== null) return refuse(parser, `this escape is not supported: \`${refused[0]}\``);
  const letter = parser.text[parser.at + 1]!;
  parser.at += 2;
  const flags = ASSERTIONS[letter];
  if (flags !== undefined) return { kind: 'assert', flags };
  if (letter === 'C') return { kind: 'octet', set: ANY };
  if (letter === 'Z' || letter === 'R') {
    parser.backtracks = true;
    return letter === 'Z' ? END_OR_LAST_LINE_FEED : LINE_BREAK;
  }
  return octet(CODES[letter] ?? letter.charCodeAt(0), options);
}

/** A backreference by number or name; `null`: the escape is something else. */
function parseReference(parser: Parser, options: Options): PcreNode | null {
  const { at } = parser;
  const name = take(parser, NAME_REFERENCE);
  if (name !== null) {
    return referTo(parser, (name[1] ?? name[2] ?? name[3] ?? name[4])!, { written: name[0], options });
  }
  const found = take(parser, NUMBER_REFERENCE);
  if (found === null) return null;
  const [written, braced, bare, digits] = found;
  if (digits !== undefined) {
    const group = Number(digits);
    // Otherwise octal, as PCRE reads it.
    if (group < 10 || group <= parser.groups) return referTo(parser, group, { written, options });
    parser.at = at;
    return null;
  }
  const number = (braced ?? bare)!;
  const relative = number.startsWith('-') ? parser.groups + 1 : number.startsWith('+') ? parser.groups : 0;
  return referTo(parser, relative + Number(number), { written, options });
}

/** The code of an escaped character; `null`: the escape is something else. */
function parseCode(parser: Parser): number | null {
  const octal = take(parser, OCTAL);
  if (octal !== null) return Number.parseInt(octal[1] ?? octal[2]!, 8);
  const hexadecimal = take(parser, HEXADECIMAL);
  if (hexadecimal !== null) {
    const digits = hexadecimal[1] ?? hexadecimal[2]!;
    return digits === '' ? 0 : Number.parseInt(digits, 16);
  }
  const control = take(parser, CONTROL);
  return control === null ? null : control[1]!.toUpperCase().charCodeAt(0) ^ 0x40;
}

function single(code: number): PcreNode {
  return { kind: 'octet', set: octetSet([code, code]) };
}

/** `\Z`: the end of the text, or the place before a line feed that ends it. */
const END_OR_LAST_LINE_FEED: PcreNode = {
  kind: 'look',
  behind: false,
  negative: false,
  body: {
    kind: 'sequence',
    parts: [
      { kind: 'repeat', body: single(10), least: 0, most: 1, lazy: false },
      { kind: 'assert', flags: END_TEXT },
    ],
  },
};

/** `\R`: a line break. */
const LINE_BREAK: PcreNode = {
  kind: 'atomic',
  body: {
    kind: 'choice',
    options: [
      { kind: 'sequence', parts: [single(13), single(10)] },
      { kind: 'octet', set: octetSet([10, 13, 0x85, 0x85]) },
    ],
  },
};
