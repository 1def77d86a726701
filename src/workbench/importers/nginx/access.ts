/**
 * What guards the requests of a location: `allow`, `deny` and `limit_req` become drop and rate_limit rules; a guard that
 * no rule has is found, so that its requests are refused.
 */
import {
  type AddressSet,
  ALL_ADDRESSES,
  isEmptySet,
  NO_ADDRESSES,
  readAddresses,
  subtractAddresses,
  uniteAddresses,
} from '../addresses.ts';
import { addDrop, addRule, markClosed, markDifference, markMissing, markNeedless } from '../draft.ts';
import { addressFilter, bothFilters, EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import { differ, type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { noteEarlier } from './redirects.ts';

/** Requests to which the same directives apply. */
export interface AccessScope {
  readonly filter: ImportedFilter;
  readonly earlier: readonly EarlierOutcome[];
  readonly differences: readonly string[];
}

/** Adds the drop rule of a list of `allow` and `deny`, whose first match decides, for each scope. */
export function emitAccess(
  state: NginxImport,
  list: readonly NginxDirective[],
  scopes: readonly AccessScope[],
): void {
  const entries = list.map((one) => entryOf(state, one));
  const refused = refusedAddresses(list);
  if (typeof refused === 'string') {
    // The guard of its location refuses what the list may deny.
    for (const entry of entries) markClosed(entry, refused);
    return;
  }
  if (isEmptySet(refused)) {
    for (const entry of entries) markNeedless(entry, 'no address is denied');
    return;
  }
  const [first, ...others] = entries;
  for (const { filter, earlier, differences } of scopes) {
    const narrowed = bothFilters(filter, { ...EVERY_REQUEST, ...addressFilter(refused) });
    if (narrowed === null) continue;
    if (!addDrop(state.draft, first!, typeof narrowed === 'string' ? filter : narrowed)) continue;
    differ(first!, differences);
    noteEarlier(first!, filter, earlier);
  }
  for (const other of others) {
    other.outcome = first!.outcome;
    other.reasons.push(...first!.reasons.filter((reason) => !other.reasons.includes(reason)));
    other.becomes.push(...first!.becomes);
  }
}

/** The addresses that a list denies; a text is the reason why it cannot be read. */
function refusedAddresses(list: readonly NginxDirective[]): AddressSet | string {
  let decided = NO_ADDRESSES;
  let refused = NO_ADDRESSES;
  for (const { name, args } of list) {
    const [text = ''] = args;
    if (text === 'unix:') continue;
    const set = text === 'all' ? ALL_ADDRESSES : readAddresses(text);
    if (set === null) return `\`${text}\` is no address`;
    if (name === 'deny') refused = uniteAddresses([refused, subtractAddresses(set, decided)]);
    decided = uniteAddresses([decided, set]);
  }
  return refused;
}

/** Adds the rate_limit rule of one `limit_req` for each scope. */
export function emitLimit(
  state: NginxImport,
  directive: NginxDirective,
  scopes: readonly AccessScope[],
  status: number,
): void {
  const entry = entryOf(state, directive);
  const option = (name: string): string | undefined =>
    directive.args.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  const zone = state.zones.get(option('zone') ?? '');
  if (zone === undefined) {
    markMissing(entry, `no \`limit_req_zone\` has the name \`${option('zone') ?? ''}\``);
    return;
  }
  const zoneEntry = entryOf(state, zone);
  const key = zone.args[0] ?? '';
  const rate = zone.args.find((one) => one.startsWith('rate=')) ?? '';
  if (!['$binary_remote_addr', '$remote_addr'].includes(key)) {
    markMissing(zoneEntry, `requests are counted by address only, not by \`${key}\``);
    markMissing(entry, `its zone counts by \`${key}\`, and rules count by address only`);
    return;
  }
  const [, amount = '', unit = ''] = /^rate=(\d+)r\/([sm])$/.exec(rate) ?? [];
  const burst = Number(option('burst') ?? 0);
  const window_sec = unit === 'm' ? 60 : 1;
  const isDelayed = burst > 0 && !directive.args.includes('nodelay');
  for (const { filter } of scopes) {
    const fields = { ...ruleFields(filter), limit: Number(amount), window_sec, burst };
    if (!addRule(state.draft, entry, 'rate_limit', fields)) return;
  }
  const per = unit === 'm' ? 'minute' : 'second';
  markDifference(
    entry,
    `nginx lets ${burst + 1} requests through at once and then one each 1/${amount} ${per} (leaky bucket); the rule lets ${Number(amount) + burst} through in any ${window_sec} s (sliding window)`,
  );
  if (isDelayed)
    markDifference(entry, 'nginx delays requests of the burst; the edge lets them through at once');
  if (status !== 429) markDifference(entry, `the edge answers 429; nginx answers ${status}`);
  if (scopes.length > 1)
    markDifference(entry, 'nginx counts all its locations together; each rule counts on its own');
  if (scopes.some(({ earlier }) => earlier.length > 0))
    markDifference(entry, 'requests that are redirected count too');
}

// Finds what guards the requests of a location in a way that no rule has: passwords, subrequests, client certificates, methods,
// modules that are not nginx's own. Such requests are refused, so that an import opens nothing.

/** A directive that guards requests, and why it cannot be carried over. */
export interface NginxGuard {
  readonly directive: NginxDirective;
  readonly reason: string;
}

/** Names of directives of nginx and its usual modules that let every request pass, or answer it. */
const HARMLESS =
  /^(?:proxy|fastcgi|uwsgi|scgi|grpc|memcached|gzip|gunzip|brotli|zstd|ssl|http2|http3|quic|client|open_file|resolver|keepalive|log|access_log|error|add|more|expires|etag|if_modified|types|default|charset|override|source|sub|addition|xslt|image_filter|mp4|flv|dav|autoindex|fancyindex|index|root|alias|try_files|recursive|limit_req|limit_conn|limit_rate|output|postpone|read_ahead|send|sendfile|tcp|aio|directio|max_ranges|min_delete|mirror|server|listen|location|merge|underscores|ignore|absolute|port_in|reset|lingering|msie|chunked|variables|upstream|map|geo|split|set|if|return|rewrite|break|allow|deny|satisfy|internal|auth|limit_except|include|http|real_ip|set_real|stub_status|status|empty_gif|random|slice|ssi|userid|valid_referers|referer|secure_link|js_content|js_import|js_path|js_var|perl_modules|content_by_lua|lua_package|lua_shared|lua_ssl|lua_code|header_filter|body_filter|log_by_lua|pagespeed|passenger|uninitialized|connection_pool|request_pool|subrequest|disable|large|spdy|concat|push_stream|rtmp|vhost|opentracing|otel|opentelemetry|geoip|geoip2|push|match|health_check|zone|state|early_hints|api|f4f|hls|modsecurity|sticky|ntlm|queue|resolver_timeout)(?:_|$)/;

/** Names of files whose content decides who gets in. */
const GUARDING_FILES =
  /auth|deny|allow|block|secur|protect|restrict|access|acl|whitelist|blacklist|bot|waf|modsec/i;

/** The guards of requests that reach the innermost of these blocks; inner blocks come first. */
export function guardsOf(blocks: readonly (readonly NginxDirective[])[]): readonly NginxGuard[] {
  const guards: NginxGuard[] = [];
  const isAny = innermost(blocks, ({ name }) => name === 'satisfy')[0]?.args[0] === 'any';
  const lists = innermost(blocks, ({ name }) => name === 'allow' || name === 'deny');
  for (const name of namesOf(blocks)) {
    const [first] = innermost(blocks, (one) => one.name === name);
    const reason = reasonOf(first!);
    if (reason !== null) guards.push({ directive: first!, reason });
  }
  for (const directive of blocks.flat()) {
    if (directive.unread !== undefined && GUARDING_FILES.test(directive.args[0] ?? ''))
      guards.push({ directive, reason: 'the file was not read and may guard its requests' });
  }
  const unread = lists.find(({ args }) => !isAddress(args[0] ?? ''));
  const access = unread === undefined ? [] : [{ directive: unread, reason: 'its address cannot be read' }];
  if (!isAny) return [...guards, ...access];
  // With `satisfy any` the list of addresses alone lets visitors in, so that what it denies is all that is refused.
  const isPassword = ({ directive }: NginxGuard): boolean => directive.name.startsWith('auth_');
  const others = guards.filter((guard) => !isPassword(guard));
  if (unread !== undefined) return [...others, ...access];
  return lists.length > 0 && guards.some(isPassword) ? others : guards;
}

/** Names that guard in one of the blocks. Those of `http` that are unknown set up modules. */
function namesOf(blocks: readonly (readonly NginxDirective[])[]): ReadonlySet<string> {
  const inner = blocks.slice(0, -1).flat();
  const known = blocks.flat().flatMap(({ name }) => (isKnownGuard(name) ? [name] : []));
  return new Set([...known, ...inner.flatMap(({ name }) => (isUnknown(name) ? [name] : []))]);
}

function isKnownGuard(name: string): boolean {
  return /^(?:auth_|internal$|limit_except$|ssl_verify_client$)/.test(name);
}

function isUnknown(name: string): boolean {
  return /^(?:access|rewrite|preread)_by_lua/.test(name) || !(HARMLESS.test(name) || isKnownGuard(name));
}

/** Whether something in a block, or in one inside it, refuses requests. */
export function refusesSome(block: readonly NginxDirective[]): boolean {
  return block.some(({ name, args, block: inner }) => {
    if (isKnownGuard(name) || isUnknown(name) || name === 'deny') return true;
    if (name === 'return' && /^[45]\d\d$/.test(args[0] ?? '')) return true;
    return inner !== null && refusesSome(inner);
  });
}

/** Whether a block answers its requests with something else than a redirect, so that none of them reaches an origin. */
export function answersItself(block: readonly NginxDirective[]): boolean {
  return block.some(
    ({ name, args: [status = ''] }) => name === 'return' && /^(?!30[12378]$)\d{3}$/.test(status),
  );
}

function innermost(
  blocks: readonly (readonly NginxDirective[])[],
  isMeant: (directive: NginxDirective) => boolean,
): readonly NginxDirective[] {
  for (const block of blocks) {
    const found = block.filter(isMeant);
    if (found.length > 0) return found;
  }
  return [];
}

function isAddress(text: string): boolean {
  return text === 'all' || text === 'unix:' || readAddresses(text) !== null;
}

/** Why a directive guards; `null`: it is off, or sets up what another does. */
function reasonOf({ name, args, block }: NginxDirective): string | null {
  const [first = ''] = args;
  if (name === 'internal') return 'it answers internal requests only';
  if (name === 'limit_except') {
    const isOpen = block?.every((one) => one.name === 'allow' && one.args[0] === 'all') === true;
    return isOpen ? null : 'no rule has a filter on methods';
  }
  if (name === 'ssl_verify_client')
    return first === 'on' ? 'no rule asks for a certificate of the client' : null;
  if (
    /^auth_(?:basic_user_file|request_set|delay|\w+_(?:file|key\w*|url|leeway|realm|name|type|path|zone|cache\w*|timeout))$/.test(
      name,
    )
  )
    return null;
  if (first === 'off') return null;
  if (name === 'auth_basic') return 'no rule asks for a password';
  if (name === 'auth_request') return 'no rule asks another server';
  return name.startsWith('auth_')
    ? 'no rule knows who the visitor is'
    : 'the module is unknown and may refuse requests';
}
