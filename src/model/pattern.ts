/** Regular expressions a customer wrote: RE2 syntax, bounded in length and program size (semantics §3). */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { MAX_DOMAIN_PROGRAM, MAX_PATTERN_CHARACTERS, MAX_PATTERN_PROGRAM } from '../base/limits.ts';
import { longerThan } from './fields.ts';

export interface PatternAccepted {
  readonly ok: true;
  /** Instructions of the compiled program. */
  readonly size: number;
  /** Capture groups, the whole match not counted. */
  readonly groups: number;
  readonly names: readonly string[];
}

export interface PatternRefused {
  readonly ok: false;
  readonly reason: string;
}

/** Whether a pattern may be stored: its cost and its groups, or why it is refused. Never throws. */
export function checkPattern(
  source: string,
  { ignoreCase }: { readonly ignoreCase: boolean },
): PatternAccepted | PatternRefused {
  if (longerThan(source, MAX_PATTERN_CHARACTERS)) {
    return refuse(
      `a pattern must be at most ${MAX_PATTERN_CHARACTERS} characters, this one has ${source.length}`,
    );
  }
  try {
    const regex = RE2JS.compile(source, RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
    const size = regex.programSize();
    if (size > MAX_PATTERN_PROGRAM) {
      return refuse(
        `the pattern compiles to ${size} instructions, at most ${MAX_PATTERN_PROGRAM} are allowed`,
      );
    }
    return { ok: true, size, groups: regex.groupCount(), names: Object.keys(regex.namedGroups()) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return refuse(describe(error, source));
  }
}

function describe(error: RE2JSException, source: string): string {
  if (!(error instanceof RE2JSSyntaxException)) return error.message.toLowerCase();
  // The parser names the whole pattern, our own flags in front, where it cannot name a piece of it.
  const piece = error.input === null || error.input.endsWith(source) ? source : error.input;
  if (/^\(\?<?[=!]/.test(piece)) return 'look-around is not part of RE2 syntax';
  if (/^\\[1-9k]/.test(piece)) return `back-references are not part of RE2 syntax: \`${piece}\``;
  return `${error.error.replace('Perl', 'perl')}: \`${piece}\``;
}

function refuse(reason: string): PatternRefused {
  return { ok: false, reason };
}

/** The patterns of one domain: each compiled once, all of them within one budget. */
export interface PatternBook {
  /**
   * Checks one use of a pattern and adds its size to the domain's. `over` is the one use that breaks the domain's
   * budget; afterwards nothing is compiled any more and every use is `skipped`.
   */
  check(source: string, options: { readonly ignoreCase: boolean }): PatternUse;
}

export type PatternUse = PatternAccepted | PatternRefused | { readonly ok: 'over' | 'skipped' };

export function createPatternBook(): PatternBook {
  const known = new Map<string, PatternAccepted | PatternRefused>();
  let total = 0;
  return {
    check(source, options) {
      if (total > MAX_DOMAIN_PROGRAM) return { ok: 'skipped' };
      const key = (options.ignoreCase ? 'i' : 'c') + source;
      const verdict = known.get(key) ?? checkPattern(source, options);
      known.set(key, verdict);
      // A refused pattern counts too, or an input of nothing but oversized patterns would take minutes to refuse.
      total += verdict.ok ? verdict.size : Math.min(source.length, MAX_PATTERN_CHARACTERS);
      return verdict.ok && total > MAX_DOMAIN_PROGRAM ? { ok: 'over' } : verdict;
    },
  };
}
