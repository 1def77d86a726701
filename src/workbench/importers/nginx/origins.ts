/** Reads `proxy_pass` and `upstream` blocks: where the requests of a location go, and with which path and Host header. */
import { parseIp } from '../../../base/addresses/ip.ts';
import { entryOf, type NginxImport } from './context.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';

/** One origin. */
export interface NginxOrigin {
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly port: number | null;
  readonly weight: number;
}

/** Where a location passes its requests. */
export interface NginxPass {
  readonly directive: NginxDirective;
  /** Not empty. */
  readonly origins: readonly NginxOrigin[];
  readonly lbType: 'round_robin' | 'least_load';
  /** The URI that replaces the location's path; `null`: the path stays. */
  readonly uri: string | null;
  /** Host header of the requests; empty: the visitor's. */
  readonly hostHeader: string;
  readonly differences: readonly string[];
}

/** Reads the `proxy_pass` of a block; a text is the reason why it is not carried over, `null`: it has none. */
export function readPass(
  state: NginxImport,
  block: readonly NginxDirective[],
  outer: readonly (readonly NginxDirective[])[],
): NginxPass | string | null {
  const directive = lastOf(block, 'proxy_pass');
  if (directive === undefined) return null;
  const [url = ''] = directive.args;
  if (url.includes('$')) return 'its address has variables';
  const [, scheme, authority, uri] = /^(https?):\/\/([^/]+)(\/.*)?$/.exec(url) ?? [];
  if (scheme === undefined || authority === undefined) return `\`${url}\` is no http or https address`;
  if (authority.startsWith('unix:')) return 'the edge reaches no socket of nginx’s machine';
  const group = state.upstreams.get(authority);
  const read = group === undefined ? ownOrigin(authority) : readUpstream(group);
  if (typeof read === 'string') return read;
  const origins = read.origins.map((one) => ({ ...one, scheme: scheme as NginxOrigin['scheme'] }));
  if (group !== undefined) entryOf(state, group);
  const defaultPort = scheme === 'https' ? 443 : 80;
  const hosts = authority.endsWith(`:${defaultPort}`)
    ? authority.slice(0, authority.lastIndexOf(':'))
    : authority;
  const host = hostHeaderOf(state, [block, ...outer], hosts);
  const differences = [...read.differences, ...host.differences];
  if (origins.some(({ address }) => isLocal(address))) {
    differences.push(
      "the origin is an address of nginx's own machine or network; write one that the edge reaches",
    );
  }
  const used = { origins, lbType: read.lbType, hostHeader: host.value };
  return { directive, ...used, uri: uri ?? null, differences };
}

function ownOrigin(authority: string): ReadUpstream | string {
  const origin = readAddress(authority);
  if (origin === null) return `\`${authority}\` is no address`;
  return { origins: [{ ...origin, scheme: 'http', weight: 1 }], lbType: 'round_robin', differences: [] };
}

/** Splits `host:port`, with brackets around IPv6. */
function readAddress(text: string): { readonly address: string; readonly port: number | null } | null {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const address = bracketed ?? plain;
  return address === undefined ? null : { address, port: port === undefined ? null : Number(port) };
}

/** Whether an address is one of the machine itself. */
function isLocal(address: string): boolean {
  const words = new Uint32Array(4);
  const family = parseIp(address, words);
  if (family === 4) return words[0]! >>> 24 === 127;
  return address === 'localhost' || (family === 6 && words[3] === 1 && words[0] === 0 && words[1] === 0);
}

/** An upstream block, read. */
interface ReadUpstream {
  readonly origins: readonly NginxOrigin[];
  readonly lbType: NginxPass['lbType'];
  readonly differences: readonly string[];
}

/** Parameters of `server` in an upstream that change which server is chosen. */
const SERVER_PARAMETERS = /^(?:max_fails|fail_timeout|max_conns|slow_start|resolve|service|route|drain)/;

/** Directives of an upstream that choose the server by the request. */
const STICKY = ['ip_hash', 'hash', 'sticky', 'random', 'least_time'];

function readUpstream({ block, args }: NginxDirective): ReadUpstream | string {
  const differences: string[] = [];
  const origins: NginxOrigin[] = [];
  for (const { name, args: words } of block ?? []) {
    if (STICKY.includes(name)) differences.push(`\`${name}\` is not carried over; the origins take turns`);
    if (name !== 'server') continue;
    const [address = '', ...flags] = words;
    const origin = readAddress(address);
    if (origin === null) return `\`${address}\` of \`${args[0]}\` is no address`;
    const weight = Number(
      /^weight=(\d+)$/.exec(flags.find((one) => one.startsWith('weight=')) ?? '')?.[1] ?? 1,
    );
    if (flags.includes('backup')) {
      differences.push(`\`${address}\` is a backup, which a pool has not; it is left out`);
      continue;
    }
    if (flags.some((flag) => SERVER_PARAMETERS.test(flag)))
      differences.push(
        'failing origins are taken out as the edge does, not by `max_fails` and `fail_timeout`',
      );
    origins.push({ ...origin, scheme: 'http', weight: flags.includes('down') ? 0 : weight });
  }
  if (!origins.some(({ weight }) => weight > 0)) return `\`${args[0]}\` has no server in use`;
  const lbType = block?.some(({ name }) => name === 'least_conn') ? 'least_load' : 'round_robin';
  return { origins, lbType, differences: [...new Set(differences)] };
}

/**
 * The Host header: that of the innermost block with a `proxy_set_header`, since blocks without one inherit all; by default the
 * name in `proxy_pass`.
 */
function hostHeaderOf(
  state: NginxImport,
  blocks: readonly (readonly NginxDirective[])[],
  proxyHost: string,
): { readonly value: string; readonly differences: readonly string[] } {
  const inner = blocks.find((block) => block.some(({ name }) => name === 'proxy_set_header')) ?? [];
  const set = inner.findLast(
    ({ name, args }) => name === 'proxy_set_header' && args[0]?.toLowerCase() === 'host',
  );
  if (set !== undefined) entryOf(state, set);
  const value = (set?.args[1] ?? '$proxy_host').replace(/^\$\{(\w+)\}$/, '$$$1');
  if (value === '$proxy_host') return { value: proxyHost, differences: [] };
  if (['$host', '$http_host'].includes(value)) return { value: '', differences: [] };
  if (value.startsWith('$host:') || value.startsWith('$http_host:'))
    return { value: '', differences: ["the Host header has the edge's port"] };
  if (value.includes('$'))
    return { value: '', differences: [`the Host header \`${value}\` becomes the visitor's`] };
  return { value, differences: [] };
}

/** Whether two passes reach the same origins with the same Host header. */
export function isSameOrigin(one: NginxPass, other: NginxPass): boolean {
  const textOf = ({ origins, hostHeader }: NginxPass): string => JSON.stringify([origins, hostHeader]);
  return textOf(one) === textOf(other);
}
