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
import { inputFault } from '../exit.ts';
import { localise, socketOf } from './localise.ts';

/** What a visitor asks. */
export interface CheckedRequest {
  readonly scheme: 'http' | 'https';
  readonly method: string;
  readonly host: string;
  readonly target: string;
  readonly ip: string;
}

/** What came of it, as nginx and the edge are compared by it. */
export type CheckedOutcome =
  | { readonly kind: 'redirect'; readonly status: number; readonly url: string }
  /** `host`: the Host header that the origin gets. */
  | { readonly kind: 'forward'; readonly origin: string; readonly target: string; readonly host: string }
  /** `status` 0: the connection was closed; `isReturned`: by a `return`. */
  | { readonly kind: 'answer'; readonly status: number; readonly isReturned?: boolean };

/** A running nginx. */
export interface RunningNginx {
  /** Sends a request to the listener of its scheme; `null`: the configuration has none. */
  ask(request: CheckedRequest): Promise<CheckedOutcome | null>;
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
export async function runNginx(
  program: string,
  directives: readonly NginxDirective[],
): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-check-'));
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
    return {
      ask: (request) => {
        const port = request.scheme === 'https' ? 443 : 80;
        if (!ports.includes(port)) return Promise.resolve(null);
        return ask(socketOf(folder, port), { request, portOf });
      },
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

/** Sends one request, and reads the answer as an outcome. */
async function ask(
  socketPath: string,
  { request: asked, portOf }: { readonly request: CheckedRequest; readonly portOf: LocalOrigins['portOf'] },
): Promise<CheckedOutcome> {
  const { scheme, method, host, target, ip } = asked;
  const send = scheme === 'https' ? requestHttps : requestHttp;
  const headers = { Host: host, 'X-Test-Ip': ip, Connection: 'close' };
  const tls = scheme === 'https' ? { rejectUnauthorized: false, servername: host } : {};
  const response = await new Promise<IncomingMessage | null>((resolve) => {
    const request = send({ socketPath, method, path: target, headers, ...tls }, resolve);
    request.on('error', () => resolve(null));
    request.end();
  });
  if (response === null) return { kind: 'answer', status: 0 };
  response.resume();
  await once(response, 'end');
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
