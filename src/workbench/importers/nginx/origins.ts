/**
 * What answers the requests of a location: the origin of `proxy_pass` and `upstream` blocks with its path and Host
 * header, the named location behind `try_files`, and the pages of `error_page`.
 */
import { parseIp } from '../../../base/addresses/ip.ts';
import { MAX_ERROR_CODE, MIN_ERROR_CODE } from '../../../base/vocabulary/limits.ts';
import { addRule, markDifference, markMissing } from '../draft.ts';
import { type ImportedFilter, ruleFields } from '../filter.ts';
import { entryOf, loseDirective, type NginxImport } from './context.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';
import { isRedirect } from './redirects.ts';
import { withSetValues } from './set-variables.ts';

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
  const [written = ''] = directive.args;
  const url = withSetValues(written, [block, ...outer]).replace(/\$(?:\{request_uri\}|request_uri)$/, '');
  if (url.includes('$')) return 'its address has variables';
  const [, scheme, authority, uri] = /^(https?):\/\/([^/]+)(\/.*)?$/.exec(url) ?? [];
  // Variables make the URI the whole one of the request to the origin.
  if (written.includes('$') && uri !== undefined) return 'its address has variables before a path';
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

// Translates `error_page`: a page that the configuration has as a text becomes an `error_page` rule. Rules choose no origin and no
// redirect by a status, so that every other target is reported at its place.

/** An `error_page`, read. */
interface ErrorPage {
  readonly codes: readonly number[];
  /** `null`: the status stays; 0: that of the target. */
  readonly status: number | null;
  readonly target: string;
}

/** Requests to which the same directives apply; the blocks are those around them, the innermost first. */
export interface ErrorPageScope {
  readonly filter: ImportedFilter;
  readonly blocks: readonly (readonly NginxDirective[])[];
}

function readErrorPage({ args }: NginxDirective): ErrorPage {
  const status = args.find((one) => one.startsWith('='));
  return {
    codes: args.slice(0, -1).flatMap((one) => (/^\d{3}$/.test(one) ? [Number(one)] : [])),
    status: status === undefined ? null : Number(status.slice(1)),
    target: args.at(-1) ?? '',
  };
}

/** The `error_page` directives of the innermost block that has one. */
function inherited(blocks: ErrorPageScope['blocks']): readonly NginxDirective[] {
  return (blocks.find((block) => lastOf(block, 'error_page') !== undefined) ?? []).filter(
    ({ name }) => name === 'error_page',
  );
}

/** The `error_page` that hands requests of no file to a named location, with the status that it answers. */
function missingFilePage(blocks: ErrorPageScope['blocks']): NginxDirective | undefined {
  return inherited(blocks).find((one) => {
    const { codes, status, target } = readErrorPage(one);
    return codes.includes(404) && status === 0 && target.startsWith('@');
  });
}

/** The location of a target: the named one, the one of this path alone, or that of the longest prefix. */
function locationOf(target: string, server: readonly NginxDirective[]): NginxDirective | undefined {
  const locations = server.filter(({ name }) => name === 'location');
  const wanted = target.startsWith('@') ? target : `= ${target}`;
  const exact = locations.find(({ args }) => args.join(' ') === wanted);
  if (exact !== undefined || target.startsWith('@')) return exact;
  const prefixes = locations.filter(({ args }) => !/^(?:=|~)/.test(args[0] ?? ''));
  const matching = prefixes.filter(({ args }) => target.startsWith(args.at(-1) ?? '\n'));
  return matching.sort((one, other) => other.args.at(-1)!.length - one.args.at(-1)!.length)[0];
}

/** Directives of a location that do not change what a `return` answers. */
const SILENT = ['internal', 'default_type', 'charset', 'add_header', 'access_log', 'log_not_found', 'root'];

/** The text that a location answers with to every request; `null`: it does something else. */
function textOf({ block }: NginxDirective): { readonly text: string; readonly isHtml: boolean } | null {
  const [returned, ...more] = (block ?? []).filter(({ name }) => !SILENT.includes(name));
  if (returned?.name !== 'return' || more.length > 0) return null;
  const [status = '', text] = returned.args;
  if (!/^(?:200|[45]\d\d)$/.test(status) || text === undefined || text.includes('$')) return null;
  return { text, isHtml: lastOf(block!, 'default_type')?.args[0] === 'text/html' };
}

/** Why a target has no rule. */
function reasonOf({ target, status }: ErrorPage, location: NginxDirective | undefined): string {
  if (/^https?:/.test(target))
    return 'no rule redirects by a status; the edge answers with a page of its own';
  if (location !== undefined && textOf(location) !== null && status !== null)
    return 'an error_page rule changes no status; the edge answers with a page of its own';
  return `no rule hands requests on by a status: none of them reaches what \`${target}\` leads to, and the edge answers with a page of its own`;
}

