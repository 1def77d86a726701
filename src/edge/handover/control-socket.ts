/**
 * The control socket of a process that serves: a Unix socket in its data folder, for its user alone. In: one request a
 * connection, a JSON line with the command line of the next process. Out: lines of progress and the outcome.
 */
import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { isObject } from '../../base/text/json-object.ts';
import { OWN_VARIABLES, type ProgramCommand, SUCCESSOR } from './messages.ts';

/** The name of the socket in the data folder. */
export const CONTROL_SOCKET = 'control.sock';
/** Octets of a socket's path at most (`sun_path` of macOS; Linux has four more). */
const MAX_PATH_OCTETS = 103;
/** Characters of a request at most: command lines have 128 KiB on Linux. */
const MAX_REQUEST = 512 * 1024;
/** Connections at once: one that upgrades, and others that are refused. */
const MAX_CONNECTIONS = 8;
/** Milliseconds for the line of a request to arrive. */
const REQUEST_MS = 10_000;

const FORMAT = 'edgeplan.upgrade/v1';

/** What a client of the control socket wants. */
export interface UpgradeRequest {
  readonly command: ProgramCommand;
  /** Milliseconds for the next process to load, and again to become ready. */
  readonly waitMs: number;
}

/** A line of the reply; `served` and `failed` are the last. */
export type UpgradeLine =
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'served'; readonly pid: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Performs a request, and writes the lines of its reply. */
export type UpgradeHandler = (request: UpgradeRequest, reply: (line: UpgradeLine) => void) => void;

/** An open control socket. */
export interface ControlSocket {
  /** Removes the socket; connections with a request get the rest of their reply. */
  close(): void;
}

/**
 * Opens the socket; removes one that an earlier process has left. The caller has the lock of the folder.
 * @throws Error with the reason when the path is too long or cannot be bound
 */
export function openControlSocket(path: string, handle: UpgradeHandler): ControlSocket {
  if (Buffer.byteLength(path) > MAX_PATH_OCTETS) {
    throw new Error(`\`${path}\` is longer than the ${MAX_PATH_OCTETS} octets of a Unix socket's path`);
  }
  rmSync(path, { force: true });
  const server = createServer((socket) => serve(socket, handle));
  server.maxConnections = MAX_CONNECTIONS;
  // After the start an error concerns one connection, such as for want of descriptors.
  server.on('error', () => undefined);
  listenPrivately(server, path);
  return { close: () => void server.close() };
}

/** Binds the socket with mode 0600; Node binds within the call. */
function listenPrivately(server: Server, path: string): void {
  let fault: Error | null = null;
  const note = (error: Error): void => {
    fault = error;
  };
  server.once('error', note);
  const before = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(before);
  }
  server.unref();
  if (fault !== null) throw fault;
}

function serve(socket: Socket, handle: UpgradeHandler): void {
  socket.on('error', () => undefined);
  socket.setEncoding('utf8').setTimeout(REQUEST_MS, () => socket.destroy());
  let text = '';
  const read = (part: string): void => {
    text += part;
    if (text.length > MAX_REQUEST) return void socket.destroy();
    const end = text.indexOf('\n');
    if (end < 0) return;
    socket.off('data', read).setTimeout(0).resume();
    const reply = (line: UpgradeLine): void => {
      if (!socket.writable) return;
      socket.write(`${JSON.stringify(line)}\n`);
      if (line.kind !== 'progress') socket.end();
    };
    const request = readRequest(text.slice(0, end));
    if (request === null) reply({ kind: 'failed', reason: `the request is not one of ${FORMAT}` });
    else handle(request, reply);
  };
  socket.on('data', read);
}

/** `null`: it is no request. */
function readRequest(line: string): UpgradeRequest | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(value) || value['format'] !== FORMAT || !isObject(value['command'])) return null;
  const { program, args, folder, env } = value['command'];
  const { waitMs } = value;
  if (typeof program !== 'string' || typeof folder !== 'string' || typeof waitMs !== 'number') return null;
  if (!Array.isArray(args) || !args.every(isText) || !isObject(env)) return null;
  const own = Object.entries(env).filter((entry): entry is [string, string] => isText(entry[1]));
  if (own.some(([name]) => !name.startsWith(OWN_VARIABLES) || name === SUCCESSOR)) return null;
  return { command: { program, args, folder, env: Object.fromEntries(own) }, waitMs };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/**
 * Asks the process that serves to hand over; resolves with the last line of the reply.
 * @throws the system's error when no process listens (`ENOENT`, `ECONNREFUSED`) or it may not be asked (`EACCES`)
 */
export async function requestUpgrade(
  path: string,
  request: UpgradeRequest,
  onProgress: (text: string) => void,
): Promise<Exclude<UpgradeLine, { kind: 'progress' }>> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  socket.on('error', () => undefined);
  socket.write(`${JSON.stringify({ format: FORMAT, ...request })}\n`);
  for await (const text of createInterface({ input: socket })) {
    const line = JSON.parse(text) as UpgradeLine;
    if (line.kind !== 'progress') return line;
    onProgress(line.text);
  }
  return { kind: 'failed', reason: 'the running process ended before its reply; see its log' };
}
