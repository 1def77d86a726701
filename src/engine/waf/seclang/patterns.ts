/**
 * Compiles patterns, each once: its DFA or guard, the literals of which every match contains one, and the kinds of
 * octets that every match contains.
 */
import { kindsNeeded } from '../../../base/regex/cover.ts';
import { buildDfa, type DfaLimits } from '../../../base/regex/dfa.ts';
import type { OctetRanges, Program } from '../../../base/regex/program.ts';
import { coveringLiterals, type Pattern, parsePattern } from '../../../base/regex/regex.ts';
import type { WafPattern } from '../../plan/signature-program.ts';
import type { DirectivePlace } from './draft.ts';
import type { SecLangReport } from './source.ts';

/** Maximum length, in characters, of a pattern; the longest of the Core Rule Set has 21,000. */
const MAX_SIGNATURE_PATTERN = 65_536;
/**
 * The limits of one pattern's DFA, whose table has 16-bit words and thus at most 65,535 of them. Patterns beyond
 * 3,000 states mostly grow exponentially: of the 255 of the Core Rule Set 224 fit, and with twice as many states
 * 227.
 */
const SIGNATURE_DFA_LIMITS: DfaLimits = {
  states: 3_000,
  octets: 131_072,
  steps: 20_000_000,
  /** What 16 bits can address. Ordinary text rarely leads beyond the states of a guard. */
  guard: 60_000,
};
/**
 * Maximum number of literals of which a pattern requires one; the longest lists of the Core Rule Set name 1,500
 * functions.
 */
const MAX_REQUIRED_LITERALS = 2_000;
/**
 * Maximum share of positions in ordinary text at which such a literal may begin; above it, the search excludes too few
 * values.
 */
const MAX_REQUIRED_SHARE = 0.05;

/** The place of a pattern, and the id of its rule. */
export interface RulePlace extends DirectivePlace {
  /** For a chain, the id of its first link. */
  readonly rule: number;
}

/** The patterns of a program, by number. */
export interface PatternTable {
  /** By number. */
  readonly patterns: readonly WafPattern[];
  /**
   * Returns the number of a pattern in PCRE syntax; compiles it if it is new. 0 after an error, which is reported
   * once.
   */
  readonly intern: (
    written: string,
    how: { readonly ignoreCase: boolean; readonly place: RulePlace },
  ) => number;
}

/** A parsed pattern, or the reason why it is refused. */
export type SignaturePattern =
  | { readonly ok: true; readonly pattern: Pattern; readonly loosened: string | null }
  | { readonly ok: false; readonly reason: string };

/** Parses a pattern in PCRE syntax. */
export function signaturePattern(written: string, ignoreCase: boolean): SignaturePattern {
  const { source, ignoreCase: flagged, loosened } = translatePattern(written);
  const parsed = parsePattern(source, {
    ignoreCase: ignoreCase || flagged,
    characters: MAX_SIGNATURE_PATTERN,
  });
  return parsed.ok ? { ...parsed, loosened } : parsed;
}

/** Creates an empty table; `addLiteral` returns the number of a literal. */
export function createPatternTable(
  report: SecLangReport,
  addLiteral: (literal: string) => number,
): PatternTable {
  const patterns: WafPattern[] = [];
  const numbers = new Map<string, number>();
  return {
    patterns,
    intern: (written, { ignoreCase, place }) => {
      const key = `${ignoreCase ? 'i' : 'c'}${written}`;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      const read = signaturePattern(written, ignoreCase);
      if (!read.ok) {
        report.error('pattern', place, {
          message: `rule ${place.rule}: ${read.reason}`,
          found: written,
          remedy: remedyFor(place.rule),
        });
        numbers.set(key, 0);
        return 0;
      }
      if (read.loosened !== null) {
        const message =
          'this is compiled as an ordinary quantifier or group: the pattern may match more than in PCRE';
        report.warn('pattern_loosened', place, { message, found: read.loosened });
      }
      const { source, ignoreCase: folds } = read.pattern;
      const { dfa, guard, required, needed } = compilePattern(read.pattern.program);
      const number = patterns.length;
      patterns.push({
        source,
        ignoreCase: folds,
        dotAll: true,
        dfa,
        ...(guard === null ? {} : { guard }),
        required: required?.map((literal) => addLiteral(literal)) ?? null,
        needed,
      });
      numbers.set(key, number);
      return number;
    },
  };
}

