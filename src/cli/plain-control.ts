/** Warnings about a control plane that is reached without TLS. */
import { isIPv4 } from 'node:net';

interface ControlAddress {
  readonly url: string;
  /** `null`: trust on first use. */
  readonly publicKey: string | null;
}

/** Sentences for stderr; none when the connection stays on this machine or is encrypted. */
export function plainControlLines({ url, publicKey }: ControlAddress): readonly string[] {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol === 'https:' || isThisMachine(hostname)) return [];
  const lines = [
    `\`${origin}\` is reached without TLS: the network can read this node's token and the clearance secrets; an https:// address encrypts them`,
  ];
  if (publicKey === null) {
    lines.push(
      `the plans cannot be authenticated on first use: the first key that \`${origin}\` presents is trusted; --trust pins the right one`,
    );
  }
  return lines;
}

/** Loopback addresses, and the names that RFC 6761 §6.3 reserves for them. */
function isThisMachine(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith('127.');
  return hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost');
}
