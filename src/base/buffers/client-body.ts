/**
 * The body of a request on its way to an origin. In: the client's message. Out: octets, or a stream. The body is read before
 * a connection to an origin is taken, so that a slow client occupies none: whole, or up to a limit. What exceeds the limit
 * is sent while it still arrives.
 */
import { Readable } from 'node:stream';
import type { ClientRequest } from '../http/client-messages.ts';
import type { RateBounds } from './limits.ts';
import { createPace, type Pace } from './pace.ts';
import type { BufferSpace } from './space.ts';
import { createSpool, type Spool } from './spool.ts';

export interface ClientBodyOptions {
  readonly message: ClientRequest;
  /** The octets that inspection has read already. */
  readonly read: Uint8Array | null;
  /** Octets that are read before an origin is contacted. */
  readonly most: number;
  readonly space: BufferSpace;
  /** The client network that the octets count for. */
  readonly network: string;
  readonly rate: RateBounds;
  /** What the client waits for before it sends the body; `null`: for nothing. */
  readonly expectation: ContinueExpectation | null;
}

/** A client that sends its body once it has got a 100 (RFC 9110 §10.1.1). */
export interface ContinueExpectation {
  /** Sends the 100. */
  readonly proceed: () => void;
  /** The response comes without the body: another request cannot follow on the connection. */
  readonly unwanted: () => void;
}

export interface ClientBody {
  /** Reads the body up to the buffer's limit, then resolves. @throws BodyFault */
  ready(): Promise<void>;
  /** What the client waits for, until `request`; `null`: for nothing. Then `ready` reads nothing. */
  expectation(): ContinueExpectation | null;
  /** Requests the body of a client that waits. */
  request(): void;
  /** Whether it can be sent again from its first octet. */
  isReplayable(): boolean;
  /** The body for an origin, from its first octet. Only after `ready`, and again only if it is replayable. */
  open(): Uint8Array | Readable;
  /** Whether the origin reads faster than the client sends. */
  isAwaited(): boolean;
  /** Octets that the client has sent so far, those that inspection has read included. */
  received(): number;
  /** The client's pace; `null`: it has sent everything, or nothing was requested of it. */
  pace(): Pace | null;
  /** Ends it with a fault, also while an origin reads it. */
  stop(fault: BodyFault): void;
  close(): void;
}

/** Receives what the client sends. */
interface Receiver {
  data(chunk: Buffer): void;
  end(): void;
  fail(fault: BodyFault): void;
}

interface BodyState {
  readonly options: ClientBodyOptions;
  /** The listeners on the message. */
  readonly listeners: Listeners;
  received: number;
  /** Set by `ready`. */
  spool: Spool | null;
  pace: Pace | null;
  /** Everything has arrived. */
  whole: boolean;
  fault: BodyFault | null;
  /** Octets have been sent that are not in the spool: the body cannot be sent again. */
  consumed: boolean;
  closed: boolean;
  /** The message is not paused. */
  flowing: boolean;
  receiver: Receiver | null;
  /** As in the options; `null` once the body is requested. */
  expectation: ContinueExpectation | null;
}

export function createClientBody(options: ClientBodyOptions): ClientBody {
  const state: BodyState = {
    options,
    listeners: {
      data: (chunk) => {
        state.received += chunk.length;
        state.pace?.move(chunk.length);
        state.receiver?.data(chunk);
      },
      end: () => complete(state),
      error: () => stop(state, brokenOff()),
    },
    received: options.read === null ? 0 : options.read.length,
    spool: null,
    pace: null,
    whole: false,
    fault: null,
    consumed: false,
    closed: false,
    flowing: false,
    receiver: null,
    expectation: options.expectation,
  };
  return {
    ready: () => ready(state),
    expectation: () => state.expectation,
    request() {
      const { expectation } = state;
      state.expectation = null;
      expectation?.proceed();
    },
    isReplayable: () => state.fault === null && (state.whole || !state.consumed),
    open() {
      const inMemory = state.whole ? state.spool!.inMemory() : null;
      return inMemory ?? streamOf(state, state.spool!);
    },
    isAwaited: () => state.flowing && state.fault === null && !state.whole,
    received: () => state.received,
    pace: () => (state.whole ? null : state.pace),
    stop: (fault) => stop(state, fault),
    close() {
      if (state.closed) return;
      unlisten(state);
      state.closed = true;
      state.pace?.end();
      state.receiver = null;
      state.spool?.close();
    },
  };
}

