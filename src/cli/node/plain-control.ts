/** What a user has to know of a control plane that is asked without TLS. */
import { isIPv4 } from 'node:net';

interface ControlStart {
  readonly url: string;
  /** `null`: the first key that is met is held to. */
  readonly publicKey: string | null;
}

/** Sentences for stderr; none where nothing leaves this machine, or all is encrypted. */
export function plainControlLines({ url, publicKey }: ControlStart): readonly string[] {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol === 'https:' || isThisMachine(hostname)) return [];
  const lines = [
    `\`${origin}\` is asked in the clear: whoever is on the way reads this node's token and the secrets of clearance; an https:// address hides them`,
  ];
  if (publicKey === null) {
    lines.push(
      `nor is it known whose plans they are: the first key that \`${origin}\` shows is believed; --trust names the right one`,
    );
  }
  return lines;
}

/** Of names only those that RFC 6761 §6.3 keeps for it. */
function isThisMachine(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith('127.');
  return hostname === '[::1]' || hostname === 'localhost' || hostname.endsWith('.localhost');
}
