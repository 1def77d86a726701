/** The state of one import from nginx: what the parts of the translation share. */
import {
  addEntry,
  type DraftEntry,
  type ImportDraft,
  markDifference,
  markMissing,
  markNeedless,
} from '../draft.ts';
import type { ImportedFilter } from '../filter.ts';
import { directiveText, type NginxDirective } from './parse-nginx.ts';

/** The state. */
export interface NginxImport {
  readonly draft: ImportDraft;
  /** Entries of the report, by directive; they are ordered at the end. */
  readonly entries: Map<NginxDirective, DraftEntry>;
  /** Directives of `http`, outside its servers. */
  readonly http: readonly NginxDirective[];
  readonly upstreams: ReadonlyMap<string, NginxDirective>;
  /** `map` blocks by the variable they define, without `$`. */
  readonly maps: ReadonlyMap<string, NginxDirective>;
  /** `geo` blocks by the variable they define, without `$`. */
  readonly geos: ReadonlyMap<string, NginxDirective>;
  /** `limit_req_zone` by the name of the zone. */
  readonly zones: ReadonlyMap<string, NginxDirective>;
  /** Names of headers may have `_`, which variables do not distinguish from `-`. */
  readonly hasUnderscores: boolean;
}

/** Requests that end before rules which nginx evaluates later and edgeplan earlier. */
export interface EarlierOutcome {
  readonly filter: ImportedFilter;
  readonly place: string;
  /**
   * No location is the URL of its request. The edge leaves out a redirect to the request's own URL, so that others take no request
   * past a guard.
   */
  readonly leadsElsewhere: boolean;
}

/** The entry of a directive. */
export function entryOf({ draft, entries }: NginxImport, directive: NginxDirective): DraftEntry {
  const known = entries.get(directive);
  if (known !== undefined) return known;
  const entry = addEntry(draft, directive.place, directiveText(directive));
  entries.set(directive, entry);
  return entry;
}

/** Reports a directive with its whole block as not carried over. */
export function loseDirective(state: NginxImport, directive: NginxDirective, reason: string): void {
  markMissing(entryOf(state, directive), reason);
}

/** Directives that change headers. */
export const HEADER_DIRECTIVES: readonly string[] = [
  ...['add_header', 'expires', 'proxy_hide_header', 'proxy_set_header'],
  ...['more_set_headers', 'more_clear_headers', 'more_set_input_headers', 'more_clear_input_headers'],
];

/** Directives that set up nginx itself, its logs, connections and buffers. */
const NEEDLESS = new Set(
  `user worker_processes worker_rlimit_nofile worker_connections worker_cpu_affinity worker_shutdown_timeout pid daemon
  master_process events use multi_accept accept_mutex error_log access_log log_format log_not_found log_subrequest
  sendfile sendfile_max_chunk tcp_nopush tcp_nodelay keepalive keepalive_timeout keepalive_requests types_hash_max_size
  types_hash_bucket_size server_names_hash_bucket_size server_names_hash_max_size map_hash_bucket_size
  map_hash_max_size variables_hash_max_size variables_hash_bucket_size include default_type types charset load_module
  env thread_pool pcre_jit timer_resolution open_file_cache open_file_cache_valid open_file_cache_min_uses
  open_file_cache_errors reset_timedout_connection client_body_buffer_size client_header_buffer_size
  large_client_header_buffers proxy_buffering proxy_buffers proxy_buffer_size proxy_busy_buffers_size proxy_http_version
  proxy_connect_timeout proxy_read_timeout proxy_send_timeout proxy_temp_path proxy_request_buffering client_body_timeout
  client_header_timeout send_timeout resolver resolver_timeout server_tokens listen server_name ssl ssl_certificate
  ssl_certificate_key ssl_protocols ssl_ciphers ssl_prefer_server_ciphers ssl_session_cache ssl_session_timeout
  ssl_session_tickets ssl_dhparam ssl_ecdh_curve ssl_stapling ssl_stapling_verify ssl_trusted_certificate http2 zone
  rewrite_log limit_req_log_level limit_conn_log_level proxy_ssl_server_name proxy_next_upstream msie_padding
  chunked_transfer_encoding proxy_headers_hash_max_size proxy_headers_hash_bucket_size absolute_redirect
  port_in_redirect server_name_in_redirect underscores_in_headers ignore_invalid_headers merge_slashes`.split(
    /\s+/,
  ),
);

