/** A node behind TLS and PROXY listeners with an origin that says what reached it, for tests over real sockets. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RateBounds } from '../../src/base/buffers/limits.ts';
import type { HttpCache } from '../../src/edge/cache/request.ts';
import type { Classifier } from '../../src/edge/decide/request-context.ts';
import type { ConnectionBounds, HandshakeRefusal } from '../../src/edge/listeners/connection-limits.ts';
import { listenHttp, type RunningListener } from '../../src/edge/listeners/http.ts';
import { type Certificates, openCertificates } from '../../src/edge/listeners/tls/certificates.ts';
import { listenTls } from '../../src/edge/listeners/tls/listen.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { createNode, type EdgeNode } from '../../src/edge/proxy/node.ts';
import type { OriginBounds } from '../../src/edge/proxy/origin/guard.ts';
import type { Challenges, OwnTokens } from '../../src/edge/proxy/services.ts';
import { trustProxies } from '../../src/edge/proxy/visitor.ts';
import { compile, parseRuleSet, seal } from '../../src/engine/compiler/index.ts';
import type { WafProgram } from '../../src/engine/evaluator/index.ts';
import { makeCertificate } from './make-certificate.ts';
import { LOCAL_ORIGINS } from './origin-bounds.ts';

/** Asks for nothing and clears nobody. */
export const NO_CHALLENGES: Challenges = {
  cleared: () => [],
  withoutOwn: (cookies) => cookies,
  ask: () => ({ status: 403, headers: [], body: 'challenge' }),
  answerOwn: () => ({ status: 404, headers: [], body: null }),
};

const NOBODY: Classifier = { country: () => null, asn: () => null, bot: () => undefined };

