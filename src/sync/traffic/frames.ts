/**
 * Frames, of which journals and batch files consist: length and XXH32 of the content, both 32 bits little-endian, then the
 * content. A file that a crash has torn has all frames before the tear.
 */
import { xxhash32 } from '../../base/xxhash32.ts';
import { MAX_FRAME_OCTETS } from './limits.ts';

const HEAD = 8;

/** The frame of a content. */
export function frameOf(content: Uint8Array): Uint8Array {
  if (content.length > MAX_FRAME_OCTETS) {
    throw new RangeError(`a frame has at most ${MAX_FRAME_OCTETS} octets, found ${content.length}`);
  }
  const frame = new Uint8Array(HEAD + content.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, content.length, true);
  view.setUint32(4, xxhash32(content), true);
  frame.set(content, HEAD);
  return frame;
}

/** The contents of whole frames. */
export interface ReadFrames {
  readonly contents: readonly Uint8Array[];
  /** Whether the octets end with a frame that is not whole, or is damaged. */
  readonly isTorn: boolean;
}

/** Reads frames up to the first that is not whole; the contents are views of the octets. */
export function readFrames(octets: Uint8Array): ReadFrames {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
  const contents: Uint8Array[] = [];
  let at = 0;
  while (octets.length - at >= HEAD) {
    const length = view.getUint32(at, true);
    if (length > octets.length - at - HEAD) break;
    const content = octets.subarray(at + HEAD, at + HEAD + length);
    if (xxhash32(content) !== view.getUint32(at + 4, true)) break;
    contents.push(content);
    at += HEAD + length;
  }
  return { contents, isTorn: at < octets.length };
}
