/**
 * The body of a request on its way to an origin. It is read before a connection to an origin is taken, so that a slow
 * client holds none: whole, or as far as the bound allows. What is longer is sent while it still comes.
 */
import { Readable } from 'node:stream';
import type { ClientRequest } from '../http/client-messages.ts';
import { type BodyFault, brokenOff, tooSlow } from './body-fault.ts';
import type { RateBounds } from './limits.ts';
import { createPace, type Pace } from './pace.ts';
import type { BufferSpace } from './space.ts';
import { createSpool, type Spool } from './spool.ts';

export interface ClientBodyOptions {
  readonly message: ClientRequest;
  /** What was read of it already. */
  readonly read: Uint8Array | null;
  /** Octets that are read before an origin is asked. */
  readonly most: number;
  readonly space: BufferSpace;
  /** The client network that its octets count for. */
  readonly network: string;
  readonly rate: RateBounds;
}

export interface ClientBody {
  /** Reads it as far as it is buffered. @throws BodyFault */
  ready(): Promise<void>;
  /** Whether it can be sent from its first octet once more. */
  isReplayable(): boolean;
  /** The body for an origin, from its first octet. Only after `ready`, and again only where it is replayable. */
  open(): Uint8Array | Readable;
  /** Whether the origin takes more than the client has sent. */
  isAwaited(): boolean;
  /** How the client sends; `null`: it has sent everything, or nothing was asked of it. */
  pace(): Pace | null;
  /** Ends it with a fault, where an origin is getting it. */
  stop(fault: BodyFault): void;
  close(): void;
}

export function createClientBody(options: ClientBodyOptions): ClientBody {
  const { message, read, most, space, network, rate } = options;
  let spool: Spool | null = null;
  let pace: Pace | null = null;
  let whole = false;
  let fault: BodyFault | null = null;
  /** What came since it left the buffer: it cannot be sent again. */
  let consumed = false;
  let closed = false;
  /** The client is asked for more. */
  let flowing = false;
  /** Who takes what comes. */
  let taker: Taker | null = null;

  function listen(): void {
    // A stream that is not paused flows to its first listener.
    message.pause();
    message.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  }
  function unlisten(): void {
    message.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
  }
  function onData(chunk: Buffer): void {
    pace?.move(chunk.length);
    taker?.data(chunk);
  }
  function onEnd(): void {
    whole = true;
    pace?.end();
    unlisten();
    taker?.end();
  }
  function onError(): void {
    stop(brokenOff());
  }
  function onClose(): void {
    onError();
  }
  function stop(why: BodyFault): void {
    if (whole || fault !== null || closed) return;
    fault = why;
    pace?.end();
    unlisten();
    message.pause();
    // The stream stays a source of errors, which nobody else may listen to.
    message.on('error', ignore);
    taker?.fail(why);
  }

  function go(): void {
    flowing = true;
    pace?.wait();
    message.resume();
  }
  function hold(): void {
    flowing = false;
    pace?.rest();
    message.pause();
  }

  function fill(buffer: Spool): Promise<void> {
    return new Promise((resolve, reject) => {
      taker = {
        data(chunk) {
          buffer.write(chunk);
          if (buffer.length < most && buffer.hasRoom()) return;
          hold();
          taker = null;
          resolve();
        },
        end: () => {
          taker = null;
          resolve();
        },
        fail: reject,
      };
      go();
    });
  }

  /** The octets of the buffer, and then what the client sends. */
  function stream(buffer: Spool): Readable {
    let at = 0;
    let reading = false;
    const body = new Readable({
      read: () => void pull(),
      destroy(error, done) {
        if (taker === live) {
          taker = null;
          hold();
        }
        done(error);
      },
    });
    const live: Taker = {
      data(chunk) {
        if (!consumed) buffer.close();
        consumed = true;
        if (!body.push(chunk)) hold();
      },
      end: () => void body.push(null),
      fail: (why) => void body.destroy(why),
    };
    async function pull(): Promise<void> {
      if (reading) return;
      if (at < buffer.length) {
        reading = true;
        try {
          const chunk = await buffer.read(at);
          at += chunk.length;
          reading = false;
          body.push(chunk);
        } catch (error) {
          body.destroy(error as Error);
        }
        return;
      }
      if (whole) body.push(null);
      else if (fault !== null) body.destroy(fault);
      else {
        taker = live;
        go();
      }
    }
    return body;
  }

  return {
    async ready() {
      if (fault !== null) throw fault;
      if (spool !== null) return;
      spool = createSpool({ space, network, most: Number.POSITIVE_INFINITY, onRoom: ignore });
      if (read !== null) spool.write(read);
      pace = createPace({ bounds: rate, onSlow: (reason) => stop(tooSlow(reason)) });
      if (message.destroyed && !message.readableEnded) {
        fault = brokenOff();
        throw fault;
      }
      listen();
      if (spool.length < most && spool.hasRoom()) await fill(spool);
    },
    isReplayable: () => fault === null && (whole || !consumed),
    open() {
      const inMemory = whole ? spool!.inMemory() : null;
      return inMemory ?? stream(spool!);
    },
    isAwaited: () => flowing && fault === null && !whole,
    pace: () => (whole ? null : pace),
    stop,
    close() {
      if (closed) return;
      unlisten();
      closed = true;
      pace?.end();
      taker = null;
      spool?.close();
    },
  };
}

interface Taker {
  data(chunk: Buffer): void;
  end(): void;
  fail(fault: BodyFault): void;
}

function ignore(): void {}
