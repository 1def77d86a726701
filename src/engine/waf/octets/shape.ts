/** The shape of a text: which kinds of octets (`base/octets/octet-kinds.ts`) it holds, a bit each. */
import { KINDS } from '../../../base/octets/octet-kinds.ts';

/** Returns the kinds of the first `length` octets, a bit each (`KIND`); 0: there are no octets. */
export function shapeOf(octets: Uint8Array, length: number): number {
  let shape = 0;
  for (let at = 0; at < length; at++) shape |= KINDS[octets[at]!]!;
  return shape;
}
