/** One number a bench comes to, and what it should be. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number };

export interface Row {
  readonly name: string;
  readonly value: number;
  /** `null`: for information; no goal. */
  readonly goal: Goal | null;
  /** `×` for a ratio. */
  readonly unit: string;
  /** What was measured and how, in a sentence or less. */
  readonly note: string;
}

export interface BenchOptions {
  /** A smoke run: small samples, few rounds. Its numbers mean little; that both sides agree is still checked. */
  readonly quick: boolean;
  /** Sizes that take minutes to make. */
  readonly large?: boolean;
}

/** A file of the bench. Throws when the sides it compares do not agree. */
export type BenchGroup = (options: BenchOptions) => Promise<readonly Row[]>;

export function isMet(row: Row): boolean | null {
  if (row.goal === null) return null;
  return 'atMost' in row.goal ? row.value <= row.goal.atMost : row.value >= row.goal.atLeast;
}
