/**
 * Frames of SPOP 2.0 (HAProxy, `doc/SPOE.txt` §3.2): their head, the handshake, the end of a connection. In: the octets of one
 * frame without its length. Out: its parts, or a `FrameFault`; and whole frames of the agent, length included.
 */
import {
  type Cursor,
  createFrameWriter,
  FrameFault,
  type FrameWriter,
  readText,
  readTyped,
  readVarint,
  type SpopStatus,
  type SpopValue,
  STATUS,
} from './codec.ts';

/** Types of frames (§3.2.2); 0 continues a fragmented frame in older versions. */
export const FRAME = {
  fragment: 0,
  hello: 1,
  disconnect: 2,
  notify: 3,
  agentHello: 101,
  agentDisconnect: 102,
  ack: 103,
} as const;

/** The flags of a frame that is whole. */
export const FIN = 1;

/** The version that this agent speaks. */
const VERSION = '2.0';
const MAJOR = '2';
/** Several requests at once on a connection, answered in any order. */
const CAPABILITIES = 'pipelining';

/** Most octets of a frame that this agent takes: headers, and as much of a body as rules inspect. */
const MAX_FRAME_OCTETS = 1024 * 1024;
/** Least size that both sides must take (§3.2). */
const MIN_FRAME_OCTETS = 256;
/** Octets of a frame before the handshake has ended: it has five items. */
export const HELLO_FRAME_OCTETS = 16 * 1024;

/** The head of a frame. */
export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  /** The octets of both ids, as sent: an ACK repeats them. */
  readonly ids: Buffer;
  /** At the payload. */
  readonly payload: Cursor;
}

/** Reads the head of a frame. */
export function readHead(frame: Buffer): FrameHead {
  // The type and four octets of flags.
  if (frame.length < 5) throw new FrameFault('invalid', 'a frame is shorter than its head');
  const payload: Cursor = { octets: frame, at: 5, end: frame.length };
  readVarint(payload);
  readVarint(payload);
  const ids = frame.subarray(5, payload.at);
  return { type: frame[0]!, flags: frame.readUInt32BE(1), ids, payload };
}

/** What HAPROXY-HELLO announces. */
export interface Hello {
  /** Octets of the longest frame that both sides take. */
  readonly maxFrame: number;
  /** The connection is a health check, and ends with the answer. */
  readonly isHealthCheck: boolean;
}

/** Reads HAPROXY-HELLO; a `FrameFault` has the status that AGENT-DISCONNECT then has. */
export function readHello(payload: Cursor): Hello {
  const items = readItems(payload);
  const versions = items.get('supported-versions');
  if (typeof versions !== 'string') throw new FrameFault('noVersion', 'HELLO has no `supported-versions`');
  const size = items.get('max-frame-size');
  if (typeof size !== 'number') throw new FrameFault('noFrameSize', 'HELLO has no `max-frame-size`');
  if (typeof items.get('capabilities') !== 'string') {
    throw new FrameFault('noCapabilities', 'HELLO has no `capabilities`');
  }
  // A major version that is announced includes all of its minor ones.
  if (!versions.split(',').some((one) => one.trim().split('.')[0] === MAJOR)) {
    throw new FrameFault('badVersion', `HELLO supports no version ${VERSION}`);
  }
  if (size < MIN_FRAME_OCTETS) {
    throw new FrameFault('badFrameSize', `HELLO has a \`max-frame-size\` below ${MIN_FRAME_OCTETS}`);
  }
  return { maxFrame: Math.min(size, MAX_FRAME_OCTETS), isHealthCheck: items.get('healthcheck') === true };
}

/** The status and the message of HAPROXY-DISCONNECT, as far as it has them. */
export function readDisconnect(payload: Cursor): { readonly status: number; readonly message: string } {
  const items = readItems(payload);
  const status = items.get('status-code');
  const message = items.get('message');
  return {
    status: typeof status === 'number' ? status : STATUS.normal,
    message: typeof message === 'string' ? message : '',
  };
}

/** The items of a KV-LIST up to the end of the frame. */
function readItems(cursor: Cursor): ReadonlyMap<string, SpopValue> {
  const items = new Map<string, SpopValue>();
  while (cursor.at < cursor.end) items.set(readText(cursor), readTyped(cursor));
  return items;
}

/** AGENT-HELLO. */
export function agentHello(maxFrame: number): Buffer {
  return itemsFrame(FRAME.agentHello, [
    ['version', VERSION],
    ['max-frame-size', maxFrame],
    ['capabilities', CAPABILITIES],
  ]);
}

/** AGENT-DISCONNECT. */
export function agentDisconnect(status: SpopStatus, message: string): Buffer {
  return itemsFrame(FRAME.agentDisconnect, [
    ['status-code', STATUS[status]],
    ['message', message],
  ]);
}

type Item = readonly [name: string, value: string | number];

/** A frame of the connection itself: both ids are 0. */
function itemsFrame(type: number, items: readonly Item[]): Buffer {
  const writer = createFrameWriter();
  writeHead(writer, type, NO_IDS);
  for (const [name, value] of items) {
    writer.varint(name.length);
    writer.raw(Buffer.from(name, 'latin1'));
    writer.typed(value);
  }
  return writer.take();
}

const NO_IDS = Buffer.from([0, 0]);

/** Starts a frame that is whole. */
export function writeHead(writer: FrameWriter, type: number, ids: Buffer): void {
  writer.reset();
  writer.octet(type);
  writer.uint32(FIN);
  writer.raw(ids);
}
