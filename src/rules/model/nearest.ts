/**
 * Suggests the known name for a misspelt one. Names are compared word by word (`path_includes` is no misspelling of
 * `host_includes`), and the number of edits allowed in a word depends on its length.
 */

/** Characters of the longest name that is compared: no known name is near that length. */
const LONGEST = 40;
/** Characters of a word from which two edits are allowed, both after the first letter; a shorter word allows one. */
const TWO_EDITS = 8;
/** Characters of a word below which its first letter may not be replaced: `code` and `mode` are different words. */
const FIRST_REPLACED = 6;
/** Characters of a word up to which no letter may be replaced: `ip` and `id` are different words. */
const ANY_REPLACED = 3;

/** The known name with the fewest edits from `name`, the first of equals; `null` when none is near enough. */
export function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length > LONGEST) return null;
  const wanted = wordsOf(name);
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = slips(wanted, wordsOf(candidate));
    if (edits === null || edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

/** The words of a name in lower case, separated by `_` or `-`. */
function wordsOf(name: string): readonly string[] {
  return name.toLowerCase().split(/[_-]/);
}

/**
 * Edits between two names; `null` when a pair of their words is too different. Names with different numbers of words are
 * near, by one edit, only when they are equal without separators.
 */
function slips(a: readonly string[], b: readonly string[]): number | null {
  if (a.length !== b.length) {
    return a.join('') === b.join('') ? 1 : null;
  }
  let edits = 0;
  for (const [index, word] of a.entries()) {
    const own = slipsOfWord(word, b[index]!);
    if (own === null) return null;
    edits += own;
  }
  return edits;
}

/** Edits between two words; `null` when there are more than their length allows. */
function slipsOfWord(a: string, b: string): number | null {
  if (a === b) return 0;
  const length = Math.max(a.length, b.length);
  if (Math.min(a.length, b.length) === 0 || Math.abs(a.length - b.length) > 2) return null;
  // `rule-1` and `rule-2` are two names, not a misspelling.
  if (/[0-9]/.test(a + b) && a.replace(/[0-9]/g, '') === b.replace(/[0-9]/g, '')) return null;
  const edits = distance(a, b);
  if (edits === 2 && length >= TWO_EDITS) return a[0] === b[0] ? 2 : null;
  if (edits !== 1) return null;
  const replaced = a.length === b.length && letters(a) !== letters(b);
  if (replaced && (length <= ANY_REPLACED || (length < FIRST_REPLACED && a[0] !== b[0]))) return null;
  return 1;
}

/** The distinct letters of a word, sorted. A swap or a wrong doubling (`tll` for `ttl`) does not change them. */
function letters(word: string): string {
  return [...new Set(word)].sort().join('');
}

/** Edits between two words, a swap of neighbours being one (Damerau–Levenshtein, optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let edits = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) edits = Math.min(edits, beforeLast[column - 2]! + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
