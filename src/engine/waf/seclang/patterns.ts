/**
 * Compiles patterns, each once: its DFA or guard, the literals of which every match contains one, and the kinds of
 * octets that every match contains.
 */
import { buildAlphabet } from '../../../base/regex/alphabet.ts';
import { buildDfa } from '../../../base/regex/dfa.ts';
import { kindsNeeded } from '../../../base/regex/possible.ts';
import type { OctetRanges, Program } from '../../../base/regex/program.ts';
import { coveringLiterals, type Pattern, parsePattern } from '../../../base/regex/regex.ts';
import type { WafPattern } from '../../plan/signature-program.ts';
import type { DirectivePlace } from './directives.ts';
import {
  MAX_GUARD_WORDS,
  MAX_REQUIRED_LITERALS,
  MAX_REQUIRED_SHARE,
  MAX_SIGNATURE_PATTERN,
  SIGNATURE_DFA_LIMITS,
} from './limits.ts';
import type { SecLangReport } from './source.ts';
import { translatePattern } from './translate-pattern.ts';

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
  if (built.ok) return { dfa: built.table, guard: null, required, needed };
  return { dfa: null, guard: buildGuard(clipped), required, needed };
}

/**
 * Builds the DFA of the states nearest to the start, in which every transition beyond them counts as a match:
 * ordinary text rarely leads there. `null`: even this exceeds the limits.
 */
function buildGuard(program: Program): Uint16Array | null {
  const states = Math.floor(MAX_GUARD_WORDS / buildAlphabet(program).classes);
  const built = buildDfa(program, { ...SIGNATURE_DFA_LIMITS, states, beyond: 'match' });
  return built.ok ? built.table : null;
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
