/** An origin as text, as logs and documents name it. */
import type { Origin } from './decision.ts';

/** `scheme://address:port`, IPv6 in brackets; without a port under `auto`, where the node's probe decides. */
export function originText({ scheme, address, port }: Origin): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return port === null ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
