/** What a signature program holds, in numbers. */
import type { SignatureProgram, SignatureRule, WafLevel } from '../../plan/signature-program.ts';

export interface LevelSummary {
  readonly paranoia: number;
  /** Rules of phase 1, which look at the request's headers. */
  readonly headers: number;
  /** Rules of phase 2, which look at its body too. */
  readonly body: number;
  /** Rules that are reported, by category; those without one under `other`. */
  readonly categories: Readonly<Record<string, number>>;
  /** Different patterns in use. */
  readonly patterns: number;
  /** Those without required literals, which run on every value they are for: with an automaton, and without. */
  readonly unfiltered: { readonly automaton: number; readonly guard: number; readonly neither: number };
}

export interface SignatureSummary {
  readonly name: string;
  readonly levels: readonly LevelSummary[];
  readonly patterns: {
    readonly total: number;
    readonly automaton: number;
    readonly guard: number;
    readonly literals: number;
    /** Octets of automata and guards. */
    readonly octets: number;
  };
  readonly phraseLists: number;
  readonly literals: { readonly total: number; readonly octets: number };
}

/** Counts what a program holds. */
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
      automaton: patterns.filter(({ dfa }) => dfa !== null).length,
      guard: patterns.filter(({ guard }) => guard !== undefined).length,
      literals: patterns.filter(({ required }) => required !== null).length,
      octets,
    },
    phraseLists: phraseLists.length,
    literals: { total: literals.length, octets: literals.reduce((sum, { length }) => sum + length, 0) },
  };
}

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
      automaton: unfiltered.filter(({ dfa }) => dfa !== null).length,
      guard: unfiltered.filter(({ guard }) => guard !== undefined).length,
      neither: unfiltered.filter(({ dfa, guard }) => dfa === null && guard === undefined).length,
    },
  };
}

function patternsOf(rules: readonly SignatureRule[]): ReadonlySet<number> {
  const used = new Set<number>();
  for (const { conditions } of rules) {
    for (const { operator } of conditions) if (operator.kind === 'rx') used.add(operator.pattern);
  }
  return used;
}
