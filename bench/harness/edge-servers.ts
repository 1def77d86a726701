/** What the node's bench sets beside each other: an origin, and before it nginx, HAProxy and the node itself. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, get as httpGet, type IncomingHttpHeaders } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-ports.ts';
import { type RunningNginx, startNginx } from './nginx.ts';
import { endWithUs, stop } from './process.ts';

const CLI = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const COUNTING = fileURLToPath(new URL('subjects/counting-node.js', import.meta.url));
const HAPROXY = '/usr/sbin/haproxy';
export const HOST = 'shop.example';
const SMALL = 'x'.repeat(66);
const LARGE = 'y'.repeat(64 * 1024);

export interface Server {
  readonly name: string;
  readonly port: number;
  readonly tlsPort: number | null;
  readonly process: ChildProcess;
  /** Processes that work for it, whose processor time counts too. */
  readonly helpers?: readonly ChildProcess[];
  stop(): Promise<void>;
}

/** A certificate for the host, as files in a folder. */
export function makeCertificate(folder: string): void {
  const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const files = ['-keyout', join(folder, 'shop.key'), '-out', join(folder, 'shop.crt')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files], { stdio: 'ignore' });
}

function asServer(name: string, nginx: RunningNginx, tlsPort: number | null = null): Server {
  return { name, port: nginx.port, tlsPort, process: nginx.process, stop: nginx.stop };
}

export async function startOrigin(): Promise<Server> {
  const text = 'default_type text/plain; add_header Cache-Control';
  const nginx = await startNginx({
    server: `
      location /small { ${text} no-store; return 200 "${SMALL}"; }
      location /cached/small { ${text} "max-age=3600"; return 200 "${SMALL}"; }
      location /large { ${text} no-store; alias {folder}/large; }`,
    files: { large: LARGE },
  });
  return asServer('origin', nginx);
}

export async function startTheirs(origin: number, folder: string): Promise<Server> {
  const tlsPort = await freePort();
  const pass = [
    'proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";',
    'proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr;',
    'proxy_set_header X-Forwarded-Proto $scheme;',
  ].join(' ');
  const nginx = await startNginx({
    http: `
      upstream origin { server 127.0.0.1:${origin}; keepalive 64; keepalive_requests 100000000; }
      proxy_cache_path {folder}/cache keys_zone=cache:10m;`,
    server: `
      listen 127.0.0.1:${tlsPort} ssl http2;
      client_max_body_size 0;
      ssl_certificate ${folder}/shop.crt; ssl_certificate_key ${folder}/shop.key;
      location / { ${pass} }
      location /cached/ { ${pass} proxy_cache cache; }`,
  });
  return asServer('nginx', nginx, tlsPort);
}

export function hasHaproxy(): boolean {
  return existsSync(HAPROXY);
}

