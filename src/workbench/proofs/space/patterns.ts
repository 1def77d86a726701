/** The patterns of plans as automata over one alphabet; patterns of equal kind and text share one. */
import { DFA_LENGTH } from '../../../base/regex/table.ts';
import { type LoadedPlan, textOf, textsAt } from '../../../engine/evaluator/loaded.ts';
import { FILTER, NONE, PATTERN, PATTERN_KIND } from '../../../engine/plan/layout.ts';
import { type LetterAutomaton, regexAutomaton, wildcardAutomaton } from './automaton.ts';
import type { SpaceRoom } from './budget.ts';
import { createLetters, type Letters } from './letters.ts';

/** A pattern of a plan. */
export interface PlanPattern {
  /** Equal for equal patterns of any plan. */
  readonly name: string;
  /** The pieces between the stars; `null` for a regex. */
  readonly pieces: readonly string[] | null;
  /** The regex's automaton as the plan has it; `null` for others. */
  readonly table: Uint16Array | null;
}

/** The include and exclude entries of a filter, as pattern numbers. */
export interface FilterEntries {
  readonly includes: readonly number[];
  readonly excludes: readonly number[];
}

/** The entries of the filter at an offset in `words`; `null`: no filter. */
export function entriesAt({ plan }: LoadedPlan, offset: number): FilterEntries | null {
  if (offset === NONE) return null;
  const from = offset + FILTER.patterns;
  const middle = from + plan.words[offset + FILTER.includes]!;
  const end = middle + plan.words[offset + FILTER.excludes]!;
  return {
    includes: [...plan.words.subarray(from, middle)],
    excludes: [...plan.words.subarray(middle, end)],
  };
}

/** Pattern `number` of a plan. */
export function readPattern(loaded: LoadedPlan, number: number): PlanPattern {
  const { patterns, dfas } = loaded.plan;
  const row = number * PATTERN.size;
  const kind = patterns[row + PATTERN.kind]!;
  const data = patterns[row + PATTERN.data]!;
  if (kind === PATTERN_KIND.dfa) {
    const table = dfas.subarray(data, data + dfas[data + DFA_LENGTH]!);
    return { name: `regex ${textOf(loaded, patterns[row + PATTERN.source]!)}`, pieces: null, table };
  }
  const pieces = piecesOf(loaded, kind, data);
  return { name: `wildcard ${JSON.stringify(pieces)}`, pieces, table: null };
}

function piecesOf(loaded: LoadedPlan, kind: number, data: number): readonly string[] {
  switch (kind) {
    case PATTERN_KIND.any:
      return ['', ''];
    case PATTERN_KIND.exact:
      return [textOf(loaded, data)];
    case PATTERN_KIND.prefix:
      return [textOf(loaded, data), ''];
    case PATTERN_KIND.suffix:
      return ['', textOf(loaded, data)];
    case PATTERN_KIND.contains:
      return ['', textOf(loaded, data), ''];
    default:
      return textsAt(loaded, data);
  }
}

/** Patterns of one alphabet. */
export interface PatternSet {
  readonly letters: Letters;
  /** The automaton of a pattern that was among those the set was made of; `null`: the space may not take more. */
  automatonOf(pattern: PlanPattern): LetterAutomaton | null;
}

/** The alphabet of all the patterns, and of further texts; automata are built at their first use. */
export function createPatternSet(
  patterns: Iterable<PlanPattern>,
  { literals, room }: { readonly literals: readonly string[]; readonly room: SpaceRoom },
): PatternSet {
  const texts = [...literals];
  const tables: Uint16Array[] = [];
  for (const { pieces, table } of patterns) {
    if (table !== null) tables.push(table);
    if (pieces !== null) texts.push(...pieces);
  }
  const letters = createLetters({ literals: texts, tables });
  const built = new Map<string, LetterAutomaton | null>();
  return {
    letters,
    automatonOf(pattern) {
      const known = built.get(pattern.name);
      if (known !== undefined) return known;
      const made = room.takeCells(statesOf(pattern) * letters.count) ? make(pattern, letters) : null;
      built.set(pattern.name, made);
      return made;
    },
  };
}

/** The states that a pattern's automaton will have, or a few less than so many. */
function statesOf({ pieces, table }: PlanPattern): number {
  if (pieces !== null) return pieces.reduce((sum, piece) => sum + piece.length, 2);
  return table === null ? 0 : Math.ceil(table.length / 2);
}

function make({ pieces, table }: PlanPattern, letters: Letters): LetterAutomaton {
  return table === null ? wildcardAutomaton(pieces ?? [''], letters) : regexAutomaton(table, letters);
}
