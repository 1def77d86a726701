/** Host and port of a Host header. */

/** The host without its port; an IPv6 address keeps its brackets. */
export function hostOf(host: string | null): string | null {
  if (host === null) return null;
  const colon = portColon(host);
  return colon < 0 ? host : host.slice(0, colon);
}

/** The port as written, or the scheme's own. */
export function portOf(host: string | null, scheme: string): string {
  const colon = host === null ? -1 : portColon(host);
  const port = colon < 0 ? '' : host!.slice(colon + 1);
  if (port !== '') return port;
  return scheme === 'http' ? '80' : '443';
}

function portColon(host: string): number {
  const colon = host.lastIndexOf(':');
  return colon > host.lastIndexOf(']') ? colon : -1;
}
