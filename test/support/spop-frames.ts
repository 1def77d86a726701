/** SPOP as HAProxy speaks it: an encoder and a decoder written from `doc/SPOE.txt` alone, and a client of a door. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A value with its type, as the specification numbers them. */
export type Typed =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int32' | 'uint32' | 'int64' | 'uint64'; readonly value: bigint }
  | { readonly type: 'ipv4' | 'ipv6'; readonly octets: readonly number[] }
  | { readonly type: 'string' | 'binary'; readonly octets: Uint8Array };

const TYPES = [
  'null',
  'bool',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'ipv4',
  'ipv6',
  'string',
  'binary',
] as const;

/** §3.1, "Variable-length integer": the ranges of the table, with its bits. */
export function varint(value: bigint): Buffer {
  if (value < 240n) return Buffer.from([Number(value)]);
  const octets = [Number(value & 15n) | 0xf0];
  let rest = (value - 240n) >> 4n;
  for (; rest >= 128n; rest = (rest - 128n) >> 7n) octets.push(Number(rest & 127n) | 0x80);
  octets.push(Number(rest));
  return Buffer.from(octets);
}

export const text = (value: string): Typed => ({ type: 'string', octets: Buffer.from(value, 'latin1') });
export const int = (value: number): Typed => ({ type: 'int32', value: BigInt(value) });
export const bool = (value: boolean): Typed => ({ type: 'bool', value });
export const binary = (octets: Uint8Array): Typed => ({ type: 'binary', octets });
export const NULL: Typed = { type: 'null' };

/** A text without a type: its length and its octets. */
export function named(name: string): Buffer {
  const octets = Buffer.from(name, 'latin1');
  return Buffer.concat([varint(BigInt(octets.length)), octets]);
}

export function typed(value: Typed): Buffer {
  const first = TYPES.indexOf(value.type);
  switch (value.type) {
    case 'null':
      return Buffer.from([first]);
    case 'bool':
      return Buffer.from([value.value ? first | 0x10 : first]);
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return Buffer.concat([Buffer.from([first]), varint(BigInt.asUintN(64, value.value))]);
    case 'ipv4':
    case 'ipv6':
      return Buffer.from([first, ...value.octets]);
    default:
      return Buffer.concat([Buffer.from([first]), varint(BigInt(value.octets.length)), value.octets]);
  }
}

export type Items = Readonly<Record<string, Typed>>;

const items = (list: Items): Buffer =>
  Buffer.concat(Object.entries(list).flatMap(([name, value]) => [named(name), typed(value)]));

export interface FrameParts {
  readonly type: number;
  /** Default: FIN. */
  readonly flags?: number;
  readonly stream?: bigint;
  readonly frame?: bigint;
  readonly payload: Uint8Array;
}

