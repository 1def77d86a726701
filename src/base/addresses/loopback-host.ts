/**
 * The Host values of requests to a listener on loopback. A page of any site can have a browser ask it under the page's own name,
 * once that name's address in the DNS is changed to 127.0.0.1 (DNS rebinding), and read the answer; the Host header still
 * has the name.
 */

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i;

/** Why a request with this Host is not answered, as a sentence; `null`: it is answered. */
export function foreignHost(host: string | undefined): string | null {
  // Health checks in HTTP/1.0 have none; browsers send one always.
  if (host === undefined || LOOPBACK.test(host)) return null;
  return 'this listener answers to `localhost` and loopback addresses only: the Host header names another';
}
