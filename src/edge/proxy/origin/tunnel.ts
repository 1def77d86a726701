/**
 * A switched connection (WebSocket). In: the sockets of a client and its origin, each with the octets that came with its
 * head. Out: all octets both ways, at the pace of the slower side, until both have ended; a graceful end when the node drains.
 */
import type { Duplex } from 'node:stream';
import { LINGER_MS, WEBSOCKET_CLOSE_MS } from '../limits.ts';
import type { SwitchingClient } from '../switching-client.ts';
import { breakOff } from '../write-response.ts';
import { createFrameReader, type FrameReader, goingAway } from './websocket-frames.ts';

export interface TunnelOptions {
  readonly client: SwitchingClient;
  readonly origin: Duplex;
  /** The octets of the origin after its head. */
  readonly head: Uint8Array;
  /** Milliseconds without an octet either way after which the connection ends. */
  readonly idleMs: number;
  /** Called once, when both sides have closed, with the octets that each has sent. */
  readonly done: (sent: { readonly origin: number; readonly client: number }) => void;
}

export interface Tunnel {
  /**
   * Sends both sides a Close with status 1001 (RFC 6455 §7.4.1), each between two frames, and ends the connection once both
   * have answered, or after `WEBSOCKET_CLOSE_MS`. The answer to a Close that either side has sent is awaited in the same way.
   */
  leave(): void;
}

/** One direction. */
interface Direction {
  readonly from: Duplex;
  readonly to: Duplex;
  readonly frames: FrameReader;
  /** Whether frames of this direction are masked: those for the origin. */
  readonly masked: boolean;
  octets: number;
  /** `leaving`: a Close follows the frame under way; `left`: it is sent, and what still comes is discarded. */
  state: 'open' | 'leaving' | 'left';
}

interface TunnelState {
  readonly options: TunnelOptions;
  readonly down: Direction;
  readonly up: Direction;
  /** Runs out when neither side sends. */
  idle: NodeJS.Timeout;
  /** The limit of the closing handshake; `null`: the node does not drain. */
  deadline: NodeJS.Timeout | null;
  over: boolean;
}

/** Begins to forward octets. */
export function openTunnel(options: TunnelOptions): Tunnel {
  const { client, origin, head, idleMs } = options;
  const state: TunnelState = {
    options,
    down: directionOf(origin, client.socket, false),
    up: directionOf(client.socket, origin, true),
    // A peer that has vanished sends nothing, not even pongs.
    idle: setTimeout(() => cut(state, false), idleMs),
    deadline: null,
    over: false,
  };
  for (const direction of [state.down, state.up]) watch(state, direction);
  if (head.length > 0) receive(state, state.down, head);
  if (client.head.length > 0) receive(state, state.up, client.head);
  for (const { from } of [state.down, state.up]) from.resume();
  return { leave: () => leave(state) };
}

function directionOf(from: Duplex, to: Duplex, masked: boolean): Direction {
  // The end of one direction is passed on as such, and octets of the other one still arrive.
  from.allowHalfOpen = true;
  return { from, to, frames: createFrameReader(), masked, octets: 0, state: 'open' };
}

function watch(state: TunnelState, direction: Direction): void {
  const { from, to } = direction;
  from.on('data', (chunk: Buffer) => {
    state.idle.refresh();
    receive(state, direction, chunk);
  });
  from.on('end', () => {
    // A reset stream of HTTP/2 ends, too.
    if (!isReset(from)) pass(state, to);
  });
  from.on('close', () => closed(state, direction));
  // `close` follows every error.
  from.on('error', () => undefined);
  to.on('drain', () => from.resume());
}

/** Forwards octets of a direction, or what of them precedes the Close that is due. */
function receive(state: TunnelState, direction: Direction, chunk: Uint8Array): void {
  const { frames } = direction;
  direction.octets += chunk.length;
  let at = 0;
  if (direction.state === 'leaving') {
    at = frames.next(chunk, 0);
    forward(direction, at === chunk.length ? chunk : chunk.subarray(0, at));
    if (frames.isBetween()) insertClose(direction);
  }
  const isForwarded = direction.state === 'open';
  while (at < chunk.length) at = frames.next(chunk, at);
  if (isForwarded) forward(direction, chunk);
  else if (direction.state === 'left') answered(state, direction);
}

function forward({ from, to }: Direction, chunk: Uint8Array): void {
  if (to.writableEnded || to.destroyed) return;
  if (!to.write(chunk)) from.pause();
}

/** Sends the Close, unless the direction has one: nothing else of it is forwarded. */
function insertClose(direction: Direction): void {
  const { from, to, frames, masked } = direction;
  direction.state = 'left';
  if (!frames.isClosed() && !to.writableEnded && !to.destroyed) to.write(goingAway(masked));
  from.resume();
}

/** Ends the connection to a side that has sent its Close and has got the other one (§7.1.1). */
function answered({ down, up }: TunnelState, { from, frames }: Direction): void {
  const back = from === down.from ? up : down;
  if (frames.isClosed() && back.state === 'left' && !from.writableEnded) from.end();
}

/** Passes the end of a side on to the other one, which has a while to end itself. */
function pass(state: TunnelState, to: Duplex): void {
  if (!to.writableEnded) to.end();
  clearTimeout(state.idle);
  const { idleMs } = state.options;
  state.idle = setTimeout(() => cut(state, false), Math.min(idleMs, LINGER_MS));
}

/** A side has closed. One that broke off breaks the other off, unless both have sent their Close. */
function closed(state: TunnelState, { from, to }: Direction): void {
  const isClosed = state.down.frames.isClosed() && state.up.frames.isClosed();
  if (isReset(from) || !from.readableEnded) cut(state, !isClosed);
  else if (!to.writableEnded) to.end();
  if (!from.destroyed || !to.destroyed || state.over) return;
  state.over = true;
  clearTimeout(state.idle);
  if (state.deadline !== null) clearTimeout(state.deadline);
  state.options.done({ origin: state.down.octets, client: state.up.octets });
}

/** Ends both sides at once. */
function cut({ options: { client, origin } }: TunnelState, isReset: boolean): void {
  if (!client.socket.destroyed) client.end(isReset);
  if (origin.destroyed) return;
  if (isReset) breakOff(origin);
  else origin.destroy();
}

/** Whether a stream of HTTP/2 was reset, by either side. */
function isReset(side: Duplex): boolean {
  return 'rstCode' in side && Number(side.rstCode) !== 0;
}

function leave(state: TunnelState): void {
  if (state.deadline !== null || state.over) return;
  state.deadline = setTimeout(() => cut(state, false), WEBSOCKET_CLOSE_MS);
  const directions = [state.down, state.up];
  // A closing handshake is under way, which either side has begun.
  if (directions.some(({ frames, from }) => frames.isClosed() || from.readableEnded)) return;
  for (const direction of directions) {
    direction.state = 'leaving';
    if (direction.frames.isBetween()) insertClose(direction);
  }
}
