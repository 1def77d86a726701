/** Reads the secondaries of `--secondaries`: name servers that are notified, and transfer zones. */
import { parseServerAddress, type ServerAddress } from '../dns/server-address.ts';
import { canonicalKeyName } from './tsig-keys.ts';
import type { TsigKey, TsigKeys } from './wire/tsig.ts';

/** A name server that serves the zones. */
export interface Secondary {
  /** Where NOTIFY is sent. */
  readonly server: ServerAddress;
  /** The key that signs NOTIFY. */
  readonly key: TsigKey;
}

/** Reads one `address[:port]#key`; IPv6 with a port in brackets. */
export function readSecondary(
  text: string,
  keys: TsigKeys,
): { readonly secondary: Secondary } | { readonly problem: string } {
  const at = text.indexOf('#');
  if (at === -1) return { problem: `\`${text}\` names no key; write ${EXAMPLES}` };
  const server = parseServerAddress(text.slice(0, at));
  if (server === null) return { problem: `\`${text.slice(0, at)}\` is no address; write ${EXAMPLES}` };
  const name = text.slice(at + 1);
  const key = keys.get(canonicalKeyName(name) ?? '');
  if (key !== undefined) return { secondary: { server, key } };
  const known = [...keys.keys()];
  const remedy = known.length === 0 ? 'the keys file has none' : `the keys file has ${known.join(', ')}`;
  return { problem: `there is no key \`${name}\`; ${remedy}` };
}

/** A secondary as log lines and metrics name it. */
export function secondaryText({ server }: Secondary): string {
  return server.address.includes(':')
    ? `[${server.address}]:${server.port}`
    : `${server.address}:${server.port}`;
}

const EXAMPLES = '192.0.2.53#key, 192.0.2.53:5353#key or [2001:db8::53]:53#key';
