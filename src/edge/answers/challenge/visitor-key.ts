/** What identifies the visitor that solved a challenge: the client's network and its User-Agent (semantics §5). */
import { parseIp } from '../../../base/addresses/ip.ts';

const words = new Uint32Array(4);

/** The client's /24 or /64; `null` for an unknown address, which is never cleared. */
export function networkOf(ip: string | null): string | null {
  if (ip === null) return null;
  const family = parseIp(ip, words);
  if (family === 0) return null;
  if (family === 4) return `4 ${words[0]! >>> 8}`;
  return `6 ${words[0]!.toString(16)} ${words[1]!.toString(16)}`;
}
