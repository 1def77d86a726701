/**
 * The health and metrics listener, on loopback: `/healthz` (all processes run), `/readyz` (plans are loaded and the node is
 * not draining), `/metrics` (Prometheus).
 */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { foreignHost } from '../../base/loopback-host.ts';

export interface NodeHealthOptions {
  /** The metrics of this process, or of all workers together. */
  readonly registry: () => Registry | Promise<Registry>;
  /** Why the node should get no traffic, as a sentence; `null`: it is ready. */
  readonly unready: () => string | null;
  /** What is wrong with a process of the node, as a sentence; `null`: nothing. Absent: the node is this process. */
  readonly unwell?: () => string | null;
}

export interface RunningHealthListener {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): void;
}

/** Listens on loopback. @throws Error as `listen` does, when the port is taken */
export async function startHealthListener(
  options: NodeHealthOptions & { readonly port: number },
): Promise<RunningHealthListener> {
  const server = createHealthServer(options);
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function createHealthServer({ registry, unready, unwell = () => null }: NodeHealthOptions): Server {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const reading = request.method === 'GET' || request.method === 'HEAD';
    const foreign = foreignHost(request.headers.host);
    if (foreign !== null) answer(response, 421, `${foreign}\n`);
    else if (!reading) answer(response, 405, 'only GET and HEAD\n');
    else if (path === '/healthz') answerHealth(response, { text: 'ok', reason: unwell() });
    else if (path === '/readyz') answerHealth(response, { text: 'ready', reason: unready() });
    else if (path === '/metrics') void answerMetrics(response, registry);
    else answer(response, 404, 'not found\n');
  });
  server.headersTimeout = 5_000;
  server.requestTimeout = 10_000;
  server.maxConnections = 100;
  return server;
}

function answerHealth(
  response: ServerResponse,
  { text, reason }: { readonly text: string; readonly reason: string | null },
): void {
  if (reason === null) answer(response, 200, `${text}\n`);
  else answer(response, 503, `${reason}\n`);
}

async function answerMetrics(
  response: ServerResponse,
  registryOf: NodeHealthOptions['registry'],
): Promise<void> {
  try {
    const registry = await registryOf();
    answer(response, 200, await registry.metrics(), registry.contentType);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    answer(response, 503, `the metrics cannot be gathered: ${reason}\n`);
  }
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}