async function ready(state: BodyState): Promise<void> {
  const { message, read, most, space, network, rate } = state.options;
  if (state.fault !== null) throw state.fault;
  if (state.spool !== null) return;
  const spool = createSpool({ space, network, most: Number.POSITIVE_INFINITY, onRoom: nothing });
  state.spool = spool;
  if (read !== null) spool.write(read);
  state.pace = createPace({ bounds: rate, onSlow: (reason) => stop(state, tooSlow(reason)) });
  if (message.destroyed && !message.readableEnded) {
    state.fault = brokenOff();
    throw state.fault;
  }
  listen(state);
  if (state.expectation === null && spool.length < most && spool.hasRoom()) await fillSpool(state, spool);
}

interface Listeners {
  readonly data: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly error: () => void;
}

function listen({ options: { message }, listeners: { data, end, error } }: BodyState): void {
  // A stream that is not paused begins to flow at its first `data` listener.
  message.pause();
  message.on('data', data).on('end', end).on('error', error).on('close', error);
}

function unlisten({ options: { message }, listeners: { data, end, error } }: BodyState): void {
  message.off('data', data).off('end', end).off('error', error).off('close', error);
}

/** The client has sent everything. */
function complete(state: BodyState): void {
  state.whole = true;
  state.pace?.end();
  unlisten(state);
  state.receiver?.end();
}

function stop(state: BodyState, fault: BodyFault): void {
  const { message } = state.options;
  if (state.whole || state.fault !== null || state.closed) return;
  state.fault = fault;
  state.pace?.end();
  unlisten(state);
  message.pause();
  // An error of the stream without a listener would end the process.
  message.on('error', nothing);
  state.receiver?.fail(fault);
}

/** Reads from the client; the time until octets arrive is the client's. */
function resume(state: BodyState): void {
  state.flowing = true;
  state.pace?.wait();
  state.options.message.resume();
}

function pause(state: BodyState): void {
  state.flowing = false;
  state.pace?.rest();
  state.options.message.pause();
}

/** Resolves when everything, or as much as the limit and the spool allow, has arrived. @throws BodyFault */
function fillSpool(state: BodyState, spool: Spool): Promise<void> {
  const { most } = state.options;
  return new Promise((resolve, reject) => {
    state.receiver = {
      data(chunk) {
        spool.write(chunk);
        if (spool.length < most && spool.hasRoom()) return;
        pause(state);
        state.receiver = null;
        resolve();
      },
      end: () => {
        state.receiver = null;
        resolve();
      },
      fail: reject,
    };
    resume(state);
  });
}

/** The stored octets, then those that the client still sends. */
function streamOf(state: BodyState, spool: Spool): Readable {
  /** The next octet of the spool. */
  let at = 0;
  let reading = false;
  const body = new Readable({
    read: () => void pull(),
    destroy(error, done) {
      if (state.receiver === live) {
        state.receiver = null;
        pause(state);
      }
      done(error);
    },
  });
  const live: Receiver = {
    data(chunk) {
      if (!state.consumed) spool.close();
      state.consumed = true;
      if (!body.push(chunk)) pause(state);
    },
    end: () => void body.push(null),
    fail: (fault) => void body.destroy(fault),
  };
  async function pullStored(): Promise<void> {
    reading = true;
    try {
      const chunk = await spool.read(at);
      at += chunk.length;
      reading = false;
      body.push(chunk);
    } catch (error) {
      body.destroy(error as Error);
    }
  }
  async function pull(): Promise<void> {
    if (reading) return;
    if (at < spool.length) await pullStored();
    else if (state.whole) body.push(null);
    else if (state.fault !== null) body.destroy(state.fault);
    else {
      state.receiver = live;
      resume(state);
    }
  }
  return body;
}

function nothing(): void {}

// Why the body of a request does not arrive. `body`: the client has left or broken off within it; `slow`: the client sends below
// the minimum rate. The codes are those of `ResponseFault`.

export class BodyFault extends Error {
  readonly code: 'body' | 'slow';
  constructor(code: 'body' | 'slow', message: string) {
    super(message);
    this.code = code;
  }
}

/** The fault of a client that leaves within its body. */
export function brokenOff(): BodyFault {
  return new BodyFault('body', 'the client broke off within its body');
}

/** The fault of a slow client. @param rate the sentence that a pace reports */
export function tooSlow(rate: string): BodyFault {
  return new BodyFault('slow', `the client sends ${rate}`);
}