/** Families of directives that tune nginx or describe requests to programs, and decide nothing about a visitor. */
const TUNING =
  /^(?:(?:fastcgi|uwsgi|scgi|memcached|grpc)_(?!pass$|hide_header$|set_header$)|gzip_|brotli_|zstd_|quic_|http2_|http3|etag$|stub_status$|ssl_(?!verify|reject)|proxy_ssl_|aio|directio|output_buffers|lingering_|server_names|proxy_(?:max_temp|buffer|busy|socket|bind|temp|limit_rate|headers_hash|force_ranges|ignore_client_abort|intercept_errors|send_lowat|next_upstream|upstream|cache_(?:lock|use_stale|background|revalidate|path|max_range_offset|convert_head))|if_modified_since$|gunzip|postpone_output|read_ahead|max_ranges$|open_(?:file|log_file)_cache|(?:log|access_log|error_log)_|client_(?:body|header)_(?!max)|keepalive_|send_|sendfile|tcp_|types_|variables_|uninitialized_variable|subrequest_output|connection_pool_size$|request_pool_size$|worker_|debug_|lock_file$|working_directory$|vhost_traffic|opentracing|otel|charset_|source_charset$|override_charset$|recursive_error_pages$|limit_rate_after$|disable_symlinks$|autoindex_|mp4_|perl_modules|js_import|lua_)/;

/** Parts of guards, which are reported with the directive that turns the guard on. */
const GUARD_PARTS =
  /^(?:auth_basic_user_file|auth_(?:request_set|delay)|satisfy|ssl_(?:verify_depth|client_certificate|crl|ocsp\w*)|limit_(?:req|conn)_status)$/;

/** Why well-known directives have no equivalent. */
const REASONS: Readonly<Record<string, string>> = {
  root: 'the edge forwards to origins and serves no files',
  alias: 'the edge forwards to origins and serves no files',
  index: 'the edge forwards to origins and serves no files',
  autoindex: 'the edge forwards to origins and serves no files',
  try_files: 'the edge forwards to origins and serves no files',
  fastcgi_pass: 'an origin speaks HTTP',
  uwsgi_pass: 'an origin speaks HTTP',
  scgi_pass: 'an origin speaks HTTP',
  grpc_pass: 'no rule forwards gRPC on its own',
  memcached_pass: 'an origin speaks HTTP',
  modsecurity: 'the signatures of modsecurity are those of a rule of type waf; write one',
  auth_basic: 'no rule asks for a password',
  auth_request: 'no rule asks another server',
  gzip: 'the edge does not compress',
  limit_conn: 'no rule limits connections',
  limit_conn_zone: 'no rule limits connections',
  limit_rate: 'no rule limits the rate of octets',
  client_max_body_size: 'no rule limits the size of a request',
  error_page: 'an error page of nginx is a URI; write its HTML into a rule of type error_page',
  proxy_cache: 'caching of nginx has other keys and times; write a rule of type cache',
  proxy_cache_valid: 'caching of nginx has other keys and times; write a rule of type cache',
  proxy_redirect: 'the edge does not change the Location of an origin',
  sub_filter: 'the edge does not change response bodies',
  set_real_ip_from: 'trusted proxies are an option of the node (`--trusted-proxies`)',
  real_ip_header: 'trusted proxies are an option of the node (`--trusted-proxies`)',
};