/** The compiled parts of a `WafPattern`. */
interface CompiledPattern {
  /** `null`: the DFA exceeds `SIGNATURE_DFA_LIMITS`. */
  readonly dfa: Uint16Array | null;
  /** The DFA of a simpler pattern; `null`: there is a DFA, or the guard too exceeds its limits. */
  readonly guard: Uint16Array | null;
  /** Literals of which every match contains one, without case; `null`: none, or too many. */
  readonly required: readonly string[] | null;
  /** Kinds of octets of which every match contains one (`base/octets/octet-kinds.ts`); -1: none. */
  readonly needed: number;
}

/** Compiles a parsed pattern: with a DFA, or with a guard if the DFA exceeds its limits. */
export function compilePattern(program: Program): CompiledPattern {
  const clipped = withinLatin1(program);
  const cover = { last: LAST_OCTET, most: MAX_REQUIRED_LITERALS, share: MAX_REQUIRED_SHARE };
  const required = coveringLiterals(clipped, cover);
  const needed = kindsNeeded(clipped);
  const built = buildDfa(clipped, SIGNATURE_DFA_LIMITS);
  return built.ok
    ? { dfa: built.table, guard: null, required, needed }
    : { dfa: null, guard: built.guard, required, needed };
}

/** The last character of Latin-1. */
const LAST_OCTET = 0xff;

/** Removes code points above Latin-1 from a program: no text has them, and they would only add classes. */
export function withinLatin1({ start, instructions }: Program): Program {
  // Instructions with equal ranges share one array; the alphabet relies on this identity.
  const clipped = new Map<OctetRanges, OctetRanges>();
  const clip = (ranges: OctetRanges): OctetRanges => {
    let known = clipped.get(ranges);
    if (known === undefined) {
      const inRange: number[] = [];
      for (let i = 0; i < ranges.length && ranges[i]! <= LAST_OCTET; i += 2) {
        inRange.push(ranges[i]!, Math.min(ranges[i + 1]!, LAST_OCTET));
      }
      known = inRange;
      clipped.set(ranges, known);
    }
    return known;
  };
  return {
    start,
    instructions: instructions.map((instruction) => {
      if (instruction.kind !== 'character') return instruction;
      const ranges = clip(instruction.ranges);
      return ranges.length === 0 ? { kind: 'fail' } : { ...instruction, ranges };
    }),
  };
}

/** The remedy of a pattern that is refused. */
function remedyFor(rule: number): string {
  return `write the pattern without it, or leave the rule out: \`edgeplan waf compile --without ${rule}\`, or \`SecRuleRemoveById ${rule}\` in the rules`;
}

// Translates PCRE syntax to RE2 syntax if both have a feature with different notation (pcre2pattern(3);
// https://github.com/google/re2/wiki/Syntax). ModSecurity 2 compiles with DOTALL and DOLLAR_ENDONLY, which is RE2
// with `s` and without `m`. Features that RE2 lacks are left as they are, and the parser refuses them.

/** A translated pattern. */
export interface TranslatedPattern {
  /** The pattern in RE2 syntax. */
  readonly source: string;
  /** Whether the pattern began with `(?i)`, which is removed. */
  readonly ignoreCase: boolean;
  /** The first possessive quantifier or atomic group, which became an ordinary one; `null`: there is none. */
  readonly loosened: string | null;
}

/** Classes as ranges of code points. PCRE's `\s` includes the vertical tab since 8.34, RE2's does not. */
const SPACE = '\\x09-\\x0d\\x20';
/** PCRE's `\S`. */
const NOT_SPACE = '\\x00-\\x08\\x0e-\\x1f\\x21-\\x{10ffff}';
/** PCRE's `\h` and `\H`, horizontal white space, within Latin-1. */
const HORIZONTAL = '\\x09\\x20\\xa0';
const NOT_HORIZONTAL = '\\x00-\\x08\\x0a-\\x1f\\x21-\\x9f\\xa1-\\x{10ffff}';
/** PCRE's `\v` and `\V`, vertical white space, within Latin-1. */
const VERTICAL = '\\x0a-\\x0d\\x85';
const NOT_VERTICAL = '\\x00-\\x09\\x0e-\\x84\\x86-\\x{10ffff}';

