/** A whole node in this process: an edge file before an origin, on real sockets. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveEdgeFile } from '../../src/cli/watch-file.ts';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import { listenHttp } from '../../src/edge/listeners/http.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { createNode } from '../../src/edge/proxy/node.ts';
import type { Challenges } from '../../src/edge/proxy/services.ts';
import { trustProxies } from '../../src/edge/proxy/visitor.ts';
import type { WafProgram } from '../../src/engine/evaluator/index.ts';
import { finding } from './generate-waf.ts';
import { LOCAL_ORIGINS } from './origin-bounds.ts';

export interface TestEdge {
  readonly port: number;
  /** What reached the origin. */
  readonly seen: IncomingMessage[];
  readonly journal: RequestLogEntry[];
  readonly faults: unknown[];
  close(): Promise<void>;
}

export interface TestEdgeOptions {
  /** The edge file; `ORIGIN` in it is the origin's port. */
  readonly file: string;
  /** Default: cheap ones under a secret of its own. */
  readonly challenges?: Challenges;
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trusted?: readonly string[];
  /** Absent: a program that finds nothing, and wants to see bodies. */
  readonly waf?: WafProgram;
}

export async function startEdge({
  file,
  challenges = createChallenges({
    secrets: () => ({ current: randomBytes(32), previous: [] }),
    cost: 20,
  }),
  trusted = [],
  waf = { inspect: () => finding(), has: () => false },
}: TestEdgeOptions): Promise<TestEdge> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-edge-'));
  const seen: IncomingMessage[] = [];
  const origin: Server = createServer((request, response) => {
    seen.push(request);
    response.setHeader('content-type', 'text/html');
    response.end(
      `<title>origin</title><p id="origin">${request.method} ${request.url?.replaceAll('<', '')}</p>`,
    );
  });
  origin.on('upgrade', (_request, socket) => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    socket.end(head, () => socket.destroy());
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const journal: RequestLogEntry[] = [];
  const faults: unknown[] = [];
  const node = createNode({
    challenges,
    classifier: { country: () => null, asn: () => null, bot: () => undefined },
    requestLog: { done: (entry) => void journal.push(entry) },
    cache: null,
    waf,
    nodeId: null,
    perOrigin: 8,
    anyCertificate: false,
    originBounds: LOCAL_ORIGINS,
    openOctets: 1_000_000,
    onFault: (error) => faults.push(error),
  });
  const path = join(folder, 'edge.yaml');
  writeFileSync(path, file.replaceAll('ORIGIN', String((origin.address() as AddressInfo).port)));
  const ignore = (): void => undefined;
  const { plans } = node;
  const watching = await serveEdgeFile({
    file: path,
    colour: 'never',
    plans,
    onInstalled: ignore,
    onRefused: ignore,
  });
  const { handler } = node;
  const where = { host: '127.0.0.1', port: 0, publicPort: null };
  const listener = await listenHttp({ handler, trusted: trustProxies(trusted), ...where });
  return {
    port: listener.address.port,
    seen,
    journal,
    faults,
    async close() {
      watching.stop();
      await listener.stop(0);
      await node.close();
      origin.closeAllConnections();
      await new Promise((resolve) => origin.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
