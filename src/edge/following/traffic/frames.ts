/**
 * Frames, of which journals and batch files consist: length and XXH32 of the content, both 32 bits little-endian, then the
 * content. A file that a crash has torn has all frames before the tear.
 */
import { xxhash32 } from '../../../base/octets/xxhash32.ts';
import { MAX_FRAME_OCTETS } from './limits.ts';

/** Octets of a frame before its content. */
export const FRAME_HEAD_OCTETS = 8;

/** The frame of a content. */
export function frameOf(content: Uint8Array): Uint8Array {
  if (content.length > MAX_FRAME_OCTETS) {
    throw new RangeError(`a frame has at most ${MAX_FRAME_OCTETS} octets, found ${content.length}`);
  }
  const frame = new Uint8Array(FRAME_HEAD_OCTETS + content.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, content.length, true);
  view.setUint32(4, xxhash32(content), true);
  frame.set(content, FRAME_HEAD_OCTETS);
  return frame;
}

/** The octets of the first frame, by its head; 0: the head is not whole, or of a frame that is too long. */
export function frameLength(octets: Uint8Array): number {
  if (octets.length < FRAME_HEAD_OCTETS) return 0;
  const length = new DataView(octets.buffer, octets.byteOffset).getUint32(0, true);
  return length > MAX_FRAME_OCTETS ? 0 : FRAME_HEAD_OCTETS + length;
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
  while (octets.length - at >= FRAME_HEAD_OCTETS) {
    const length = view.getUint32(at, true);
    if (length > octets.length - at - FRAME_HEAD_OCTETS) break;
    const content = octets.subarray(at + FRAME_HEAD_OCTETS, at + FRAME_HEAD_OCTETS + length);
    if (xxhash32(content) !== view.getUint32(at + 4, true)) break;
    contents.push(content);
    at += FRAME_HEAD_OCTETS + length;
  }
  return { contents, isTorn: at < octets.length };
}
