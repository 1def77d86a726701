/** `Via` of messages that pass through the edge (RFC 9110 §7.6.3), and the detection of loops by `CDN-Loop` (RFC 8586). */
import { MAX_PASSES } from './limits.ts';

/** The edge's pseudonym in `Via` and its id in `CDN-Loop`. */
const OWN = 'edgeplan';

/** The fault code of a request that was refused as a loop. */
export const LOOP = 'loop';

/** The element of `Via` for a message. @param version in which it was received: `1.1`, `2.0` */
export function viaOf(version: string): string {
  return `${version === '2.0' ? '2' : version} ${OWN}`;
}

/** `Via` of responses; the node requests origins in HTTP/1.1 only. */
export const ANSWER_VIA: readonly [string, string] = ['Via', viaOf('1.1')];

/** The value of `CDN-Loop` for the next hop. @param before the received value; empty: none */
export function loopOf(before: string): string {
  return before === '' ? OWN : `${before}, ${OWN}`;
}

/** Whether a request has passed through edges like this one more often than `MAX_PASSES`. */
export function isLooping(sent: string | readonly string[] | undefined): boolean {
  if (sent === undefined) return false;
  let passes = 0;
  for (const element of String(sent).split(',')) {
    // An element may have parameters after its id (RFC 8586 §2).
    const [id = ''] = element.split(';', 1);
    if (id.trim().toLowerCase() === OWN) passes++;
  }
  return passes > MAX_PASSES;
}
