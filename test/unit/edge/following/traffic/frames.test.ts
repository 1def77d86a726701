/** Frames of journals and batch files: a tear or damage costs what follows it and nothing before it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_FRAME_OCTETS } from '../../../../../src/edge/following/limits.ts';
import { frameLength, frameOf, readFrames } from '../../../../../src/edge/following/traffic/files.ts';

const CONTENTS = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 });

/** The contents whose frames end at or before an octet. */
function wholeBefore(contents: readonly Uint8Array[], at: number): readonly Uint8Array[] {
  let end = 0;
  return contents.filter((content) => {
    end += frameOf(content).length;
    return end <= at;
  });
}

const plain = (contents: readonly Uint8Array[]): readonly (readonly number[])[] =>
  contents.map((content) => [...content]);

describe('frames', () => {
  test('that are torn at any octet are read up to the last whole one', () => {
    fc.assert(
      fc.property(CONTENTS, (contents) => {
        const octets = Buffer.concat(contents.map(frameOf));
        for (let at = 0; at <= octets.length; at++) {
          const read = readFrames(octets.subarray(0, at));
          const whole = wholeBefore(contents, at);
          expect(plain(read.contents)).toEqual(plain(whole));
          expect(read.isTorn).toBe(at > Buffer.concat(whole.map(frameOf)).length);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('with any octet changed are read up to the changed one, which is never returned', () => {
    fc.assert(
      fc.property(CONTENTS, fc.integer({ min: 1, max: 255 }), (contents, change) => {
        const octets = Buffer.concat(contents.map(frameOf));
        for (let at = 0; at < octets.length; at++) {
          const damaged = Buffer.from(octets);
          damaged[at]! ^= change;
          const { contents: read, isTorn } = readFrames(damaged);
          expect(plain(read)).toEqual(plain(wholeBefore(contents, at)));
          expect(isTorn).toBe(true);
        }
      }),
      { numRuns: 25 },
    );
  });

  test('that would be longer than the limit are refused, and damage that claims so is not allocated', () => {
    expect(() => frameOf({ length: MAX_FRAME_OCTETS + 1 } as Uint8Array)).toThrow(RangeError);
    const claim = new Uint8Array(8);
    new DataView(claim.buffer).setUint32(0, MAX_FRAME_OCTETS + 1, true);
    expect(frameLength(claim)).toBe(0);
    expect(frameLength(claim.subarray(0, 7))).toBe(0);
    expect(frameLength(frameOf(new Uint8Array(5)))).toBe(13);
  });
});
