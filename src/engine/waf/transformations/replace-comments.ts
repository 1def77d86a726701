/** The transformation `replaceComments`: replaces each comment of C by one space, also one without end. */
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
