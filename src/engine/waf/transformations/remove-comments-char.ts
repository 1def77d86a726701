/**
 * The transformation `removeCommentsChar`: removes the delimiters of comments, not their content: `/*` and its end,
 * `<!--`, `-->`, `--` and `#`.
 */
export function removeCommentsChar(value: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < value.length; ) {
    const width = markAt(value, at);
    if (width === 0) {
      at++;
      continue;
    }
    out += value.slice(from, at);
    at += width;
    from = at;
  }
  return from === 0 ? value : out + value.slice(from);
}

/** The length of the delimiter at `at`; 0: there is none. */
function markAt(value: string, at: number): number {
  switch (value.charCodeAt(at)) {
    case 35:
      return 1;
    case 42:
      return value.charCodeAt(at + 1) === 47 ? 2 : 0;
    case 47:
      return value.charCodeAt(at + 1) === 42 ? 2 : 0;
    case 60:
      return value.startsWith('<!--', at) ? 4 : 0;
    case 45:
      if (value.charCodeAt(at + 1) !== 45) return 0;
      return value.charCodeAt(at + 2) === 62 ? 3 : 2;
    default:
      return 0;
  }
}
