/**
 * Splits the octets of a connection into frames. In: chunks as the socket delivers them. Out: one frame at a time, without its
 * length, or a `FrameFault` for a length beyond the limit. At most one frame and one chunk are in memory.
 */
import { FrameFault, LENGTH_OCTETS } from './codec.ts';

/** The frames of one connection. */
export interface FrameSplitter {
  /** Adds a chunk. INVARIANT: `next` has returned `null` since the last one. */
  add(chunk: Buffer): void;
  /** The next whole frame; `null`: more octets are needed. */
  next(): Buffer | null;
  /** What has arrived of a frame that is not whole. INVARIANT: `next` has returned `null`. */
  rest(): Buffer;
  /** Sets the longest frame from now on. */
  limit(octets: number): void;
}

const EMPTY = Buffer.alloc(0);

/** @param octets the longest frame until `limit` is called */
export function createFrameSplitter(octets: number): FrameSplitter {
  let most = octets;
  let chunk: Buffer = EMPTY;
  let at = 0;
  /** A frame that arrives in several chunks: its length first, then as many octets. */
  const head = Buffer.alloc(LENGTH_OCTETS);
  let headOctets = 0;
  let frame: Buffer | null = null;
  let frameOctets = 0;

  function checked(length: number): number {
    if (length > most) {
      throw new FrameFault('tooBig', `a frame has ${length} octets, more than the ${most} agreed on`);
    }
    return length;
  }

  /** PERF: the frame is a view where it came in one chunk, as nearly all do. */
  function whole(): Buffer | null {
    const from = at + LENGTH_OCTETS;
    if (from > chunk.length) return null;
    const end = from + checked(chunk.readUInt32BE(at));
    if (end > chunk.length) return null;
    at = end;
    return chunk.subarray(from, end);
  }

  /** Copies what the chunk has of a frame; returns the frame once it is complete. */
  function gathered(): Buffer | null {
    if (frame === null) {
      const taken = chunk.copy(head, headOctets, at, at + LENGTH_OCTETS - headOctets);
      at += taken;
      headOctets += taken;
      if (headOctets < LENGTH_OCTETS) return null;
      frame = Buffer.allocUnsafe(checked(head.readUInt32BE(0)));
    }
    const copied = chunk.copy(frame, frameOctets, at, at + frame.length - frameOctets);
    at += copied;
    frameOctets += copied;
    if (frameOctets < frame.length) return null;
    const complete = frame;
    frame = null;
    headOctets = 0;
    frameOctets = 0;
    return complete;
  }

  return {
    add(added) {
      chunk = added;
      at = 0;
    },
    next() {
      const found = (headOctets === 0 ? whole() : null) ?? gathered();
      if (at === chunk.length) {
        chunk = EMPTY;
        at = 0;
      }
      return found;
    },
    rest() {
      const begun = frame === null ? EMPTY : frame.subarray(0, frameOctets);
      return Buffer.concat([head.subarray(0, headOctets), begun]);
    },
    limit(limited) {
      most = limited;
    },
  };
}
