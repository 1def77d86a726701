/**
 * The transformation `removeComments`: removes comments of C and HTML; the end of either kind ends a comment of either
 * kind. Cuts the text at `--` or `#`. Replaces a comment without end by a space. As in every version of ModSecurity, the
 * character after the end of a comment is copied unexamined; at the end of the text that is the NUL of the C string.
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

/** The place after the first end of a comment of either kind; -1: there is none. */
function commentEnd(value: string, from: number): number {
  for (let at = from; at < value.length; at++) {
    if (value.startsWith('*/', at)) return at + 2;
    if (value.startsWith('-->', at)) return at + 3;
  }
  return -1;
}
