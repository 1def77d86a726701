/** The octets of a text in an array that is written again and again: automata walk over it. */

/** The largest array kept between texts: the largest body a rule may have inspected (`MAX_BODY_CAP_KB`). */
const MAX_KEPT = 1_048_576;

let octets: Uint8Array = new Uint8Array(4_096);
let held = '';

/**
 * The octets of a Latin-1 text, good until the next call. What lies past the text's length is not defined.
 */
// PERF: several automata walk over the same text one after the other, and an array is faster to walk than a string that
// was put together from parts.
export function octetsOf(text: string): Uint8Array {
  if (text === held) return octets;
  if (octets.length < text.length) octets = new Uint8Array(Math.max(text.length, octets.length * 2));
  const into = octets;
  for (let at = 0; at < text.length; at++) into[at] = text.charCodeAt(at);
  held = text;
  return into;
}

/** Lets go of the text read last, and of its array when it is a large one. */
export function releaseOctets(): void {
  held = '';
  if (octets.length > MAX_KEPT) octets = new Uint8Array(4_096);
}
