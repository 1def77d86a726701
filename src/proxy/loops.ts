/** How messages record that they passed through the edge (RFC 9110 §7.6.3), and how a loop of edges is found (RFC 8586). */
import { MAX_PASSES } from './limits.ts';

/** The edge's pseudonym in `Via` and its id in `CDN-Loop`. */
const OWN = 'edgeplan';

/** The word in the journal for a request that was refused for its loop. */
export const LOOP = 'loop';

/** @param version of the message as it was received: `1.1`, `2.0` */
export function viaOf(version: string): string {
  return `${version === '2.0' ? '2' : version} ${OWN}`;
}

/** Of answers of origins, which are spoken to in HTTP/1.1 alone. */
export const ANSWER_VIA: readonly [string, string] = ['Via', viaOf('1.1')];

/** The value of `CDN-Loop` for the next hop. */
export function loopOf(before: string): string {
  return before === '' ? OWN : `${before}, ${OWN}`;
}

/** Whether a request passed through edges like this one more often than any legitimate one. */
export function isLooping(sent: string | readonly string[] | undefined): boolean {
  if (sent === undefined) return false;
  let passes = 0;
  for (const element of String(sent).split(',')) {
    const [id = ''] = element.split(';', 1);
    if (id.trim().toLowerCase() === OWN) passes++;
  }
  return passes > MAX_PASSES;
}
