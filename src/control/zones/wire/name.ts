/**
 * Domain names in wire form (RFC 1035 §3.1), without compression. Names of the store are canonical: lower case, labels of
 * `a-z`, `0-9`, `-`, `_`, or `*` alone; no label contains a dot.
 */

/** The octets of a canonical name without a trailing dot; empty is the root. */
export function encodeName(name: string): Uint8Array {
  if (name === '') return ROOT;
  const octets = new Uint8Array(name.length + 2);
  let length = 0;
  for (let at = name.length; at >= 0; at--) {
    const code = at === 0 ? DOT : name.charCodeAt(at - 1);
    octets[at] = code === DOT ? length : code;
    length = code === DOT ? 0 : length + 1;
  }
  return octets;
}

/** The name that starts at `at`, in lower case, and the position after it; `null`: malformed or compressed. */
export function decodeName(
  octets: Uint8Array,
  at: number,
): { readonly name: string; readonly end: number } | null {
  const labels: string[] = [];
  let position = at;
  for (;;) {
    const length = octets[position];
    if (length === undefined || length > 63 || position - at + length > MAX_NAME_OCTETS) return null;
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: position + 1 };
    if (position + 1 + length > octets.length) return null;
    labels.push(String.fromCharCode(...octets.subarray(position + 1, position + 1 + length)));
    position += 1 + length;
  }
}

const ROOT = new Uint8Array(1);
const DOT = 0x2e;
/** RFC 1035 §2.3.4, the root's octet included. */
const MAX_NAME_OCTETS = 255;
