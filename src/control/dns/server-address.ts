/** Reads the address of a DNS server as an operator writes it. */
import { isIP } from 'node:net';

/** An IP address in text form and a port. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** An address with an optional port (53), IPv6 with a port in brackets; `null` for anything else. */
export function parseServerAddress(text: string): ServerAddress | null {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const match = /^(?:\[([^\]]+)\]|([0-9.]+))(?::([0-9]{1,5}))?$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3] ?? 53);
  return isIP(address) === 0 || port < 1 || port > 65_535 ? null : { address, port };
}
