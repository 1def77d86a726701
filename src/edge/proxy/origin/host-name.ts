/** Parses the value of a Host header (RFC 9110 §7.2). */

/** The host of a Host value: `example.com:8080` → `example.com`, `[2001:db8::1]:80` → `2001:db8::1`. */
export function hostOf(host: string): string {
  if (host.startsWith('[')) return host.slice(1, Math.max(1, host.indexOf(']')));
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}
