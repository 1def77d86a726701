/** Collects the sets of literals that the conditions of a level search for: input of the literal index. */
import { KINDS } from '../../../base/octets/octet-kinds.ts';
import type { SignatureProgram, WafLevel } from '../../plan/signature-program.ts';

/** The sets of one level, by number. */
export interface LiteralSets {
  /** By set, its literals in lower case; a literal may be in several sets. */
  readonly literals: readonly (readonly string[])[];
  /** The set of the literals that a pattern requires; -1: it requires none. */
  readonly ofPattern: (pattern: number) => number;
  /** The set of a list of phrases; -1: no condition of the level uses the list. */
  readonly ofPhrases: (phrases: number) => number;
  /** By set, for each literal the kinds of its octets; equal combinations once. */
  readonly kinds: readonly (readonly number[])[];
  /** By set, the length in octets of its shortest literal. */
  readonly shortest: readonly number[];
}

/** Collects the sets of a level; conditions with the same pattern or list share one. */
export function literalSets(program: SignatureProgram, level: WafLevel): LiteralSets {
  const literals: (readonly string[])[] = [];
  const patterns = new Map<number, number>();
  const lists = new Map<number, number>();
  const add = (known: Map<number, number>, key: number, numbers: readonly number[] | null): void => {
    if (numbers === null || known.has(key)) return;
    known.set(key, literals.push(numbers.map((number) => program.literals[number]!)) - 1);
  };
  for (const { operator } of level.rules.flatMap(({ conditions }) => conditions)) {
    if (operator.kind === 'rx') add(patterns, operator.pattern, program.patterns[operator.pattern]!.required);
    if (operator.kind === 'pm') add(lists, operator.phrases, program.phraseLists[operator.phrases]!.phrases);
  }
  return {
    literals,
    ofPattern: (pattern) => patterns.get(pattern) ?? -1,
    ofPhrases: (phrases) => lists.get(phrases) ?? -1,
    kinds: literals.map((set) => [...new Set(set.map(kindsOf))]),
    shortest: literals.map((set) => set.reduce((least, { length }) => Math.min(least, length), Infinity)),
  };
}

/** The kinds of a literal's octets, a bit each. */
function kindsOf(literal: string): number {
  let kinds = 0;
  for (let at = 0; at < literal.length; at++) kinds |= KINDS[literal.charCodeAt(at)]!;
  return kinds;
}
