/**
 * Transformations of comments in text of C, HTML and SQL. `removeComments` removes comments of C and HTML; the end of
 * either kind ends a comment of either kind. It cuts the text at `--` or `#`, and replaces a comment without end by a
 * space. As in every version of ModSecurity, the character after the end of a comment is copied unexamined; at the end
 * of the text that is the NUL of the C string.
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

/** The place after the first end of a comment of either kind; -1: absent. */
function commentEnd(value: string, from: number): number {
  for (let at = from; at < value.length; at++) {
    if (value.startsWith('*/', at)) return at + 2;
    if (value.startsWith('-->', at)) return at + 3;
  }
  return -1;
}

// The transformation `removeCommentsChar`: removes the delimiters of comments, not their content: `/*` and its end,
// `<!--`, `-->`, `--` and `#`.

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

/** The length of the delimiter at `at`; 0: absent. */
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

// The transformation `replaceComments`: replaces each comment of C by one space, also one without end.

export function replaceComments(value: string): string {
  let start = value.indexOf('/*');
  if (start < 0) return value;
  let out = '';
  let from = 0;
  while (start >= 0) {
    out += `${value.slice(from, start)} `;
    const end = value.indexOf('*/', start + 2);
    if (end < 0) return out;
    from = end + 2;
    start = value.indexOf('/*', from);
  }
  return out + value.slice(from);
}
