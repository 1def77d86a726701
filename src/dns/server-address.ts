/** Where a DNS server is, as people write it. */
import { isIP } from 'node:net';

export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** An address with an optional port, IPv6 in brackets when it has one; `null` for anything else. */
export function parseServerAddress(text: string): ServerAddress | null {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const match = /^(?:\[([^\]]+)\]|([0-9.]+))(?::([0-9]{1,5}))?$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3] ?? 53);
  return isIP(address) === 0 || port < 1 || port > 65_535 ? null : { address, port };
}