/** A frame with its length. */
export function frameOf({ type, flags = 1, stream = 0n, frame = 0n, payload }: FrameParts): Buffer {
  const head = Buffer.alloc(5);
  head[0] = type;
  head.writeUInt32BE(flags, 1);
  const octets = Buffer.concat([head, varint(stream), varint(frame), payload]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(octets.length);
  return Buffer.concat([length, octets]);
}

/** What HAProxy 2.6 says first. */
export const HELLO: Items = {
  'supported-versions': text('2.0'),
  'max-frame-size': { type: 'uint32', value: 16_380n },
  capabilities: text('pipelining,async'),
  'engine-id': text('5d2c7d0a-5f0e-4b9e-8d0f-1f4c5e0a7b11'),
};

export const helloFrame = (list: Items = HELLO): Buffer => frameOf({ type: 1, payload: items(list) });
export const disconnectFrame = (status: number, message: string): Buffer =>
  frameOf({ type: 2, payload: items({ 'status-code': int(status), message: text(message) }) });

/** A NOTIFY with one message. */
export function notifyFrame(args: Items, { stream = 1n, frame = 1n, flags = 1 } = {}): Buffer {
  const count = Buffer.from([Object.keys(args).length]);
  const payload = Buffer.concat([named('request'), count, items(args)]);
  return frameOf({ type: 3, flags, stream, frame, payload });
}

/** `req.hdrs_bin`. */
export function headersBinary(headers: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat([
    ...headers.flatMap(([name, value]) => [named(name), named(value)]),
    Buffer.from([0, 0]),
  ]);
}

/** The arguments of `fixtures/proxies/spoe.cfg` for a plain GET. */
export function argumentsOf(change: Items = {}): Items {
  return {
    method: text('GET'),
    ssl: bool(false),
    uri: text('/'),
    version: text('1.1'),
    src: { type: 'ipv4', octets: [203, 0, 113, 7] },
    port: int(80),
    sni: NULL,
    hdrs: binary(
      headersBinary([
        ['host', 'shop.localhost'],
        ['user-agent', 'test/1'],
      ]),
    ),
    body: NULL,
    body_len: int(0),
    body_size: int(0),
    body_end: bool(true),
    ...change,
  };
}

/** A frame of the agent, read. */
export interface AgentFrame {
  readonly type: number;
  readonly stream: bigint;
  readonly frame: bigint;
  /** Items of AGENT-HELLO and AGENT-DISCONNECT; variables of an ACK. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Reads octets that are well-formed, and throws for all others. */
function reader(octets: Buffer) {
  let at = 0;
  const byte = (): number => {
    if (at >= octets.length) throw new Error('the frame is cut');
    return octets[at++]!;
  };
  const integer = (): bigint => {
    let value = BigInt(byte());
    if (value < 240n) return value;
    for (let shift = 4n; ; shift += 7n) {
      const next = BigInt(byte());
      value += next << shift;
      if (next < 128n) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    if (at + length > octets.length) throw new Error('the frame is cut');
    at += length;
    return octets.subarray(at - length, at);
  };
  const string = (): string => bytes(Number(integer())).toString('latin1');
  const value = (): unknown => {
    const first = byte();
    const type = TYPES[first & 15];
    if (type === 'null') return null;
    if (type === 'bool') return (first & 0x10) !== 0;
    if (type === 'ipv4') return [...bytes(4)].join('.');
    if (type === 'ipv6') return bytes(16).toString('hex');
    if (type === 'string') return string();
    if (type === 'binary') return bytes(Number(integer()));
    if (type === undefined) throw new Error(`data of the type ${first & 15}`);
    return Number(integer());
  };
  return { byte, integer, bytes, string, value, isAtEnd: () => at === octets.length };
}

/** @param octets without the length */
export function readAgentFrame(octets: Buffer): AgentFrame {
  const read = reader(octets);
  const type = read.byte();
  if (read.bytes(4).readUInt32BE() !== 1) throw new Error('the agent sent a frame without FIN');
  const stream = read.integer();
  const frame = read.integer();
  const values: Record<string, unknown> = {};
  while (!read.isAtEnd()) {
    if (type === 103) {
      // set-var with three arguments, in the scope of the transaction.
      const [action, count, scope] = read.bytes(3);
      if (action !== 1 || count !== 3 || scope !== 2)
        throw new Error('an action is no set-var of a transaction');
    }
    const name = read.string();
    if (name in values) throw new Error(`\`${name}\` is set twice`);
    values[name] = read.value();
  }
  return { type, stream, frame, values };
}

export interface SpopClient {
  readonly socket: Socket;
  /** What the door sent, in order; reads as it arrives. */
  readonly frames: AgentFrame[];
  /** The octets of each `data` event. */
  readonly chunks: Buffer[];
  /** Whether the door has closed the connection. */
  isClosed(): boolean;
  send(...octets: readonly Uint8Array[]): void;
  /** Resolves once it is closed. */
  readonly closed: Promise<void>;
}

/** Connects to a door, and reads its frames. */
export async function spopClient(address: string): Promise<SpopClient> {
  const url = new URL(address);
  const socket = url.protocol === 'unix:' ? connect(url.pathname) : connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  const frames: AgentFrame[] = [];
  const chunks: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isClosed = false;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const end = 4 + rest.readUInt32BE();
      if (rest.length < end) break;
      frames.push(readAgentFrame(rest.subarray(4, end)));
      rest = rest.subarray(end);
    }
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      resolve();
    });
  });
  return {
    socket,
    frames,
    chunks,
    isClosed: () => isClosed,
    send: (...octets) => void socket.write(Buffer.concat(octets)),
    closed,
  };
}
