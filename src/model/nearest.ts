/**
 * Finds the known word that a misspelt one stands for. Names are compared word by word (`path_includes` is not a slip
 * of `host_includes`), and a word is a slip of another only within a number of edits that follows its length.
 */

/** The longest name that is compared; a longer one is no slip of the pen. */
const LONGEST = 40;
/** A word has one edit; from this length on two, its first letter apart. */
const TWO_EDITS = 8;
/** Below this length a replaced first letter makes another word (`code`, `mode`). */
const FIRST_REPLACED = 6;
/** Up to this length any replaced letter makes another word (`ip`, `id`). */
const ANY_REPLACED = 3;

/** The known name that was probably meant: the one fewest edits away, `null` when none is near. */
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

function wordsOf(name: string): readonly string[] {
  return name.toLowerCase().split(/[_-]/);
}

/** Edits between two names, `null` where a word of one is no slip of the other's; names cut otherwise are joined. */
function slips(a: readonly string[], b: readonly string[]): number | null {
  if (a.length !== b.length) {
    const [one, other] = [a.join(''), b.join('')];
    return one === other ? 1 : null;
  }
  let edits = 0;
  for (const [index, word] of a.entries()) {
    const own = slipsOfWord(word, b[index]!);
    if (own === null) return null;
    edits += own;
  }
  return edits;
}

function slipsOfWord(a: string, b: string): number | null {
  if (a === b) return 0;
  const length = Math.max(a.length, b.length);
  if (Math.min(a.length, b.length) === 0 || Math.abs(a.length - b.length) > 2) return null;
  // `rule-1` and `rule-2` are two names, not a slip.
  if (/[0-9]/.test(a + b) && a.replace(/[0-9]/g, '') === b.replace(/[0-9]/g, '')) return null;
  const edits = distance(a, b);
  if (edits === 2 && length >= TWO_EDITS) return a[0] === b[0] ? 2 : null;
  if (edits !== 1) return null;
  const replaced = a.length === b.length && letters(a) !== letters(b);
  if (replaced && (length <= ANY_REPLACED || (length < FIRST_REPLACED && a[0] !== b[0]))) return null;
  return 1;
}

/** The letters of a word, each once: a swap and a wrong doubling (`tll` for `ttl`) bring no new one. */
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
