/** HTTP/2 frame by frame (RFC 9113 §4), for what no client library says. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const END_STREAM = 1;
/** Of SETTINGS and PING. */
export const ACK = 1;
export const END_HEADERS = 4;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly content: Buffer;
}

export function frame(
  type: number,
  flags: number,
  stream: number,
  content: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(content.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, content]);
}

export function number32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}

/** A setting by its number (RFC 9113 §6.5.2). */
export function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([0, id]), number32(value)]);
}

/** A field that is not indexed (RFC 7541 §6.2.2). */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(of: string): Buffer {
  const octets = Buffer.from(of, 'latin1');
  if (octets.length < 127) return Buffer.concat([Buffer.from([octets.length]), octets]);
  const length = [127];
  let rest = octets.length - 127;
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...length, rest]), octets]);
}

/** The fields of a request for `shop.test`. */
export function requestFields(path: string, method: 'GET' | 'POST' = 'GET'): Buffer {
  return Buffer.concat([
    Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x87]),
    field(':path', path),
    field(':authority', 'shop.test'),
  ]);
}

export interface RawHttp2<One extends Socket = TLSSocket> {
  readonly socket: One;
  /** Every frame that came, in order; without the contents of DATA. */
  readonly frames: readonly Frame[];
  /** The code of the first GOAWAY; `null`: none came. */
  goaway(): number | null;
  send(...frames: readonly Buffer[]): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

/** Connects and sends the preface and settings; acknowledges nothing by itself. */
export async function openRawHttp2(port: number, settings: Buffer = Buffer.alloc(0)): Promise<RawHttp2> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'shop.test',
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  await once(socket, 'secureConnect');
  return speakHttp2(socket, settings);
}

/** The same on a connection that exists. */
export function speakHttp2<One extends Socket>(
  socket: One,
  settings: Buffer = Buffer.alloc(0),
): RawHttp2<One> {
  // A connection that breaks is told by `close`.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const frames: Frame[] = [];
  let held = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3)) {
      const length = held.readUIntBE(0, 3);
      const type = held[3]!;
      const content = type === FRAME.data ? Buffer.alloc(0) : Buffer.from(held.subarray(9, 9 + length));
      frames.push({ type, flags: held[4]!, stream: held.readUInt32BE(5), content });
      held = held.subarray(9 + length);
    }
  });
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(FRAME.settings, 0, 0, settings));
  return {
    socket,
    frames,
    closed,
    goaway: () => frames.find(({ type }) => type === FRAME.goaway)?.content.readUInt32BE(4) ?? null,
    send: (...sent) => void socket.write(Buffer.concat(sent)),
  };
}