/** What the origin answers: the request as it came. */
export interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a server answers to a Sec-WebSocket-Key (RFC 6455 §4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** Starts an origin. `/slow` answers after 600 ms, `/hang` never; it echoes what comes over a WebSocket. */
export async function startOrigin(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      if (url === '/hang') return;
      const body = JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') });
      setTimeout(() => response.end(body), url === '/slow' ? 600 : 0);
    });
  });
  server.on('upgrade', ({ headers }, socket) => {
    socket.on('error', () => undefined);
    const accept = acceptOf(String(headers['sec-websocket-key']));
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}

/** What a plan has beside its name and its origin's port. */
export interface PlanParts {
  /** Fields of its records. */
  readonly record?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly unknown[];
  /** Settings of the domain. */
  readonly domain?: Readonly<Record<string, unknown>>;
}

/** Sealed plans of a domain whose apex, `www` and every other host go to one origin. */
export function planOf(
  name: string,
  port: number,
  { record: more, rules = [], domain }: PlanParts = {},
): Uint8Array {
  const record = { type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port, ...more };
  const records = ['@', 'www', '*'].map((host, index) => ({ ...record, id: index + 1, name: host }));
  const parsed = parseRuleSet({ domain: { name, ...domain }, records, rules });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return seal(compile(parsed.ruleSet).plan, { revision: 1 });
}

export interface TlsNode {
  readonly node: EdgeNode;
  readonly tls: RunningListener;
  readonly http: RunningListener;
  readonly port: number;
  readonly httpPort: number;
  readonly certificates: Certificates;
  /** A folder of the test's own; certificates lie in its `certs`. */
  readonly folder: string;
  /** Every request that ended, in order. */
  readonly entries: RequestLogEntry[];
  readonly faults: unknown[];
  /** The reasons of refused handshakes, in order. */
  readonly handshakes: HandshakeRefusal[];
  stop(): Promise<void>;
}

export interface TlsNodeOptions {
  /** Names served, each with a certificate for itself and one label below. */
  readonly names: readonly string[];
  readonly refused?: readonly string[];
  /** Proxies whose forwarding headers are believed. */
  readonly trusted?: readonly string[];
  /** Names served that have no certificate. */
  readonly bare?: readonly string[];
  readonly ownTokens?: OwnTokens;
  readonly stallMs?: number;
  /** Milliseconds that an origin may be silent within its response. */
  readonly requestIdleMs?: number;
  readonly websocketIdleMs?: number;
  /** Default: `stallMs`. */
  readonly idleMs?: number;
  readonly headMs?: number;
  readonly requestMs?: number;
  readonly connections?: ConnectionBounds;
  readonly maxWebsockets?: number;
  readonly keepUnderscores?: boolean;
  /** Connections to the origin. Default: 64. */
  readonly perOrigin?: number;
  readonly rate?: RateBounds;
  readonly bodyOctets?: number;
  readonly bufferOctets?: number;
  /** Default: a folder of the node's own. */
  readonly bufferFolder?: string | null;
  readonly fallback?: string | null;
  /** Peers that must speak the PROXY protocol. */
  readonly proxies?: readonly string[];
  readonly classifier?: Classifier;
  readonly challenges?: Challenges;
  readonly waf?: WafProgram;
  readonly cache?: HttpCache;
  /** The port of an origin of the test's own. */
  readonly originPort?: number;
  readonly plan?: PlanParts;
  readonly anyCertificate?: boolean;
  /** Resolvers of origins' names. */
  readonly resolvers?: readonly string[];
  /** Absent: origins are on this machine. */
  readonly originBounds?: OriginBounds;
}

export async function startTlsNode(options: TlsNodeOptions): Promise<TlsNode> {
  const origin = options.originPort === undefined ? await startOrigin() : null;
  const originPort = origin?.port ?? options.originPort!;
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-tls-'));
  const certs = join(folder, 'certs');
  for (const name of [...options.names, ...(options.refused ?? [])]) {
    const cert = join(certs, `${name}.crt`);
    await makeCertificate({ names: [name, `*.${name}`], cert, key: join(certs, `${name}.key`) });
  }
  const entries: RequestLogEntry[] = [];
  const faults: unknown[] = [];
  const node = createNode({
    challenges: options.challenges ?? NO_CHALLENGES,
    classifier: options.classifier ?? NOBODY,
    requestLog: { done: (entry) => entries.push(entry) },
    cache: options.cache ?? null,
    waf: options.waf ?? null,
    nodeId: null,
    perOrigin: options.perOrigin ?? 64,
    bufferFolder: options.bufferFolder === undefined ? join(folder, 'buffers') : options.bufferFolder,
    ...(options.rate ? { rate: options.rate } : {}),
    ...(options.bodyOctets === undefined ? {} : { bodyOctets: options.bodyOctets }),
    ...(options.bufferOctets === undefined ? {} : { bufferOctets: options.bufferOctets }),
    anyCertificate: options.anyCertificate ?? false,
    ...(options.resolvers ? { resolvers: options.resolvers } : {}),
    originBounds: options.originBounds ?? LOCAL_ORIGINS,
    openOctets: 1e8,
    ...(options.ownTokens ? { ownTokens: options.ownTokens } : {}),
    ...(options.requestIdleMs ? { requestIdleMs: options.requestIdleMs } : {}),
    ...(options.websocketIdleMs ? { websocketIdleMs: options.websocketIdleMs } : {}),
    ...(options.maxWebsockets ? { maxWebsockets: options.maxWebsockets } : {}),
    ...(options.keepUnderscores ? { keepUnderscores: true } : {}),
    onFault: (error) => faults.push(error),
  });
  for (const name of [...options.names, ...(options.bare ?? [])]) {
    const bytes = planOf(name, originPort, options.plan);
    node.plans.set(name, { revision: 1, digest: 'd'.repeat(64), purgeEpoch: 0, read: () => bytes });
  }
  for (const name of options.refused ?? []) node.plans.set(name, 'refused');
  const certificates = await openCertificates({
    folder: certs,
    fallback: options.fallback ?? null,
    pollMs: 60_000,
    onProblem: (problem) => faults.push(problem),
  });
  const serve = {
    handler: node.handler,
    trusted: trustProxies(options.trusted ?? []),
    publicPort: null,
    host: '127.0.0.1',
    port: 0,
    proxies: options.proxies ? trustProxies(options.proxies) : null,
    ...(options.stallMs ? { stallMs: options.stallMs, idleMs: options.idleMs ?? options.stallMs } : {}),
    ...(options.headMs ? { headMs: options.headMs } : {}),
    ...(options.requestMs ? { requestMs: options.requestMs } : {}),
    ...(options.connections ? { connections: options.connections } : {}),
  };
  const handshakes: HandshakeRefusal[] = [];
  const tls = await listenTls({
    ...serve,
    plans: node.plans,
    certificates,
    ticketKeys: null,
    onRefused: (reason) => void handshakes.push(reason),
  });
  const http = await listenHttp(serve);
  return {
    node,
    tls,
    http,
    port: tls.address.port,
    httpPort: http.address.port,
    certificates,
    folder,
    entries,
    faults,
    handshakes,
    async stop() {
      await Promise.all([tls.stop(100), http.stop(100)]);
      certificates.close();
      await node.close();
      origin?.server.closeAllConnections();
      origin?.server.close();
      rmSync(folder, { recursive: true });
    },
  };
}
