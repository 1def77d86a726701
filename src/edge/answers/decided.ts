/**
 * One request and its decision, the input of every response that the edge makes; and which headers of the request are
 * forwarding headers.
 */
import type { Decision, EdgeRequest, Evaluator, Match } from '../../engine/evaluator/index.ts';

/** A request that was decided. */
export interface Decided {
  /** The decision id: shown in a header and on pages, and the key of the decision log. */
  readonly id: string;
  readonly request: EdgeRequest;
  /** The domain that owns the request's host. */
  readonly domain: { readonly name: string; readonly evaluator: Evaluator };
  readonly decision: Decision;
  /** The error_page rules that matched the response; set where its error page is chosen. */
  pageMatches?: readonly Match[];
}

/** A request header as one text; empty without the header. */
export function requestHeader({ request }: Pick<Decided, 'request'>, name: string): string {
  return String(request.headers?.[name] ?? '');
}

/** Path and query as the origin gets them; `null`: the request is not forwarded. */
export function forwardedTarget({ path, query }: Decision): string | null {
  if (path === null) return null;
  return query === null ? path : `${path}?${query}`;
}

// Headers that reach an origin without being part of a cache key and that common frameworks build hosts, schemes, paths,
// methods or addresses from. From a client that is not a trusted proxy they are unreliable (semantics §5 cache): a response made
// with one would be stored for every visitor.

/** Whole families, of which each proxy adds its own: nothing but a proxy sends any of them. */
const FAMILIES = ['x-forward', 'x-original-', 'x-rewrite-', 'x-appengine-', 'x-azure-', 'fastly-'] as const;

/** The client's address. */
const CLIENT_ADDRESS: readonly string[] = [
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
  'fastly-client-ip',
];

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
  // The client's country, and an address made up for it. Of `CF-*` these and its address alone: applications' own clients
  // send tokens by such names.
  'cf-ipcountry',
  'cf-pseudo-ipv4',
  ...CLIENT_ADDRESS,
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

const NAMES_CLIENT: ReadonlySet<string> = new Set(CLIENT_ADDRESS);

/** Whether a header of this lower-case name has the address of the client as its value. */
export function namesClient(name: string): boolean {
  return NAMES_CLIENT.has(name);
}

/** Whether a header of this lower-case name changes the response to a request that a cache stores by its URL. */
export function shapesStored(name: string): boolean {
  return UNKEYED.has(name);
}
