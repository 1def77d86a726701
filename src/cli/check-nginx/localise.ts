/**
 * Rewrites an nginx configuration so that it runs on this machine alone: listeners become sockets of a folder, origins local
 * servers, and what names certificates, logs or users is left out.
 */
import { join } from 'node:path';
import type { NginxDirective } from '../../workbench/importers/nginx/parse-nginx.ts';

/** What stands for the machine of the configuration. */
export interface LocalParts {
  /** For sockets, temporary files and the certificate; its path has no spaces. */
  readonly folder: string;
  /** The port of the local server for an origin as the configuration writes it. */
  readonly portOf: (origin: string) => number;
}

/** A configuration that runs, and the ports of the source that have a socket in the folder. */
export interface LocalConfiguration {
  readonly text: string;
  readonly ports: readonly number[];
}

/** The socket of a port. */
export function socketOf(folder: string, port: number): string {
  return join(folder, `${port}.sock`);
}

/** Directives of the main level, those that name files, users, logs or other machines, and those that set response headers. */
const DROPPED =
  /^(?:add_header|expires|user|daemon|master_process|pid|worker_\w+|load_module|events|error_log|access_log|log_format|lock_file|env|include|real_ip_header|set_real_ip_from|real_ip_recursive|ssl_certificate\w*|ssl_dhparam|ssl_trusted_certificate|ssl_crl|ssl_stapling\w*|ssl_session_ticket_key|ssl_password_file|\w+_temp_path|proxy_ssl_\w+|open_log_file_cache|pcre_jit|thread_pool|timer_resolution|http2|http3|quic_\w+|mail|stream)$/;

/** The variable that says that a `return` gave the status. */
const RETURNED = '$edgeplan_returned';

/** Rewrites the directives of a configuration. */
export function localise(directives: readonly NginxDirective[], parts: LocalParts): LocalConfiguration {
  const ports = new Set<number>();
  const inner = directives.flatMap((one) => (one.name === 'http' ? (one.block ?? []) : [one]));
  const { folder } = parts;
  const certificate = join(folder, 'tls');
  const head = [
    `add_header X-Returned ${RETURNED} always;`,
    'access_log off; real_ip_header X-Test-Ip; set_real_ip_from unix:;',
    `ssl_certificate ${certificate}.crt; ssl_certificate_key ${certificate}.key; server_names_hash_bucket_size 256;`,
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    ),
  ];
  const body = inner.map((one) => directiveOf(one, parts, ports)).join('\n');
  const main = `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log crit; events { worker_connections 512; }`;
  return { text: `${main}\nhttp {\n${head.join('\n')}\n${body}\n}\n`, ports: [...ports] };
}

/** The text of a directive and its block; empty: it is left out. */
function directiveOf(directive: NginxDirective, parts: LocalParts, ports: Set<number>): string {
  const { name, block } = directive;
  if (DROPPED.test(name)) return '';
  if (block === null) {
    const text = `${[name, ...localArguments(directive, parts)].map(quoted).join(' ')};`;
    // A header distinguishes the status of a `return` from that of a missing file.
    return name === 'return' ? `set ${RETURNED} 1; ${text}` : text;
  }
  const head = name === 'server' ? [...localListens(block, parts, ports), `set ${RETURNED} "";`] : [];
  const inner = block.filter((one) => one.name !== 'listen').map((one) => bodyOf(name, one, parts, ports));
  const opened = [name, ...directive.args]
    .map(quoted)
    .join(' ')
    // The empty text that an `if` compares with has no word of its own.
    .replace(/(?<= !?(?:=|~\*?) )"?\)"?$/, '"")');
  return `${opened} {\n${[...head, ...inner].join('\n')}\n}`;
}

/** A directive of a block; those of an upstream name origins. */
function bodyOf(outer: string, one: NginxDirective, parts: LocalParts, ports: Set<number>): string {
  if (outer !== 'upstream' || one.name !== 'server') return directiveOf(one, parts, ports);
  const [address = '', ...flags] = one.args;
  const local = [
    `127.0.0.1:${parts.portOf(address)}`,
    ...flags.filter((flag) => !flag.startsWith('resolve')),
  ];
  return `server ${local.map(quoted).join(' ')};`;
}

/** The listeners of a server: one socket for each port. */
function localListens(
  block: readonly NginxDirective[],
  { folder }: LocalParts,
  ports: Set<number>,
): readonly string[] {
  const written = block.filter(({ name }) => name === 'listen');
  const found = new Map<number, Set<string>>();
  for (const { args } of written.length === 0 ? [{ args: ['80'] }] : written) {
    const [address = '', ...flags] = args;
    if (address.startsWith('unix:') || flags.includes('quic')) continue;
    const port = Number(/(?:^|:)(\d{1,5})$/.exec(address)?.[1] ?? 80);
    const own = found.get(port) ?? new Set();
    for (const flag of flags) {
      if (flag === 'ssl') own.add('ssl');
      if (flag === 'default_server' || flag === 'default') own.add('default_server');
    }
    found.set(port, own);
  }
  return [...found].map(([port, flags]) => {
    ports.add(port);
    return `listen unix:${socketOf(folder, port)} ${[...flags].join(' ')};`;
  });
}

/** The arguments of a directive with local origins and files. */
function localArguments({ name, args }: NginxDirective, { folder, portOf }: LocalParts): readonly string[] {
  const [first = '', ...rest] = args;
  if (name === 'proxy_pass') {
    const [, authority, uri = ''] = /^https?:\/\/(unix:[^:]+:?|[^/$]+)(.*)$/s.exec(first) ?? [];
    if (authority === undefined) return args;
    return [`http://${localAuthority(authority, portOf)}${uri}`];
  }
  if (/^(?:fastcgi|uwsgi|scgi|grpc|memcached)_pass$/.test(name)) return ['127.0.0.1:9'];
  if (name.endsWith('_user_file')) return [join(folder, 'no-users')];
  if (name === 'ssl_client_certificate') return [join(folder, 'tls.crt')];
  if (name === 'proxy_cache_path') return [join(folder, 'cache'), ...rest];
  return args;
}

/** The authority of an origin on this machine; groups have local servers already. */
function localAuthority(authority: string, portOf: LocalParts['portOf']): string {
  const port = portOf(authority);
  return port === 0 ? authority : `127.0.0.1:${port}`;
}

/** A word of a configuration; letters, digits and a few signs need no quotes. */
function quoted(word: string): string {
  if (/^[\w./:=~^*@-]+$/.test(word)) return word;
  return `"${word.replace(/["\\]/g, '\\$&')}"`;
}
