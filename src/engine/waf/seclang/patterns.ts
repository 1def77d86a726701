/**
 * Compiles patterns, each once: its DFA or guard, the literals of which every match contains one, and the kinds of
 * octets that every match contains.
 */
import { kindsNeeded } from '../../../base/regex/cover.ts';
import { buildDfa, type DfaLimits } from '../../../base/regex/dfa.ts';
import type { OctetRanges, Program } from '../../../base/regex/program.ts';
import { captureGroups, coveringLiterals, parsePattern } from '../../../base/regex/regex.ts';
import type { BacktrackProgram, WafPattern } from '../../plan/signature-program.ts';
import { startMeter } from '../octets/meter.ts';
import { backtrackSearch } from '../patterns/backtrack.ts';
import { backtrackerOf } from '../patterns/backtracker.ts';
import type { DirectivePlace } from './draft.ts';
import { approximate } from './pcre-approximate.ts';
import { compilePcre } from './pcre-compile.ts';
import { type ParsedPcre, parsePcre } from './pcre-parse.ts';
import { translatePattern } from './pcre-translate.ts';
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
  readonly intern: (written: string, how: SignaturePatternUse) => number;
}

/** The use of a pattern. */
export interface SignaturePatternUse {
  readonly ignoreCase: boolean;
  readonly place: RulePlace;
  /** Whether the pattern selects names or tags, which are matched without step budget: it must have an automaton. */
  readonly selects: boolean;
}

/** A pattern of a signature. */
export interface SignaturePattern {
  /** In RE2 syntax; with `backtrack`, in PCRE syntax. */
  readonly source: string;
  readonly ignoreCase: boolean;
  /** For automata; with `backtrack`, the program of a simpler pattern that matches at least the same texts. */
  readonly program: Program;
  /** `null`: an automaton matches the pattern. */
  readonly backtrack: BacktrackProgram | null;
}

/** A parsed pattern, or the reason why it is refused. */
export type SignaturePatternResult =
  | { readonly ok: true; readonly pattern: SignaturePattern }
  | { readonly ok: false; readonly reason: string };

/** Matches every pattern that may have to be searched by backtracking, and few others. */
const MAY_BACKTRACK = /\(\?(?:<?[=!]|>|P=)|\\[1-9gkRZ]|[*+?}]\+/;

/** Parses a pattern in PCRE syntax: as one in RE2 syntax if it can be one, since automata match those faster. */
export function signaturePattern(written: string, ignoreCase: boolean): SignaturePatternResult {
  if (written.length > MAX_SIGNATURE_PATTERN) {
    const reason = `the pattern is ${written.length} characters long, at most ${MAX_SIGNATURE_PATTERN} are allowed`;
    return { ok: false, reason };
  }
  if (MAY_BACKTRACK.test(written)) {
    const read = parsePcre(written, ignoreCase);
    if (read.ok && read.parsed.backtracks) return backtrackingPattern(written, ignoreCase, read.parsed);
  }
  const { source, ignoreCase: flagged } = translatePattern(written);
  const folds = ignoreCase || flagged;
  const parsed = parsePattern(source, { ignoreCase: folds, characters: Number.POSITIVE_INFINITY });
  if (parsed.ok) {
    return {
      ok: true,
      pattern: { source, ignoreCase: folds, program: parsed.pattern.program, backtrack: null },
    };
  }
  // The reason of the parser names what PCRE has and edgeplan does not support.
  const read = parsePcre(written, ignoreCase);
  return read.ok ? parsed : read;
}

function backtrackingPattern(
  source: string,
  ignoreCase: boolean,
  parsed: ParsedPcre,
): SignaturePatternResult {
  const compiled = compilePcre(parsed);
  if (!compiled.ok) return compiled;
  const { program: backtrack } = compiled;
  return { ok: true, pattern: { source, ignoreCase, program: approximate(backtrack), backtrack } };
}

/** Maximum number of steps for a text that is known when the rules are compiled: 20 ms. */
const MAX_STEPS = 10_000_000;

/** Whether a pattern matches anywhere in a text; `null`: to find out takes more than `MAX_STEPS`. */
export function matchesText(
  { source, ignoreCase, backtrack }: SignaturePattern,
  text: string,
): boolean | null {
  if (backtrack === null) return captureGroups(source, ignoreCase, text) !== null;
  const meter = startMeter(MAX_STEPS);
  const subject = { octets: Uint8Array.from(text, (octet) => octet.charCodeAt(0)), length: text.length };
  const found = backtrackSearch(backtrackerOf(backtrack), subject, { meter, captures: false });
  return meter.left < 0 ? null : found !== null;
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
    intern: (written, { ignoreCase, place, selects }) => {
      const key = `${ignoreCase ? 'i' : 'c'}${written}`;
      const known = numbers.get(key);
      const refused = selects && known !== undefined && patterns[known]?.backtrack !== undefined;
      if (known !== undefined && !refused) return known;
      const read = signaturePattern(written, ignoreCase);
      if (!read.ok || (selects && read.pattern.backtrack !== null)) {
        report.error('pattern', place, {
          message: `rule ${place.rule}: ${read.ok ? NEEDS_VALUES : read.reason}`,
          found: written,
          remedy: remedyFor(place.rule),
        });
        if (!refused) numbers.set(key, 0);
        return 0;
      }
      const { source, ignoreCase: folds, program, backtrack } = read.pattern;
      const { dfa, guard, required, needed } = compilePattern(program);
      const number = patterns.length;
      patterns.push({
        source,
        ignoreCase: folds,
        dotAll: true,
        dfa,
        ...(guard === null ? {} : { guard }),
        required: required?.map((literal) => addLiteral(literal)) ?? null,
        ...(backtrack === null ? {} : { backtrack }),
        needed,
      });
      numbers.set(key, number);
      return number;
    },
  };
}

/** Why a pattern without automaton selects no names. */
const NEEDS_VALUES =
  'look-around, backreferences, atomic groups and possessive quantifiers are supported in `@rx` only, not in patterns of names and tags';

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
