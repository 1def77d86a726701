/**
 * Headers that reach an origin without being part of a cache key and that common frameworks build hosts, schemes, paths,
 * methods or addresses from. From a client that is not a trusted proxy they are unreliable (semantics §5 cache): a response made
 * with one would be stored for every visitor.
 */

/** Whole families, of which each proxy adds its own: nothing but a proxy sends any of them. */
const FAMILIES = ['x-forward', 'x-original-', 'x-rewrite-', 'x-appengine-', 'x-azure-', 'fastly-'] as const;

/** Single names, dropped from every request: no client has a reason of its own to send one. */
const FORWARDING: ReadonlySet<string> = new Set([
  // RFC 7239.
  'forwarded',
  // The host of absolute URLs and redirects.
  'x-host',
  'x-host-override',
  'x-http-host-override',
  'x-proxy-host',
  'x-server-name',
  'x-backend-host',
  'base-url',
  'proxy-host',
  // The scheme: a redirect to https, or a loop of such.
  'front-end-https',
  'x-front-end-https',
  'x-scheme',
  'x-url-scheme',
  'x-arr-ssl',
  'cf-visitor',
  // The port.
  'x-port',
  'x-real-port',
  // The path that is served instead of the one the rules saw.
  'x-http-destinationurl',
  'x-http-path-override',
  'x-proxy-url',
  'x-script-name',
  'x-envoy-original-path',
  'x-accel-redirect',
  // What PHP and CGI take for a setting of their own: `HTTP_PROXY` (httpoxy, CVE-2016-5385).
  'proxy',
  // The client's address or country. Of `CF-*` these alone: applications' own clients send tokens by such names.
  'client-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-true-client-ip',
  'x-true-ip',
  'x-envoy-external-address',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-ipcountry',
  'cf-pseudo-ipv4',
  // A document that servers for phones fetch and lay pages out by.
  'x-wap-profile',
]);

/**
 * Dropped from GET and HEAD only, whose answers are stored. With POST clients of APIs send a method's name for good
 * reasons, and `Destination` belongs to COPY and MOVE (RFC 4918 §10.3); their responses are not stored.
 */
const UNKEYED: ReadonlySet<string> = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'destination',
  'request-uri',
]);

/** Whether a header of this lower-case name is set by proxies, and so accepted from a trusted one only. */
export function isForwarding(name: string): boolean {
  return FORWARDING.has(name) || FAMILIES.some((family) => name.startsWith(family));
}

/** Whether a header of this lower-case name changes the response to a request that a cache stores by its URL. */
export function shapesStored(name: string): boolean {
  return UNKEYED.has(name);
}
