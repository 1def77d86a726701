/** The longest word that is compared; a longer one is no slip of the pen. */
const LONGEST = 40;

/** The known word that was probably meant: the one fewest edits away, `null` when none is near. */
export function nearest(word: string, known: Iterable<string>): string | null {
  if (word.length > LONGEST) return null;
  const folded = fold(word);
  let best: string | null = null;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const edits = distance(folded, fold(candidate));
    if (edits >= least) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
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
