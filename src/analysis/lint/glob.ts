/** Wildcard patterns as the literal pieces between their stars, and what can be said about two of them. */

/** `['/api/', '']` is `/api/*`; a single piece has no star. */
export type Glob = readonly string[];

/** A character no canonical host or path holds (a noncharacter), standing for whatever a star may match. */
const ANYTHING = '\uffff';

/** Whether the pattern matches the whole text; linear in the text for each piece. */
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
 * Whether `wide` matches everything `narrow` matches. Exact: with a fresh character for each star of `narrow`, only a
 * star of `wide` can take it, and then it can take any other text in its place.
 */
export function globCovers(wide: Glob, narrow: Glob): boolean {
  return globMatches(wide, narrow.join(ANYTHING));
}

/** Whether some text matches both. Walks the two side by side, remembering the pairs of places already tried. */
export function globsOverlap(left: Glob, right: Glob): boolean {
  const a = left.join(ANYTHING);
  const b = right.join(ANYTHING);
  const tried = new Set<number>();
  const waiting: (readonly [number, number])[] = [[0, 0]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [i, j] = pair;
    const key = i * (b.length + 1) + j;
    if (tried.has(key)) continue;
    tried.add(key);
    if (i === a.length && j === b.length) return true;
    if (a[i] === ANYTHING) {
      waiting.push([i + 1, j]);
      if (j < b.length) waiting.push([i, j + 1]);
    }
    if (b[j] === ANYTHING) {
      waiting.push([i, j + 1]);
      if (i < a.length) waiting.push([i + 1, j]);
    }
    if (i < a.length && j < b.length && a[i] === b[j]) waiting.push([i + 1, j + 1]);
  }
  return false;
}

/** Whether the pattern has no star. */
export function isLiteral(glob: Glob): boolean {
  return glob.length === 1;
}