/** Whether a location answers from files alone. */
function isFile(location: NginxDirective | undefined): boolean {
  const acts = /_pass$|^(?:return|rewrite|if|allow|deny|auth_\w+|try_files)$/;
  return !(location?.block ?? []).some(({ name }) => acts.test(name));
}

/** Translates the pages of a server; `used`: those that are carried over otherwise. Returns the locations of the carried ones. */
export function emitErrorPages(
  state: NginxImport,
  scopes: readonly ErrorPageScope[],
  {
    server,
    whole,
    used,
  }: {
    readonly server: readonly NginxDirective[];
    readonly whole: ImportedFilter;
    readonly used: readonly NginxDirective[];
  },
): readonly NginxDirective[] {
  const carried: NginxDirective[] = [];
  const groups = new Map<NginxDirective, ErrorPageScope[]>();
  for (const scope of scopes)
    for (const one of inherited(scope.blocks)) groups.set(one, [...(groups.get(one) ?? []), scope]);
  for (const [directive, members] of groups) {
    if (used.includes(directive)) continue;
    const page = readErrorPage(directive);
    const location = locationOf(page.target, server);
    const text = location === undefined ? null : textOf(location);
    const codes = page.codes.filter((code) => code >= MIN_ERROR_CODE && code <= MAX_ERROR_CODE);
    if (text === null || page.status !== null || codes.length === 0) {
      const isPage = page.target.startsWith('/') && isFile(location);
      // Pages of files are reported together.
      if (!isPage) markMissing(entryOf(state, directive), reasonOf(page, location));
      continue;
    }
    const entry = entryOf(state, directive);
    const filters = members.length === scopes.length ? [whole] : members.map(({ filter }) => filter);
    for (const filter of filters) {
      const fields = { ...ruleFields(filter), mode: 'custom', codes, content: { '0': text.text } };
      if (addRule(state.draft, entry, 'error_page', fields)) carried.push(location!);
    }
    if (!text.isHtml) markDifference(entry, 'the edge sends the page as HTML');
    const intercepts = members.every(({ blocks }) => {
      const inner = blocks.find((block) => lastOf(block, 'proxy_intercept_errors') !== undefined) ?? [];
      return lastOf(inner, 'proxy_intercept_errors')?.args[0] === 'on';
    });
    if (!intercepts) markDifference(entry, 'the rule replaces pages of the origin with these statuses too');
  }
  return carried;
}

// Finds the named location to which `try_files` hands requests that are of no file, or `error_page 404 =` behind it: what guards
// it, rewrites in it and its origin apply to the requests of the location around `try_files`.

/** A `try_files` that ends in a named location, or the `error_page` for the 404 in which it ends. */
export interface NginxFallback {
  readonly directive: NginxDirective;
  readonly location: NginxDirective;
}

/** The named locations of a server. */
function namedLocations(server: readonly NginxDirective[]): readonly NginxDirective[] {
  return server.filter(({ name, args }) => name === 'location' && args[0]?.startsWith('@') === true);
}

/** The fallback of a block; `null`: it has none, or it hands requests on itself. `outer`: the blocks around it. */
export function fallbackOf(
  block: readonly NginxDirective[],
  server: readonly NginxDirective[],
  outer: readonly (readonly NginxDirective[])[],
): NginxFallback | null {
  const files = lastOf(block, 'try_files');
  const directive = files?.args.at(-1) === '=404' ? missingFilePage([block, ...outer]) : files;
  if (directive === undefined || block.some(({ name }) => name.endsWith('_pass'))) return null;
  // A request that an `if` takes is answered without `try_files`, which `if` does not inherit.
  if (block.some((one) => one.name === 'if' && !endsRequests(one))) return null;
  const location = namedLocations(server).find(({ args }) => args[0] === directive.args.at(-1));
  return location === undefined ? null : { directive, location };
}

/** Whether the last directive of an `if` answers its requests. */
function endsRequests({ block }: NginxDirective): boolean {
  const last = block?.at(-1);
  return last !== undefined && (last.name === 'return' || (last.name === 'rewrite' && isRedirect(last)));
}

/** Reports the named locations that nothing carried over leads to. */
export function loseNamed(
  state: NginxImport,
  server: readonly NginxDirective[],
  used: readonly NginxDirective[],
): void {
  for (const one of namedLocations(server)) {
    if (used.includes(one)) continue;
    const reason =
      'no `try_files` that is carried over leads to it, and no rule hands requests on by a status: none of its requests reaches an origin';
    loseDirective(state, one, reason);
  }
}
