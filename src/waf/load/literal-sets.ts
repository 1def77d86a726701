/** The sets of literals a level's conditions ask for. */
import { KINDS } from '../../base/octet-kinds.ts';
import type { SignatureProgram, WafLevel } from '../../plan/signature-program.ts';

export interface LiteralSets {
  readonly literals: readonly (readonly string[])[];
  /** The set of a pattern's required literals; -1: it requires none. */
  readonly ofPattern: (pattern: number) => number;
  readonly ofPhrases: (phrases: number) => number;
  /** By set, the kinds of octets that its literals are made of, each combination once. */
  readonly kinds: readonly (readonly number[])[];
  /** By set, the octets of its shortest literal. */
  readonly shortest: readonly number[];
}

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

function kindsOf(literal: string): number {
  let kinds = 0;
  for (let at = 0; at < literal.length; at++) kinds |= KINDS[literal.charCodeAt(at)]!;
  return kinds;
}