export async function startHaproxy(origin: number, folder: string): Promise<Server> {
  const port = await freePort();
  const text = `
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option forwardfor
frontend front
  bind 127.0.0.1:${port}
  default_backend origin
backend origin
  http-reuse always
  server one 127.0.0.1:${origin}
`;
  writeFileSync(join(folder, 'haproxy.cfg'), text);
  const child = spawn(HAPROXY, ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
  endWithUs(child);
  await waitFor(port);
  return { name: 'HAProxy', port, tlsPort: null, process: child, stop: () => stop(child) };
}

/** Waits until a server answers, or for five seconds. */
export async function waitFor(port: number): Promise<void> {
  for (let look = 0; look < 100 && !(await isAnswering(port)); look++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function isAnswering(port: number): Promise<boolean> {
  return (await ask({ port, path: '/small', tls: false }).catch(() => null)) !== null;
}

interface OurOptions {
  readonly folder: string;
  readonly port: number;
  readonly rules: readonly object[];
}

export async function startOurs(name: string, { folder, port, rules }: OurOptions): Promise<Server> {
  const cache = { type: 'cache', path_includes: ['/cached/*'] };
  const record = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port };
  const edge = { domain: { name: HOST }, records: [record], rules: [...rules, cache] };
  const own = mkdtempSync(join(folder, 'node-'));
  const file = join(own, 'edge.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(edge));
  const secure = ['--tls-port', '0', '--certificates', folder, '--default-certificate', HOST];
  const flags = ['--port', '0', ...secure, '--data', join(own, 'data'), '--no-disk-cache'];
  const child = spawn(process.execPath, [CLI, 'node', '--file', file, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  const ports: number[] = [];
  for await (const line of createInterface(child.stdout!)) {
    const told = /^listening on https?:\/\/[^/]*:(\d+)/.exec(line)?.[1];
    if (told !== undefined) ports.push(Number(told));
    if (ports.length === 2) break;
  }
  const [plain, tls] = ports;
  if (plain === undefined || tls === undefined) throw new Error('`edgeplan node` did not start');
  child.stdout!.resume();
  return { name, port: plain, tlsPort: tls, process: child, stop: () => stop(child) };
}

/** Our node with counts of traffic for a control plane at an address, or without; one program (`counting-node.ts`). */
export async function startCounting(
  name: string,
  { folder, port, rules }: OurOptions,
  controlPlane: string | null,
): Promise<Server> {
  const own = mkdtempSync(join(folder, 'counting-'));
  const file = join(own, 'edge.yaml');
  const record = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port };
  writeFileSync(file, JSON.stringify({ domain: { name: HOST }, records: [record], rules }));
  const child = spawn(process.execPath, [COUNTING, file, own, controlPlane ?? '-'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  for await (const line of createInterface(child.stdout!)) {
    const found = /^listening on http:\/\/[^/]*:(\d+)/.exec(line)?.[1];
    if (found === undefined) continue;
    child.stdout!.resume();
    return { name, port: Number(found), tlsPort: null, process: child, stop: () => stop(child) };
  }
  throw new Error('the node of the bench did not start');
}

/** A control plane that confirms batches and does nothing with them. */
export async function startConfirming(): Promise<{ readonly url: string; stop(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Target {
  readonly port: number;
  readonly path: string;
  readonly tls: boolean;
}

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function ask({ port, path, tls }: Target): Promise<Answered> {
  const options = {
    host: '127.0.0.1',
    port,
    path,
    headers: { host: HOST },
    servername: HOST,
    rejectUnauthorized: false,
  };
  return new Promise((resolve, reject) => {
    const asked = (tls ? httpsGet : httpGet)(options, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    asked.on('error', reject);
  });
}

/**
 * Asks every server for every path that is timed.
 * @throws Error naming the first that does not answer with what the origin has
 */
export async function agreeOn(servers: readonly Server[]): Promise<void> {
  for (const [path, body] of Object.entries({ '/small': SMALL, '/cached/small': SMALL, '/large': LARGE })) {
    for (const { name, port, tlsPort } of servers) {
      for (const tls of [false, true]) {
        const answer = await ask({ port: tls ? tlsPort! : port, path, tls });
        if (answer.status === 200 && answer.body === body) continue;
        throw new Error(`${name} answers ${path} with ${answer.status} and ${answer.body.length} octets`);
      }
    }
  }
}

/**
 * @throws Error when two nodes do not answer alike, other than in the moment and the decision's id
 */
export async function agreeInAll(a: Server, b: Server): Promise<void> {
  const told = async ({ port }: Server): Promise<string> => {
    const { headers, ...rest } = await ask({ port, path: '/small', tls: false });
    return JSON.stringify({ ...rest, headers: { ...headers, date: '', 'x-edgeplan-id': '' } });
  };
  const [left, right] = [await told(a), await told(b)];
  if (left !== right) throw new Error(`the nodes disagree\n  ${a.name}: ${left}\n  ${b.name}: ${right}`);
}
