/** The variables SERVER_NAME and SERVER_PORT: host and port of a Host header (RFC 9110 §7.2). */

/** The host without its port; an IPv6 address with its brackets; `null`: there is no Host header. */
export function hostOf(host: string | null): string | null {
  if (host === null) return null;
  const colon = portColon(host);
  return colon < 0 ? host : host.slice(0, colon);
}

/** The port as sent, or the default port of the scheme. */
export function portOf(host: string | null, scheme: string): string {
  const colon = host === null ? -1 : portColon(host);
  const port = colon < 0 ? '' : host!.slice(colon + 1);
  if (port !== '') return port;
  return scheme === 'http' ? '80' : '443';
}

/** The place of the colon before the port; -1: there is none. A colon inside brackets belongs to an IPv6 address. */
function portColon(host: string): number {
  const colon = host.lastIndexOf(':');
  return colon > host.lastIndexOf(']') ? colon : -1;
}
