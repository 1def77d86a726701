/** Statistics of a signature program, for `edgeplan waf`. */
import type { SignatureProgram, SignatureRule, WafLevel, WafPattern } from '../../plan/signature-program.ts';

/** Statistics of one paranoia level. */
export interface LevelSummary {
  /** 1 to 4. */
  readonly paranoia: number;
  /** The number of rules of phase 1, which inspect the request head. */
  readonly headers: number;
  /** The number of rules of phase 2, which also inspect the body. */
  readonly body: number;
  /** By category, the number of rules that are reported; rules without category are `other`. */
  readonly categories: Readonly<Record<string, number>>;
  /** The number of distinct patterns. */
  readonly patterns: number;
  /**
   * The number of patterns without required literals, which run on every value of their targets: with a compiled
   * DFA, with a guard only, and without both.
   */
  readonly unfiltered: { readonly automaton: number; readonly guard: number; readonly neither: number };
}

/** Statistics of a program. */
export interface SignatureSummary {
  readonly name: string;
  readonly levels: readonly LevelSummary[];
  readonly patterns: {
    readonly total: number;
    /** The number of patterns with a compiled DFA. */
    readonly automaton: number;
    /** The number of patterns with a guard, among them those that backtrack. */
    readonly guard: number;
    /** The number of patterns with look-around, backreferences or atomic groups. */
    readonly backtracking: number;
    /** The number of patterns that require a literal. */
    readonly literals: number;
    /** The octets of all compiled DFAs and guards. */
    readonly octets: number;
  };
  /** The number of lists of `@pm`. */
  readonly phraseLists: number;
  readonly literals: { readonly total: number; readonly octets: number };
}

/** Computes the statistics. */
export function summariseSignatures(program: SignatureProgram): SignatureSummary {
  const { patterns, literals, phraseLists, name } = program;
  const octets = patterns.reduce(
    (sum, { dfa, guard }) => sum + (dfa?.byteLength ?? 0) + (guard?.byteLength ?? 0),
    0,
  );
  return {
    name,
    levels: program.levels.map((level, index) => summariseLevel(program, level, index + 1)),
    patterns: {
      total: patterns.length,
      automaton: patterns.filter(hasAutomaton).length,
      guard: patterns.filter(hasGuard).length,
      backtracking: patterns.filter(({ backtrack }) => backtrack !== undefined).length,
      literals: patterns.filter(({ required }) => required !== null).length,
      octets,
    },
    phraseLists: phraseLists.length,
    literals: { total: literals.length, octets: literals.reduce((sum, { length }) => sum + length, 0) },
  };
}

/** Computes the statistics of one level. */
function summariseLevel({ patterns }: SignatureProgram, { rules }: WafLevel, paranoia: number): LevelSummary {
  const used = [...patternsOf(rules)].map((number) => patterns[number]!);
  const unfiltered = used.filter(({ required }) => required === null);
  const categories = new Map<string, number>();
  for (const { reported, category } of rules) {
    const key = category === '' ? 'other' : category;
    if (reported) categories.set(key, (categories.get(key) ?? 0) + 1);
  }
  return {
    paranoia,
    headers: rules.filter(({ phase }) => phase === 1).length,
    body: rules.filter(({ phase }) => phase === 2).length,
    categories: Object.fromEntries([...categories].sort(([a], [b]) => (a < b ? -1 : 1))),
    patterns: used.length,
    unfiltered: {
      automaton: unfiltered.filter(hasAutomaton).length,
      guard: unfiltered.filter(hasGuard).length,
      neither: unfiltered.filter((pattern) => !hasAutomaton(pattern) && !hasGuard(pattern)).length,
    },
  };
}

/** Whether a DFA decides whether the pattern matches. */
function hasAutomaton({ dfa, backtrack }: WafPattern): boolean {
  return dfa !== null && backtrack === undefined;
}

/** Whether a DFA of a simpler pattern rules out texts. */
function hasGuard({ dfa, guard, backtrack }: WafPattern): boolean {
  return guard !== undefined || (dfa !== null && backtrack !== undefined);
}

/** The numbers of the patterns in conditions of these rules. */
function patternsOf(rules: readonly SignatureRule[]): ReadonlySet<number> {
  const used = new Set<number>();
  for (const { conditions } of rules) {
    for (const { operator } of conditions) if (operator.kind === 'rx') used.add(operator.pattern);
  }
  return used;
}
