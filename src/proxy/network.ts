/** The network that a client's address stands for wherever clients share something. */
import { parseIp } from '../base/ip.ts';

const words = new Uint32Array(4);

/** An IPv4 address itself; of IPv6 the /64, since the rest is the client's to choose. `null` is a network of its own. */
export function networkOf(address: string | null): string {
  if (address === null) return '';
  // PERF: an IPv4 address is written in one way only where connections report it.
  if (!address.includes(':') || parseIp(address, words) !== 6) return address;
  return `${words[0]} ${words[1]}`;
}
