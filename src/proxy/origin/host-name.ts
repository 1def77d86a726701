/** The name within a Host value. */

/** A Host value without its port and brackets. */
export function hostOf(host: string): string {
  if (host.startsWith('[')) return host.slice(1, Math.max(1, host.indexOf(']')));
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}
