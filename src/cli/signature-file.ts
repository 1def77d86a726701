/** Recognises a sealed signature program, and other files that are given in its place. */
import { isPlan } from '../edge/middleware/compile-edge.ts';

/** The first four octets of a sealed program. */
const SEALED = 'EPSG';

/** Whether octets are a sealed signature program. */
export function isSealedSignatures(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, SEALED.length)).toString('latin1') === SEALED;
}

/** What a file that has no signatures is: by its name or its first octets; `null`: it may have signatures. */
export function otherKindOf(bytes: Uint8Array, path: string): 'an edge file' | 'a sealed plan' | null {
  if (isPlan(bytes, path)) return 'a sealed plan';
  return /\.ya?ml$/i.test(path) ? 'an edge file' : null;
}
