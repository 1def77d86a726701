/**
 * A control plane that takes batches of traffic and nothing else, over real sockets: it counts a batch once by its number and
 * notes what it was sent; tests choose how it responds.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type BatchSums, openSent } from './counted-seconds.ts';

/** A batch that arrived. */
export interface ArrivedBatch extends BatchSums {
  readonly body: Buffer;
}

/**
 * How an arrival is treated: counted and confirmed; counted, and the connection is cut; the connection is cut before; no
 * response; or a response with this status, by the control plane itself or by something before it.
 */
export type Treatment =
  | 'count'
  | 'count and cut'
  | 'cut'
  | 'hang'
  | { readonly status: number; readonly by?: 'control plane' | 'proxy' };

/** A running taker. */
export interface TrafficTaker {
  readonly url: string;
  /** Default: counts all. */
  treat: (batch: ArrivedBatch) => Treatment;
  /** Every arrival, in order, refused and repeated ones too. */
  readonly arrivals: ArrivedBatch[];
  /** What was counted, by number. */
  readonly counted: ReadonlyMap<number, ArrivedBatch>;
  /** Requests that were counted, of all domains or one. */
  requests(domain?: string): number;
  close(): Promise<void>;
}

/** Starts one that counts everything. */
export async function startTaker(): Promise<TrafficTaker> {
  const counted = new Map<number, ArrivedBatch>();
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    void take(request, response);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const batch = { ...openSent(body, request.headers['content-encoding'] === 'gzip'), body };
    taker.arrivals.push(batch);
    const treatment = taker.treat(batch);
    if (treatment === 'hang') return;
    if (treatment === 'cut') return void request.socket.destroy();
    if (typeof treatment === 'object') return refuse(response, treatment);
    if (!counted.has(batch.batch)) counted.set(batch.batch, batch);
    if (treatment === 'count and cut') return void request.socket.destroy();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: `batch ${batch.batch}: counted` }));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const taker: TrafficTaker = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    treat: () => 'count',
    arrivals: [],
    counted,
    requests: (domain) =>
      [...counted.values()]
        .flatMap(({ entries }) => entries)
        .filter((entry) => domain === undefined || entry.domain === domain)
        .reduce((sum, { requests }) => sum + requests, 0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return taker;
}

function refuse(response: ServerResponse, { status, by = 'control plane' }: Treatment & object): void {
  if (by === 'proxy') {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(`<html><h1>${status}</h1></html>`);
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ message: `refused with ${status}` }));
}
