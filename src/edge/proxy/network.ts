/** The client network: the unit that shares connections to origins, disk space of buffers, and connection limits. */
import { parseIp } from '../../base/addresses/ip.ts';

const words = new Uint32Array(4);

/** An IPv4 address itself, or the /64 of an IPv6 address, whose rest clients choose; `null` is a network of its own. */
export function networkOf(address: string | null): string {
  if (address === null) return '';
  // PERF: not parsed, since connections report IPv4 addresses in one form only.
  if (!address.includes(':') || parseIp(address, words) !== 6) return address;
  return `${words[0]} ${words[1]}`;
}