/** Adds the entries of directives that no other part has reported, then orders all as in the source. */
export function reportRest(state: NginxImport, directives: readonly NginxDirective[]): void {
  const ordered: DraftEntry[] = [];
  const visit = (list: readonly NginxDirective[], lost: boolean): void => {
    for (const directive of list) {
      const { name, block } = directive;
      const known = state.entries.get(directive);
      if (known !== undefined) ordered.push(known);
      const isLost =
        lost || (known !== undefined && known.outcome !== 'exact' && known.outcome !== 'differs');
      if (block !== null) visitBlock(directive, isLost);
      else if (known === undefined && block === null && !lost) ordered.push(judge(directive));
      if (block !== null && name === 'location' && known !== undefined && !isLost) continue;
    }
  };
  const visitBlock = (directive: NginxDirective, lost: boolean): void => {
    const { name, block } = directive;
    // Entries of a table or of a group of servers are reported with the block.
    if (['events', 'types'].includes(name)) return;
    if (['map', 'geo', 'upstream'].includes(name)) {
      if (!state.entries.has(directive) && !lost) ordered.push(unused(directive));
      return;
    }
    if (['http', 'server', 'location', 'if', 'limit_except'].includes(name)) visit(block ?? [], lost);
    else if (!state.entries.has(directive) && !lost) ordered.push(judge(directive));
  };
  const judge = (directive: NginxDirective): DraftEntry => {
    const entry = entryOf(state, directive);
    if (directive.unread !== undefined) markMissing(entry, directive.unread);
    else if (NEEDLESS.has(directive.name) || TUNING.test(directive.name))
      markNeedless(entry, 'it sets up nginx itself');
    else if (directive.name.startsWith('auth_') && directive.args[0] === 'off')
      markNeedless(entry, 'it asks for nothing');
    else if (GUARD_PARTS.test(directive.name)) markNeedless(entry, 'it sets up the guard that names it');
    else if (HEADER_DIRECTIVES.includes(directive.name))
      markMissing(entry, 'other blocks answer the requests of its block, as rules have them');
    else {
      markMissing(entry, REASONS[directive.name] ?? 'edgeplan has no equivalent');
      entry.kind = directive.name;
    }
    return entry;
  };
  const unused = (directive: NginxDirective): DraftEntry => {
    const entry = entryOf(state, directive);
    markNeedless(entry, 'no directive that was carried over uses it');
    return entry;
  };
  visit(directives, false);
  const listed = new Set(ordered);
  const rest = state.draft.entries.filter((entry) => !listed.has(entry));
  state.draft.entries.splice(0, state.draft.entries.length, ...ordered, ...rest);
}

/** States a difference once for each entry. */
export function differ(entry: DraftEntry, reasons: readonly string[]): void {
  for (const reason of reasons) markDifference(entry, reason);
}

const HEADER_NOTE =
  'conditions on headers compare each line of a repeated header; nginx joins the lines with `, ` or reads the first, as its version does';
const COUNTRY_NOTE = 'countries are those of the database of the edge, which may differ from that of nginx';

/** Of rules that a guard has beside its first. */
export const REPEATED_NOTE =
  'a header, parameter or cookie that must have a value has a second rule with a regex: it refuses requests that repeat the name with another value';

/** Adds a note once. */
export function note({ draft }: NginxImport, text: string): void {
  if (!draft.notes.includes(text)) draft.notes.push(text);
}

/** Adds what is true of every condition on headers or countries to the notes, if a filter has one. */
export function noteFilters(state: NginxImport, filters: readonly ImportedFilter[]): void {
  const asksHeader = filters.some(({ facts }) => facts.some(({ member }) => member === 'headers'));
  const asksCountry = filters.some(
    ({ countryIncludes, countryExcludes }) => countryIncludes !== null || countryExcludes.length > 0,
  );
  if (asksHeader) note(state, HEADER_NOTE);
  if (asksCountry) note(state, COUNTRY_NOTE);
}
