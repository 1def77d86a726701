/** Headers by which proxies tell of the client they speak for. */

/** What proxies tell of a client; from anybody else it is made up (semantics §5 cache). */
const FORWARDING: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
]);
/** Whether a header of this lower-case name tells of a client, and so is believed of a trusted proxy only. */
export function isForwarding(name: string): boolean {
  return FORWARDING.has(name);
}
