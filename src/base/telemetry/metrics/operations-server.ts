/**
 * The health and metrics listener of a server, for operators: `/healthz` (the process works), `/readyz` (traffic may be
 * sent), `/metrics` (Prometheus). In: functions that report the state. Out: an HTTP server, which the caller binds to
 * loopback and closes.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { foreignHost } from '../../addresses/host.ts';

export interface OperationsServerOptions {
  /** Why the process does not work, as a sentence; `null`: it works. */
  readonly unwell: () => string | null;
  /** Why no traffic should be sent here, as a sentence; `null`: the process is ready. Must not reject. */
  readonly unready: () => string | null | Promise<string | null>;
  readonly registry: () => Registry | Promise<Registry>;
  /** The text of the 503 when the metrics cannot be collected. */
  readonly metricsFault: (error: unknown) => string;
  /** Whether only loopback addresses are allowed in the Host header. Absent: they are. */
  readonly checksHost?: () => boolean;
}

/** Milliseconds for the header of a request, and for all of it: probes and scrapers are on this machine. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;
/**
 * Maximum number of connections: enough for a few scrapers and probes, and far below the file descriptors that traffic
 * needs.
 */
const MAX_CONNECTIONS = 100;

export function createOperationsServer(options: OperationsServerOptions): Server {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    const reading = request.method === 'GET' || request.method === 'HEAD';
    const foreign = options.checksHost?.() === false ? null : foreignHost(request.headers.host);
    if (foreign !== null) answer(response, 421, `${foreign}\n`);
    else if (!reading) answer(response, 405, 'only GET and HEAD\n');
    else if (path === '/healthz') answerProbe(response, 'ok', options.unwell());
    else if (path === '/readyz') void answerReady(response, options.unready);
    else if (path === '/metrics') void answerMetrics(response, options);
    else answer(response, 404, 'not found\n');
  });
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function answerReady(
  response: ServerResponse,
  unready: OperationsServerOptions['unready'],
): Promise<void> {
  answerProbe(response, 'ready', await unready());
}

/** 200 with `good`, or 503 with the reason. */
function answerProbe(response: ServerResponse, good: string, reason: string | null): void {
  if (reason === null) answer(response, 200, `${good}\n`);
  else answer(response, 503, `${reason}\n`);
}

async function answerMetrics(
  response: ServerResponse,
  { registry: registryOf, metricsFault }: OperationsServerOptions,
): Promise<void> {
  try {
    const registry = await registryOf();
    answer(response, 200, await registry.metrics(), registry.contentType);
  } catch (error) {
    answer(response, 503, `${metricsFault(error)}\n`);
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
