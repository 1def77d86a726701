/** Wildcards, regexes and fingerprint entries, of which filters and conditions consist (semantics §3, §5, §12). */
import { RE2JS } from 're2js';

/** Whether the text is literal pieces with any run of characters between each two. */
export function matchPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (pieces.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

const compiled = { exact: new Map<string, RE2JS>(), folded: new Map<string, RE2JS>() };

/** The compiled regex: unanchored, and `.` matches newlines. */
export function compiledRegex(pattern: string, { ignoreCase }: { readonly ignoreCase: boolean }): RE2JS {
  const known = ignoreCase ? compiled.folded : compiled.exact;
  const flags = ignoreCase ? RE2JS.DOTALL | RE2JS.CASE_INSENSITIVE : RE2JS.DOTALL;
  const regex = known.get(pattern) ?? RE2JS.compile(pattern, flags);
  known.set(pattern, regex);
  return regex;
}

/** Whether the entry, exact or a prefix that ends in `*`, is the fingerprint's; an unknown one is of no entry. */
export function isFingerprint(entry: string, value: string | null): boolean {
  if (value === null) return false;
  return entry.endsWith('*') ? value.startsWith(entry.slice(0, -1)) : value === entry;
}
