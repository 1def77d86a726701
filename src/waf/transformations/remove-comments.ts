/**
 * Without comments of C and HTML, either's end ending either; `--` and `#` end the text; a comment without end leaves
 * a space. As in every ModSecurity, the character after a comment's end is taken unread, and where there is none, the
 * NUL behind the text.
 */
export function removeComments(value: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < value.length; ) {
    if (endsText(value, at)) return out + value.slice(from, at);
    const opening = openingAt(value, at);
    if (opening === 0) {
      at++;
      continue;
    }
    out += value.slice(from, at);
    const end = commentEnd(value, at + opening);
    if (end < 0) return `${out} `;
    if (end === value.length) return `${out}\0`;
    from = end;
    at = end + 1;
  }
  return from === 0 ? value : out + value.slice(from);
}

function endsText(value: string, at: number): boolean {
  return value[at] === '#' || value.startsWith('--', at);
}

function openingAt(value: string, at: number): number {
  if (value.startsWith('/*', at)) return 2;
  return value.startsWith('<!--', at) ? 4 : 0;
}

/** The place after the first end of either kind, or -1. */
function commentEnd(value: string, from: number): number {
  for (let at = from; at < value.length; at++) {
    if (value.startsWith('*/', at)) return at + 2;
    if (value.startsWith('-->', at)) return at + 3;
  }
  return -1;
}
