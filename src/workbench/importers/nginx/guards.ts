/**
 * Finds what guards the requests of a location in a way that no rule has: passwords, subrequests, client certificates, modules that
 * are not nginx's own. Such requests are refused, so that an import opens nothing.
 */
import { readAddresses } from '../addresses.ts';
import type { NginxDirective } from './parse-nginx.ts';

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
  const isAny = isSatisfiedByAny(blocks);
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
  // With `satisfy any` the addresses that a list allows need no password; the drop rule of the list refuses all others.
  const others = guards.filter((guard) => !isPassword(guard));
  if (unread !== undefined) return [...others, ...access];
  return lists.length > 0 && guards.some(isPassword) ? others : guards;
}

function isPassword({ directive }: NginxGuard): boolean {
  return directive.name.startsWith('auth_');
}

/** Whether one of the address and the password suffices. */
export function isSatisfiedByAny(blocks: readonly (readonly NginxDirective[])[]): boolean {
  return innermost(blocks, ({ name }) => name === 'satisfy')[0]?.args[0] === 'any';
}

/** The directives by which passwords, or requests to another server, let visitors in. */
export function passwordsOf(blocks: readonly (readonly NginxDirective[])[]): readonly NginxDirective[] {
  const names = [...namesOf(blocks)].filter((name) => name.startsWith('auth_'));
  const found = names.flatMap((name) => innermost(blocks, (one) => one.name === name)[0]!);
  return found.filter((one) => reasonOf(one) !== null);
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

/** The directives that are meant of the innermost block that has one. */
export function innermost(
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
function reasonOf({ name, args }: NginxDirective): string | null {
  const [first = ''] = args;
  // These have rules of their own.
  if (name === 'internal' || name === 'limit_except') return null;
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