/** By letter of an escape for a class, the ranges of the class. */
const CLASSES: Readonly<Record<string, string>> = {
  s: SPACE,
  S: NOT_SPACE,
  h: HORIZONTAL,
  H: NOT_HORIZONTAL,
  v: VERTICAL,
  V: NOT_VERTICAL,
};

/** By letter of an escape for one character in PCRE only, its notation in RE2. */
const CHARACTERS: Readonly<Record<string, string>> = { e: '\\x1b' };

/** Letters with a meaning after a backslash; PCRE accepts any other letter as itself. */
const MEANINGFUL = /[abdfnrtwxzABCDEGKNPQRUWXZgklpuoc]/;

/** A possessive quantifier. */
const POSSESSIVE = /^(?:[*+?]|\{\d+(?:,\d*)?\})\+/;
/** The start of an atomic group. */
const ATOMIC = '(?>';

/** Translates a pattern. */
export function translatePattern(written: string): TranslatedPattern {
  const flags = /^(?:\(\?[is]+\))+/.exec(written)?.[0] ?? '';
  const rest = written.slice(flags.length);
  let source = '';
  let loosened: string | null = null;
  for (let at = 0; at < rest.length; ) {
    const piece = pieceAt(rest, at);
    source += piece.text;
    if (piece.loosened) loosened ??= rest.slice(at, piece.end);
    at = piece.end;
  }
  return { source, ignoreCase: flags.includes('i'), loosened };
}

/** A translated piece and the end of its original. */
interface Piece {
  readonly text: string;
  readonly end: number;
  /** Whether the piece was a possessive quantifier or atomic group. */
  readonly loosened: boolean;
}

/** Translates the piece at `at`: an escape, a class, a quantifier, or one character. */
function pieceAt(pattern: string, at: number): Piece {
  const character = pattern[at]!;
  if (character === '\\' && at + 1 < pattern.length) {
    return { text: translateEscape(pattern[at + 1]!, false), end: at + 2, loosened: false };
  }
  if (character === '[') return { ...translateClass(pattern, at), loosened: false };
  if (pattern.startsWith(ATOMIC, at)) return { text: '(?:', end: at + ATOMIC.length, loosened: true };
  const possessive = POSSESSIVE.exec(pattern.slice(at, at + 16))?.[0];
  if (possessive !== undefined) {
    return { text: possessive.slice(0, -1), end: at + possessive.length, loosened: true };
  }
  return { text: character, end: at + 1, loosened: false };
}

/** Translates a bracketed class; in it, `[` and a leading `]` are ordinary characters. */
function translateClass(pattern: string, from: number): { readonly text: string; readonly end: number } {
  const opening = /^\[\^?\]?/.exec(pattern.slice(from, from + 3))![0];
  let text = opening.endsWith(']') ? `${opening.slice(0, -1)}\\]` : opening;
  let at = from + opening.length;
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    const character = pattern[at]!;
    const named = character === '[' ? /^\[:\^?[a-z]+:\]/.exec(pattern.slice(at, at + 16))?.[0] : undefined;
    if (character === '\\' && at + 1 < pattern.length) {
      at++;
      text += translateEscape(pattern[at]!, true);
    } else if (named !== undefined) {
      at += named.length - 1;
      text += named;
    } else {
      text += character === '[' ? '\\[' : character;
    }
  }
  return at < pattern.length ? { text: `${text}]`, end: at + 1 } : { text, end: at };
}

/** Translates the escape of a letter, inside a class or outside. */
function translateEscape(letter: string, inClass: boolean): string {
  const members = CLASSES[letter];
  if (members !== undefined) return inClass ? members : `[${members}]`;
  const character = CHARACTERS[letter];
  if (character !== undefined) return character;
  if (/[A-Za-z]/.test(letter) && !MEANINGFUL.test(letter)) return letter;
  return `\\${letter}`;
}
