/**
 * Packages of the evaluator that only some plans and requests need. A module takes the place of each and records its first use;
 * that evaluation is discarded, the package is loaded, and the evaluation is repeated.
 */

/** Loads a package. */
type Load = () => Promise<void>;

/** Packages that were used before they were loaded. */
const wanted = new Set<Load>();

/** Records that a package is needed. */
export function want(load: Load): void {
  wanted.add(load);
}

/** Evaluates, and again for as long as a package was missing: as many times as there are packages, and once. */
export async function withLibraries<T>(evaluate: () => T): Promise<T> {
  for (;;) {
    wanted.clear();
    let outcome: { readonly value: T } | { readonly error: unknown };
    try {
      outcome = { value: evaluate() };
    } catch (error) {
      outcome = { error };
    }
    if (wanted.size === 0) {
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    }
    await Promise.all([...wanted].map((load) => load()));
  }
}
