/** Runs HAProxy with a configuration on this machine, with origins that answer with what they got. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as requestHttp, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { CheckedOutcome, CheckedRequest } from '../../../src/cli/check-nginx/run-nginx.ts';
import { freePorts } from '../free-ports.ts';
import { makeCertificate } from '../make-certificate.ts';
import { findProgram } from '../requires.ts';

/** A request with its headers. */
export interface HaproxyRequest extends CheckedRequest {
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came of it, with the headers that the origin and the visitor got. */
export interface HaproxyAnswer {
  readonly outcome: CheckedOutcome;
  readonly received: Readonly<Record<string, unknown>>;
  readonly sent: Readonly<Record<string, unknown>>;
}

/** A running HAProxy. */
export interface RunningHaproxy {
  /** Sends a request to the listener of its scheme; `null`: the configuration has none. */
  ask(request: HaproxyRequest): Promise<HaproxyAnswer | null>;
  stop(): Promise<void>;
}

/** The ports of the listeners that stand for 80 and 443; 0: there is no such listener. */
interface Ports {
  http: number;
  https: number;
}

/** Starts HAProxy with the text of a configuration whose files are in a folder. */
export async function runHaproxy(text: string, files: string): Promise<RunningHaproxy> {
  const program = findProgram('haproxy') ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-haproxy-'));
  const origins = await startOrigins(text);
  const ports: Ports = { http: 0, https: 0 };
  const first = await freePorts(12);
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await makeCertificate({ names: ['example.com'], cert, key });
  writeFileSync(join(folder, 'tls.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  const local = localise(text, {
    folder,
    files,
    first,
    ports,
    portOf: (address) => origins.ports.get(address)!,
  });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, local);
  const tested = spawnSync(program, ['-c', '-f', file], { encoding: 'utf8' });
  if (tested.status !== 0) throw new Error(`${tested.stdout}${tested.stderr}`);
  const child = spawn(program, ['-db', '-q', '-f', file], { stdio: 'ignore' });
  for (const port of [ports.http, ports.https]) if (port > 0) await untilListening(child, port);
  return {
    ask: (request) =>
      ports[request.scheme] === 0 ? Promise.resolve(null) : ask(ports[request.scheme], request),
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      for (const server of origins.servers) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server for each address of a `server` line. */
async function startOrigins(text: string): Promise<{ ports: Map<string, number>; servers: Server[] }> {
  const ports = new Map<string, number>();
  const servers: Server[] = [];
  for (const [, address = ''] of text.matchAll(/^\s*server \S+ (\S+)/gm)) {
    if (ports.has(address)) continue;
    const server = createServer((request, response) => {
      response.setHeader('X-Origin', address);
      response.setHeader('X-Target', request.url ?? '');
      response.setHeader('X-Received', JSON.stringify(request.headers));
      response.setHeader('Server', 'origin');
      response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    ports.set(address, (server.address() as AddressInfo).port);
  }
  return { ports, servers };
}

/** The configuration with listeners, origins and files of this machine; visitors are named by the PROXY protocol. */
function localise(
  text: string,
  {
    folder,
    files,
    first,
    ports,
    portOf,
  }: {
    readonly folder: string;
    readonly files: string;
    readonly first: number;
    readonly ports: Ports;
    readonly portOf: (address: string) => number;
  },
): string {
  let next = first;
  let isGlobal = false;
  const lines = text.split('\n').map((line) => {
    if (/^\S/.test(line) && !line.startsWith('#')) isGlobal = line.startsWith('global');
    const [, port] = /^\s*bind \S*:(\d+)/.exec(line) ?? [];
    if (port !== undefined) {
      const own = next++;
      const isTls = / ssl /.test(line);
      if (port === '80') ports.http = own;
      if (port === '443') ports.https = own;
      return `    bind 127.0.0.1:${own} accept-proxy${isTls ? ` ssl crt ${join(folder, 'tls.pem')}` : ''}`;
    }
    if (isGlobal && /^\s/.test(line)) return '';
    if (/^\s*(?:log|option httplog) /.test(line)) return '';
    return line
      .replace(/^(\s*server \S+) (\S+)(.*)$/, (_, start: string, address: string, rest: string) => {
        return `${start} 127.0.0.1:${portOf(address)}${rest.replace(/ check\b/, '')}`;
      })
      .replaceAll('/etc/haproxy/', files);
  });
  return `${lines.join('\n')}\n`;
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`haproxy ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sends one request from an address, and reads the answer. */
async function ask(port: number, request: HaproxyRequest): Promise<HaproxyAnswer> {
  const { scheme, method, host, target, ip, headers = {} } = request;
  const plain = connect(port, '127.0.0.1');
  plain.on('error', () => undefined);
  const family = ip.includes(':') ? 'TCP6' : 'TCP4';
  plain.write(`PROXY ${family} ${ip} ${family === 'TCP6' ? '::1' : '127.0.0.1'} 40000 ${port}\r\n`);
  const socket: Socket =
    scheme === 'http' ? plain : connectTls({ socket: plain, servername: host, rejectUnauthorized: false });
  const response = await new Promise<IncomingMessage | null>((resolve) => {
    const sent = requestHttp(
      {
        createConnection: () => socket,
        method,
        path: target,
        headers: { ...headers, Host: host, Connection: 'close' },
      },
      resolve,
    );
    sent.on('error', () => resolve(null));
    sent.end();
  });
  if (response === null) return { outcome: { kind: 'answer', status: 0 }, received: {}, sent: {} };
  response.resume();
  await once(response, 'end').catch(() => undefined);
  socket.destroy();
  return answerOf(response, request);
}

function answerOf(response: IncomingMessage, { scheme, host, target }: HaproxyRequest): HaproxyAnswer {
  const header = (name: string): string => String(response.headers[name] ?? '');
  const { location } = response.headers;
  const status = response.statusCode!;
  const received = JSON.parse(header('x-received') || '{}') as Record<string, unknown>;
  const origin = header('x-origin');
  const rest = { received, sent: response.headers };
  if (origin !== '')
    return {
      outcome: { kind: 'forward', origin, target: header('x-target'), host: String(received['host']) },
      ...rest,
    };
  if (location === undefined || status < 300 || status > 399)
    return { outcome: { kind: 'answer', status }, ...rest };
  const base = `${scheme}://${host}${target}`;
  return { outcome: { kind: 'redirect', status, url: new URL(location, base).href }, ...rest };
}
