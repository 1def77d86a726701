/**
 * Runs a configuration of nginx as an operator wrote it, on ports of this machine: listeners and origins are replaced by
 * local ones, the visitor's address comes from a header, and origins answer with what they got.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as requestHttp,
  type Server,
} from 'node:http';
import { createServer as createTlsServer, request as requestHttps } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-ports.ts';
import { makeCertificate } from '../make-certificate.ts';
import { findProgram } from '../requires.ts';

/** What a visitor asks. */
export interface SourceRequest {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly target: string;
  readonly ip: string;
}

/** What came of it, as nginx and the edge are compared by it. */
export type SourceOutcome =
  | { readonly kind: 'redirect'; readonly status: number; readonly url: string }
  | { readonly kind: 'forward'; readonly origin: string; readonly target: string; readonly host: string }
  /** `status` 0: the connection was closed. */
  | { readonly kind: 'answer'; readonly status: number };

/** A running nginx. */
export interface RunningSource {
  /** Sends a request to the listener of its scheme; `null`: the configuration has none. */
  ask(request: SourceRequest): Promise<SourceOutcome | null>;
  stop(): Promise<void>;
}

/** An address in the configuration, with the local port that stands for it. */
interface LocalOrigin {
  readonly written: string;
  readonly port: number;
  readonly server: Server;
}

async function listenLocally(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Starts an origin that answers with the request line and the Host header it got. */
async function startOrigin(written: string, tls: { cert: Buffer; key: Buffer } | null): Promise<LocalOrigin> {
  const answer: RequestListener = (request, response) => {
    response.setHeader('X-Origin', written);
    response.setHeader('X-Target', request.url ?? '');
    response.setHeader('X-Host', request.headers.host ?? '');
    response.end('ok');
  };
  const server = tls === null ? createServer(answer) : createTlsServer(tls, answer);
  return { written, port: await listenLocally(server), server };
}

/** Starts nginx with a configuration. */
export async function runNginx(text: string): Promise<RunningSource> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-import-'));
  const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  await makeCertificate({ names: ['origin.test'], cert, key });
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
  const origins: LocalOrigin[] = [];
  let local = text;
  const addresses = [
    ...text.matchAll(/(?:proxy_pass "?(https?):\/\/|server )(\d+\.\d+\.\d+\.\d+(?::\d+)?)/g),
  ];
  for (const [, scheme, written] of addresses) {
    if (origins.some((one) => one.written === written)) continue;
    origins.push(await startOrigin(written!, scheme === 'https' ? tls : null));
  }
  for (const { written, port } of origins.sort((one, other) => other.written.length - one.written.length))
    local = local.replaceAll(
      new RegExp(`(//|server )${written.replaceAll('.', '\\.')}(?=[/;" ])`, 'g'),
      `$1127.0.0.1:${port}`,
    );
  const ports = new Map<string, number>();
  for (const [, port] of text.matchAll(/listen "?(\d+)/g)) {
    if (!ports.has(port!)) ports.set(port!, await freePort());
  }
  local = local
    .replaceAll(/^\s*listen \[::\].*$/gm, '')
    .replaceAll(/listen "?(\d+)"?/g, (_, port: string) => `listen 127.0.0.1:${ports.get(port)!}`)
    .replaceAll(/\bhttp2\b/g, '')
    .replaceAll(/^\s*(?:ssl_certificate|ssl_certificate_key) .*$/gm, '')
    .replaceAll(/^events \{\}$/gm, '');
  const head = `access_log off; real_ip_header X-Test-Ip; set_real_ip_from 127.0.0.1;
    ssl_certificate ${cert}; ssl_certificate_key ${key}; server_names_hash_bucket_size 128;
    client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;`;
  const http = /^http \{/m.test(local)
    ? local.replace(/^http \{/m, `http { ${head}`)
    : `http { ${head}\n${local}\n}`;
  const main = `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log crit; events { worker_connections 512; }\n`;
  writeFileSync(join(folder, 'nginx.conf'), main + http);
  const child = spawn(findProgram('nginx')!, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await untilListening(child, [...ports.values()], () => said);
  const local80 = ports.get('80');
  return {
    ask: (request) => {
      const port = request.scheme === 'https' ? ports.get('443') : local80;
      return port === undefined ? Promise.resolve(null) : ask(port, request, origins);
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      for (const { server } of origins) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(
  child: ChildProcess,
  ports: readonly number[],
  said: () => string,
): Promise<void> {
  for (const port of ports) {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${said()}`);
      const socket = connect(port, '127.0.0.1');
      const isOpen = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false);
      socket.destroy();
      if (isOpen) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Sends one request, and reads the answer as an outcome in the words of the configuration. */
async function ask(
  port: number,
  { scheme, host, target, ip }: SourceRequest,
  origins: readonly LocalOrigin[],
): Promise<SourceOutcome> {
  const send = scheme === 'https' ? requestHttps : requestHttp;
  const options = {
    host: '127.0.0.1',
    port,
    path: target,
    headers: { Host: host, 'X-Test-Ip': ip, Connection: 'close' },
    ...(scheme === 'https' ? { rejectUnauthorized: false, servername: host } : {}),
  };
  const response = await new Promise<IncomingMessage | null>((resolve) => {
    const request = send(options, resolve);
    request.on('error', () => resolve(null));
    request.end();
  });
  if (response === null) return { kind: 'answer', status: 0 };
  response.resume();
  await once(response, 'end');
  const status = response.statusCode!;
  const { location } = response.headers;
  const header = (name: string): string => String(response.headers[name] ?? '');
  if (header('x-origin') !== '') {
    const local = origins.find((one) => header('x-host') === `127.0.0.1:${one.port}`);
    const shown = local === undefined ? header('x-host') : local.written;
    return { kind: 'forward', origin: header('x-origin'), target: header('x-target'), host: shown };
  }
  if (location === undefined) return { kind: 'answer', status };
  const url = new URL(location, `${scheme}://${host}${target}`).href.replace(`${host}:${port}`, host);
  return { kind: 'redirect', status, url };
}
