/** Wildcard patterns as lists of the literals between their stars: matching, covering and overlap. */

/** The literals between the stars: `['/api/', '']` is `/api/*`; a single piece has no star. */
export type Glob = readonly string[];

/**
 * A character that no canonical host or path contains (a noncharacter); it represents the text that a star matches.
 */
const ANYTHING = '\uffff';

/** Whether the pattern matches the whole text. Takes time linear in the text for each piece. */
export function globMatches(glob: Glob, text: string): boolean {
  const first = glob[0] ?? '';
  if (glob.length === 1) return text === first;
  if (!text.startsWith(first)) return false;
  const last = glob[glob.length - 1] ?? '';
  let at = first.length;
  for (const piece of glob.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/**
 * Whether `wide` matches everything that `narrow` matches. Exact: each star of `narrow` is replaced by a character
 * that only a star of `wide` can match, and that star then matches any other text as well.
 */
export function globCovers(wide: Glob, narrow: Glob): boolean {
  return globMatches(wide, narrow.join(ANYTHING));
}

/** Whether some text matches both. Searches pairs of positions in the two patterns; each pair is visited once. */
export function globsOverlap(left: Glob, right: Glob): boolean {
  const a = left.join(ANYTHING);
  const b = right.join(ANYTHING);
  const visited = new Set<number>();
  const queue: (readonly [number, number])[] = [[0, 0]];
  for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
    const [i, j] = pair;
    const key = i * (b.length + 1) + j;
    if (visited.has(key)) continue;
    visited.add(key);
    if (i === a.length && j === b.length) return true;
    if (a[i] === ANYTHING) {
      queue.push([i + 1, j]);
      if (j < b.length) queue.push([i, j + 1]);
    }
    if (b[j] === ANYTHING) {
      queue.push([i, j + 1]);
      if (i < a.length) queue.push([i + 1, j]);
    }
    if (i < a.length && j < b.length && a[i] === b[j]) queue.push([i + 1, j + 1]);
  }
  return false;
}

/** Whether the pattern has no star. */
export function isLiteral(glob: Glob): boolean {
  return glob.length === 1;
}
