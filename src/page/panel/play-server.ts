/**
 * The server of `edgeplan play`: the files of the page, the state of the file as server-sent events, plans and signatures by digest.
 * For browsers on this machine: it answers only requests whose Host header names loopback, and sends no CORS header, so that no other
 * site's page reads a plan.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { foreignHost } from '../../base/addresses/host.ts';
import { PANEL_HEADERS, type PanelFile } from './assets.ts';
import {
  EVENT_PING_MS,
  MAX_EVENT_STREAMS,
  MAX_PLAY_CONNECTIONS,
  PLAY_HEADERS_MS,
  PLAY_REQUEST_MS,
} from './limits.ts';
import type { PlayedFile } from './play-file.ts';

/** What the server answers from. */
export interface PlayServerOptions {
  /** The files of the page by name. */
  readonly files: ReadonlyMap<string, PanelFile>;
  readonly played: PlayedFile;
}

/** An answer that is known as a whole. */
interface WholeAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Uint8Array | string;
}

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';
const OCTETS = 'application/octet-stream';

/** Creates the server; the caller binds it to loopback and closes it. */
export function createPlayServer(options: PlayServerOptions): Server {
  const streams = new Set<ServerResponse>();
  const unsubscribe = options.played.subscribe(() => {
    for (const stream of streams) sendState(stream, options.played);
  });
  const ping = setInterval(() => {
    for (const stream of streams) stream.write(':\n\n');
  }, EVENT_PING_MS);
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]!;
    const refusal = refusalOf(request);
    if (refusal !== null) sendWhole(response, refusal);
    else if (path === '/play/events') openStream(response, { streams, played: options.played });
    else sendWhole(response, answerFor(path, options));
  });
  server.headersTimeout = PLAY_HEADERS_MS;
  server.requestTimeout = PLAY_REQUEST_MS;
  server.maxConnections = MAX_PLAY_CONNECTIONS;
  server.on('close', () => {
    unsubscribe();
    clearInterval(ping);
  });
  return server;
}

/** The answer to a request that is not served whatever it asks for; `null`: it may be served. */
function refusalOf({ method, headers }: IncomingMessage): WholeAnswer | null {
  const foreign = foreignHost(headers.host);
  if (foreign !== null) return text(421, foreign);
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET and HEAD');
  return null;
}

function text(status: number, sentence: string): WholeAnswer {
  return { status, type: TEXT, body: `${sentence}\n` };
}

/** The answer for a path. */
function answerFor(path: string, { files, played }: PlayServerOptions): WholeAnswer {
  const file = files.get(path === '/' ? 'index.html' : path.slice(1));
  if (file !== undefined) return { status: 200, ...file };
  const [, kind, digest = '', form] =
    /^\/play\/(plans|signatures)\/([0-9a-f]{64})\.(json|bin)$/.exec(path) ?? [];
  if (kind === 'signatures' && form === 'bin') {
    const sealed = played.signatures(digest);
    if (sealed !== null) return { status: 200, type: OCTETS, body: sealed };
  }
  const plan = kind === 'plans' ? played.plan(digest) : null;
  if (plan !== null && form === 'bin') return { status: 200, type: OCTETS, body: plan.bytes };
  if (plan !== null) return { status: 200, type: JSON_TYPE, body: JSON.stringify(plan.document) };
  return text(
    404,
    kind === undefined ? 'there is nothing at this path' : 'this plan is not in memory any more',
  );
}

function sendWhole(response: ServerResponse, { status, type, body }: WholeAnswer): void {
  const octets = Buffer.from(body as Uint8Array);
  response.writeHead(status, {
    ...PANEL_HEADERS,
    'content-type': type,
    'content-length': octets.length,
    'cache-control': 'no-store',
  });
  response.end(response.req.method === 'HEAD' ? undefined : octets);
}

/** Opens an event stream: the state now, and after each change. */
function openStream(
  response: ServerResponse,
  { streams, played }: { readonly streams: Set<ServerResponse>; readonly played: PlayedFile },
): void {
  if (streams.size >= MAX_EVENT_STREAMS) {
    sendWhole(response, text(503, `${MAX_EVENT_STREAMS} pages are open; close one`));
    return;
  }
  response.writeHead(200, {
    ...PANEL_HEADERS,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  streams.add(response);
  response.on('close', () => streams.delete(response));
  sendState(response, played);
}

/** Writes the state as one event. A browser that does not read has what it missed superseded: its stream is closed. */
function sendState(stream: ServerResponse, played: PlayedFile): void {
  if (stream.writableLength > MAX_UNREAD_OCTETS) {
    stream.destroy();
    return;
  }
  stream.write(`data: ${JSON.stringify(played.state())}\n\n`);
}

/** Octets of events that a browser may leave unread; it connects again. */
const MAX_UNREAD_OCTETS = 4 * 1024 * 1024;
