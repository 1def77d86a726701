/** Runs nginx with a configuration on this machine, with origins that answer with what they got. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as requestHttp, type Server } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NginxDirective } from '../../workbench/importers/nginx/parse-nginx.ts';
import { withKnownPasses } from '../../workbench/importers/nginx/set-variables.ts';
import { inputFault } from '../exit.ts';

/** What a visitor asks. */
export interface CheckedRequest {
  readonly scheme: 'http' | 'https';
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly ip: string;
  /** By names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came of it, as nginx and the edge are compared by it. */
export type CheckedOutcome =
  | { readonly kind: 'redirect'; readonly status: number; readonly url: string }
  /** `host`: the Host header that the origin gets. */
  | { readonly kind: 'forward'; readonly origin: string; readonly target: string; readonly host: string }
  /** `status` 0: the connection was closed; `isReturned`: by a `return`. */
  | { readonly kind: 'answer'; readonly status: number; readonly isReturned?: boolean };

/** Fields of a message: name and value. */
export type CheckedFields = readonly (readonly [string, string])[];

/** A request with its answer, and the fields of both messages. */
export interface CheckedExchange {
  readonly outcome: CheckedOutcome;
  readonly status: number;
  /** Of the answer. */
  readonly response: CheckedFields;
  /** Of the request that the origin got; `null`: none did. */
  readonly received: CheckedFields | null;
}

/** The fields that each origin answers with. */
export const ORIGIN_FIELDS: CheckedFields = [
  ['X-Powered-By', 'origin'],
  ['X-Frame-Options', 'SAMEORIGIN'],
];

/** A running nginx. */
export interface RunningNginx {
  /** Sends a request to the listener of its scheme; `null`: the configuration has none. */
  ask(request: CheckedRequest): Promise<CheckedOutcome | null>;
  /** `ask`, with the fields of the messages. */
  exchange(request: CheckedRequest): Promise<CheckedExchange | null>;
  stop(): Promise<void>;
}

/** Where nginx is installed; `null`: it is not. */
export function findNginx(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path)) ?? null;
}

/** Origins of the configuration, each a local server. */
interface LocalOrigins {
  readonly portOf: (origin: string) => number;
  readonly servers: readonly Server[];
}

/** Starts a server for each origin that the directives name. */
async function startOrigins(directives: readonly NginxDirective[]): Promise<LocalOrigins> {
  const groups = new Set<string>();
  const found = new Set<string>();
  const visit = (list: readonly NginxDirective[], outer: string): void => {
    for (const { name, args, block } of list) {
      const [first = ''] = args;
      if (name === 'upstream') groups.add(first);
      if (name === 'server' && outer === 'upstream') found.add(first);
      const authority =
        name === 'proxy_pass' ? /^https?:\/\/(unix:[^:]+:?|[^/$]+)/.exec(first)?.[1] : undefined;
      if (authority !== undefined) found.add(authority);
      visit(block ?? [], name);
    }
  };
  visit(directives, '');
  const ports = new Map<string, number>();
  const servers: Server[] = [];
  for (const origin of found) {
    if (groups.has(origin)) continue;
    const server = createServer((request, response) => {
      response.setHeader('X-Origin', origin);
      for (const [name, value] of ORIGIN_FIELDS) response.setHeader(name, value);
      response.setHeader('X-Received', encodeURIComponent(JSON.stringify(fieldsOf(request))));
      response.setHeader('X-Target', request.url ?? '');
      response.setHeader('X-Host', request.headers.host ?? '');
      response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    ports.set(origin, (server.address() as AddressInfo).port);
  }
  return { portOf: (origin) => ports.get(origin) ?? 0, servers };
}

/** The fields of a message, as they were sent. */
function fieldsOf({ rawHeaders }: IncomingMessage): CheckedFields {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]!] as const] : []));
}

/** Makes the certificate of TLS listeners. @throws CommandFault without openssl */
function makeCertificate(folder: string): void {
  const out = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  try {
    execFileSync('openssl', ['req', '-x509', ...key, '-subj', '/CN=edgeplan-check', ...out], {
      stdio: 'ignore',
    });
  } catch (cause) {
    throw inputFault('the certificate of the check cannot be made', { cause, remedy: 'install openssl' });
  }
}

/** Starts nginx with directives. @throws CommandFault when it refuses them */
export async function runNginx(program: string, written: readonly NginxDirective[]): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-check-'));
  const directives = withKnownPasses(written);
  const { servers, portOf } = await startOrigins(directives);
  const clean = (): void => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    makeCertificate(folder);
    writeFileSync(join(folder, 'no-users'), '');
    const { text, ports } = localise(directives, { folder, portOf });
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, text);
    const tested = spawnSync(program, ['-t', '-q', '-p', folder, '-c', file], { encoding: 'utf8' });
    if (tested.status !== 0) {
      const reason = tested.stderr.split('\n').find((line) => line.includes('[emerg]')) ?? tested.stderr;
      throw inputFault(`nginx refuses the configuration: ${reason.trim().replaceAll(`${file}:`, 'line ')}`);
    }
    const child = spawn(program, ['-p', folder, '-c', file], { stdio: 'ignore' });
    await untilListening(
      child,
      ports.map((port) => socketOf(folder, port)),
    );
    const exchange = (request: CheckedRequest): Promise<CheckedExchange | null> => {
      const port = request.scheme === 'https' ? 443 : 80;
      if (!ports.includes(port)) return Promise.resolve(null);
      return send(socketOf(folder, port), { request, portOf });
    };
    return {
      exchange,
      ask: async (request) => (await exchange(request))?.outcome ?? null,
      async stop() {
        const ended = once(child, 'exit');
        child.kill();
        await ended;
        clean();
      },
    };
  } catch (error) {
    clean();
    throw error;
  }
}

