/** Patterns of a program: parsed once each, with their automaton and the literals that every match must have. */

import { buildAlphabet } from '../../base/regex/alphabet.ts';
import { buildDfa } from '../../base/regex/dfa.ts';
import { kindsNeeded } from '../../base/regex/possible.ts';
import type { OctetRanges, Program } from '../../base/regex/program.ts';
import { coveringLiterals, type Pattern, parsePattern } from '../../base/regex.ts';
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

/** Where a pattern stands, and in which rule: that of the chain's start. */
export interface RulePlace extends DirectivePlace {
  readonly rule: number;
}

export interface PatternTable {
  readonly patterns: readonly WafPattern[];
  /** The number of a pattern in PCRE syntax; 0 after a refusal, which is told once. */
  readonly intern: (
    written: string,
    how: { readonly ignoreCase: boolean; readonly place: RulePlace },
  ) => number;
}

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

/** An empty table; `addLiteral` numbers the literals that patterns require. */
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
          'this is read as if it gave back what it took: the pattern may match more than in PCRE';
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

interface CompiledPattern {
  readonly dfa: Uint16Array | null;
  readonly guard: Uint16Array | null;
  readonly required: readonly string[] | null;
  readonly needed: number;
}

export function compilePattern(program: Program): CompiledPattern {
  const clipped = withinLatin1(program);
  const cover = { last: LAST_OCTET, most: MAX_REQUIRED_LITERALS, share: MAX_REQUIRED_SHARE };
  const required = coveringLiterals(clipped, cover);
  const needed = kindsNeeded(clipped);
  const built = buildDfa(clipped, SIGNATURE_DFA_LIMITS);
  if (built.ok) return { dfa: built.table, guard: null, required, needed };
  return { dfa: null, guard: buildGuard(clipped), required, needed };
}

/** The states nearest to the start: ordinary texts hardly ever lead beyond them. */
function buildGuard(program: Program): Uint16Array | null {
  const states = Math.floor(MAX_GUARD_WORDS / buildAlphabet(program).classes);
  const built = buildDfa(program, { ...SIGNATURE_DFA_LIMITS, states, beyond: 'match' });
  return built.ok ? built.table : null;
}

const LAST_OCTET = 0xff;

/** A program for texts of octets: what lies above is in none, and would only cost classes. */
export function withinLatin1({ start, instructions }: Program): Program {
  // Instructions share a class, and the alphabet goes by that.
  const clipped = new Map<OctetRanges, OctetRanges>();
  const clip = (ranges: OctetRanges): OctetRanges => {
    let known = clipped.get(ranges);
    if (known === undefined) {
      const kept: number[] = [];
      for (let i = 0; i < ranges.length && ranges[i]! <= LAST_OCTET; i += 2) {
        kept.push(ranges[i]!, Math.min(ranges[i + 1]!, LAST_OCTET));
      }
      known = kept;
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

function remedyFor(rule: number): string {
  return `write the pattern without it, or leave the rule out: \`edgeplan waf compile --without ${rule}\`, or \`SecRuleRemoveById ${rule}\` in the rules`;
}
