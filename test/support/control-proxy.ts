/**
 * A place that stays while control planes behind it come and go, and that can misbehave as networks, proxies and liars do.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ControlProxy {
  readonly url: string;
  /** Where the control plane is now; 0: nowhere, connections are cut. */
  target: number;
  /** What becomes of a stream: passed on, held back whole, or cut after its first octets. */
  streams: 'pass' | 'hold' | 'cut';
  /** Whether streams may carry plans and lists ahead of the page that names them; without them a node requests each. */
  pushes: boolean;
  /** Another body in the place of an answer's. */
  rewrite: ((path: string, body: Buffer) => Buffer | null) | null;
  /** Awaited before an answer that is not a stream is passed on. */
  before: ((path: string) => Promise<void>) | null;
  /** Paths asked for, in order. */
  readonly asked: string[];
  /** Streams that are open. */
  readonly open: Set<ServerResponse>;
  /** Ends every connection there is. */
  cutAll(): void;
  close(): Promise<void>;
}

export async function startControlProxy(target: number): Promise<ControlProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => pass(proxy, request, response));
  server.on('connection', (socket: Socket) => {
    if (proxy.target === 0) socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: ControlProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    streams: 'pass',
    pushes: true,
    rewrite: null,
    before: null,
    asked: [],
    open: new Set(),
    cutAll,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cutAll();
      }),
  };
  return proxy;
}

function pass(proxy: ControlProxy, request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '/' } = request;
  const { 'edgeplan-push': push, ...others } = request.headers;
  const headers = push !== undefined && proxy.pushes ? { ...others, 'edgeplan-push': push } : others;
  proxy.asked.push(url);
  if (proxy.target === 0) {
    request.socket.destroy();
    return;
  }
  const onward = httpRequest({
    host: '127.0.0.1',
    port: proxy.target,
    method,
    path: url,
    headers,
    agent: false,
  });
  onward.on('error', () => request.socket.destroy());
  response.on('close', () => onward.destroy());
  onward.on('response', (answer) => {
    if (url.startsWith('/nodes/feed')) passStream(proxy, answer, response);
    else passWhole(proxy, { url, answer, response });
  });
  request.pipe(onward);
}

function passStream(proxy: ControlProxy, answer: IncomingMessage, response: ServerResponse): void {
  proxy.open.add(response);
  response.on('close', () => proxy.open.delete(response));
  answer.on('error', () => response.destroy());
  if (proxy.streams === 'hold') return void answer.resume();
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  answer.on('data', (chunk: Buffer) => {
    const changed = proxy.rewrite?.('/nodes/feed', chunk) ?? chunk;
    response.write(changed);
    if (proxy.streams === 'cut') setTimeout(() => response.destroy(), 20);
  });
  answer.on('close', () => response.destroy());
}

interface Passing {
  readonly url: string;
  readonly answer: IncomingMessage;
  readonly response: ServerResponse;
}

function passWhole(proxy: ControlProxy, { url, answer, response }: Passing): void {
  const chunks: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => chunks.push(chunk));
  answer.on('error', () => response.destroy());
  answer.on('end', async () => {
    await proxy.before?.(url);
    const body = Buffer.concat(chunks);
    const instead = proxy.rewrite?.(url, body) ?? null;
    const changed = instead ?? body;
    const status = instead === null ? (answer.statusCode ?? 500) : 200;
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers;
    response.writeHead(status, { ...headers, 'content-length': changed.length });
    response.end(changed);
  });
}
