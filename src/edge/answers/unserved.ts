/**
 * The help in an answer 421 for a host that is not served. Everybody gets the host of the request. Only a client on this
 * machine gets the hosts that are served and a command that reaches one of them: to a stranger they would tell which
 * customers an address serves.
 */

/** A request for a host that is not served. */
export interface UnservedRequest {
  readonly scheme: 'http' | 'https';
  /** The host as it was read, in lower case. */
  readonly host: string;
  /** The port for the command, under which the client reaches the edge; -1: the scheme's own. */
  readonly port: number;
}

/** What a page or a JSON body says about it. */
export interface UnservedHelp {
  /** The host of the request, cut. */
  readonly host: string;
  /** `null`: the client is a stranger. */
  readonly local: LocalHelp | null;
}

/** What a client on this machine gets. */
export interface LocalHelp {
  /** Hosts that are served, at most `MAX_LISTED`; `null`: they are not listed here. */
  readonly hosts: readonly string[] | null;
  /** Whether there are more. */
  readonly more: boolean;
  /** A command that reaches a served host. */
  readonly command: string;
}

/** Maximum number of hosts that are listed: enough to recognise one's own. */
export const MAX_LISTED = 8;
/** Characters of a host that are repeated. */
const MAX_SHOWN = 100;
/** The prefix of an IPv4 address that a dual-stack socket reports as IPv6 (RFC 4291 §2.5.5.2). */
const MAPPED = /^::ffff:(?=\d+\.)/i;
/** In the place of a host where none is listed. */
const PLACEHOLDER = 'HOST';

/** The help for a stranger. */
export function strangerHelp({ host }: UnservedRequest): UnservedHelp {
  return { host: cutHost(host), local: null };
}

/**
 * The help for a client on this machine.
 * @param address the client's address, which is the machine's own @param hosts up to `MAX_LISTED` + 1 served hosts;
 * `null`: they are not listed
 */
export function localHelp(
  request: UnservedRequest,
  address: string,
  hosts: readonly string[] | null,
): UnservedHelp {
  const listed = hosts?.slice(0, MAX_LISTED) ?? null;
  const example = exampleHost(hosts ?? []) ?? PLACEHOLDER;
  const command = curlCommand(example, { ...request, address: address.replace(MAPPED, '') });
  const more = (hosts?.length ?? 0) > MAX_LISTED;
  return { host: cutHost(request.host), local: { hosts: listed, more, command } };
}

/** A host for the command: the first without a wildcard, else the first; `null` if no host fits a command. */
export function exampleHost(hosts: readonly string[]): string | null {
  const plain = hosts.filter((host) => /^[a-z0-9*._-]+$/.test(host));
  const found = plain.find((host) => !host.includes('*')) ?? plain[0];
  return found?.replaceAll('*', 'any') ?? null;
}

/** Where a command connects to. */
export interface CurlTarget {
  readonly scheme: 'http' | 'https';
  /** An IP address. */
  readonly address: string;
  /** -1: the scheme's own. */
  readonly port: number;
}

/** A shell command that requests `/` of a host at an address. */
export function curlCommand(host: string, { scheme, address, port }: CurlTarget): string {
  const literal = address.includes(':') ? `[${address}]` : address;
  const suffix = port < 0 ? '' : `:${port}`;
  if (scheme === 'http') return `curl -H 'Host: ${host}' http://${literal}${suffix}/`;
  // The name of the handshake has to be the host's: a Host header alone is answered with 421.
  return `curl --resolve ${host}:${port < 0 ? 443 : port}:${literal} https://${host}${suffix}/`;
}

/** The host as log lines and answers repeat it. */
export function cutHost(host: string): string {
  return host.length <= MAX_SHOWN ? host : `${host.slice(0, MAX_SHOWN)}…`;
}

/**
 * Whether a client is on this machine: its address is of loopback, and no header shows that a proxy forwards for others.
 * @param headers names in lower case
 */
export function isLocalClient(address: string | null, headers: Readonly<Record<string, unknown>>): boolean {
  if (address === null || !/^(?:127\.[\d.]+|::1)$/.test(address.replace(MAPPED, ''))) return false;
  return !PROXY_HEADERS.some((name) => headers[name] !== undefined);
}

/** Headers that common proxies add, the edge itself among them. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
  'cdn-loop',
] as const;