async function untilListening(child: ChildProcess, sockets: readonly string[]): Promise<void> {
  for (const path of sockets) {
    for (;;) {
      if (child.exitCode !== null) throw inputFault(`nginx ended with ${child.exitCode}`);
      const socket = connect(path);
      const isOpen = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false);
      socket.destroy();
      if (isOpen) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Sends one request, and reads the answer. */
async function send(
  socketPath: string,
  { request: asked, portOf }: { readonly request: CheckedRequest; readonly portOf: LocalOrigins['portOf'] },
): Promise<CheckedExchange> {
  const { scheme, method, host, target, ip } = asked;
  const open = scheme === 'https' ? requestHttps : requestHttp;
  const headers = { ...asked.headers, Host: host, 'X-Test-Ip': ip, Connection: 'close' };
  const tls = scheme === 'https' ? { rejectUnauthorized: false, servername: host } : {};
  const response = await new Promise<IncomingMessage | null>((resolve) => {
    const request = open({ socketPath, method, path: target, headers, ...tls }, resolve);
    request.on('error', () => resolve(null));
    request.end();
  });
  if (response === null)
    return { outcome: { kind: 'answer', status: 0 }, status: 0, response: [], received: null };
  response.resume();
  await once(response, 'end');
  const received = response.headers['x-received'];
  return {
    outcome: outcomeOf(response, asked, portOf),
    status: response.statusCode!,
    response: fieldsOf(response),
    received: received === undefined ? null : JSON.parse(decodeURIComponent(String(received))),
  };
}

/** What came of a request, by its answer. */
function outcomeOf(
  response: IncomingMessage,
  { scheme, host, target }: CheckedRequest,
  portOf: LocalOrigins['portOf'],
): CheckedOutcome {
  const { location } = response.headers;
  const header = (name: string): string => String(response.headers[name] ?? '');
  const origin = header('x-origin');
  if (origin !== '') {
    const isOwn = header('x-host') === `127.0.0.1:${portOf(origin)}`;
    return { kind: 'forward', origin, target: header('x-target'), host: isOwn ? origin : header('x-host') };
  }
  const status = response.statusCode!;
  if (location === undefined || status < 300 || status > 399)
    return header('x-returned') === ''
      ? { kind: 'answer', status }
      : { kind: 'answer', status, isReturned: true };
  const base = `${scheme}://${host}${target}`;
  return {
    kind: 'redirect',
    status,
    url: URL.canParse(location, base) ? new URL(location, base).href : location,
  };
}

// Rewrites an nginx configuration so that it runs on this machine alone: listeners become sockets of a folder, origins local
// servers, and what names certificates, logs or users is left out.

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
function socketOf(folder: string, port: number): string {
  return join(folder, `${port}.sock`);
}

/**
 * Directives of the main level, those that name files, users, logs or other machines, those of modules that may be missing, and
 * those of TLS, which current clients may refuse.
 */
const DROPPED =
  /^(?:more_\w+|user|daemon|master_process|pid|worker_\w+|load_module|events|error_log|access_log|log_format|lock_file|env|include|real_ip_header|set_real_ip_from|real_ip_recursive|ssl_certificate\w*|ssl_(?:protocols|ciphers|ecdh_curve|conf_command|dhparam)|server_names_hash_\w+|ssl_trusted_certificate|ssl_crl|ssl_stapling\w*|ssl_session_ticket_key|ssl_password_file|\w+_temp_path|proxy_ssl_\w+|open_log_file_cache|autoindex|pcre_jit|thread_pool|timer_resolution|http2|http3|quic_\w+|mail|stream)$/;

/** The variable that says that a `return` gave the status. */
const RETURNED = '$edgeplan_returned';

/** The header that has it. A block with headers of its own inherits none. */
const RETURNED_HEADER = `add_header X-Returned ${RETURNED} always;`;

/** Rewrites the directives of a configuration. */
function localise(directives: readonly NginxDirective[], parts: LocalParts): LocalConfiguration {
  const ports = new Set<number>();
  const inner = directives.flatMap((one) => (one.name === 'http' ? (one.block ?? []) : [one]));
  const { folder } = parts;
  const certificate = join(folder, 'tls');
  const head = [
    RETURNED_HEADER,
    'access_log off; autoindex on; real_ip_header X-Test-Ip; set_real_ip_from unix:;',
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
  if (block.some((one) => one.name === 'add_header')) head.push(RETURNED_HEADER);
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
  // Files of this machine are none of the configuration.
  if (name === 'root' || name === 'alias') return [`${folder}/no-files/${first}`];
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
  if (/^[\w./:=!~^*@-]+$/.test(word)) return word;
  return `"${word.replace(/["\\]/g, '\\$&')}"`;
}
