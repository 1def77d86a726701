/** The encoding of SPOP, against octets written by hand from HAProxy's `doc/SPOE.txt` §3.1 and §3.2. */
import { describe, expect, test } from 'vitest';
import {
  createFrameWriter,
  FrameFault,
  readTyped,
  readVarint,
} from '../../../../src/edge/doors/spop/codec.ts';
import { agentDisconnect, agentHello, readHead } from '../../../../src/edge/doors/spop/frames.ts';
import { createFrameSplitter } from '../../../../src/edge/doors/spop/split-frames.ts';

const cursorOf = (octets: readonly number[]) => ({ octets: Buffer.from(octets), at: 0, end: octets.length });

/** The bounds of the table in §3.1, with the octets that the pattern of each row gives. */
const VARINTS: readonly (readonly [number, readonly number[]])[] = [
  [0, [0]],
  [239, [239]],
  [240, [0xf0, 0]],
  [241, [0xf1, 0]],
  [256, [0xf0, 1]],
  [2_287, [0xff, 0x7f]],
  [2_288, [0xf0, 0x80, 0]],
  [264_431, [0xff, 0xff, 0x7f]],
  [264_432, [0xf0, 0x80, 0x80, 0]],
  [33_818_863, [0xff, 0xff, 0xff, 0x7f]],
  [33_818_864, [0xf0, 0x80, 0x80, 0x80, 0]],
  [4_328_786_159, [0xff, 0xff, 0xff, 0xff, 0x7f]],
];

describe('variable-length integers', () => {
  test.each(VARINTS)('%d is read and written as the specification says', (value, octets) => {
    const cursor = cursorOf(octets);
    expect(readVarint(cursor)).toBe(value);
    expect(cursor.at).toBe(octets.length);
    const writer = createFrameWriter();
    writer.reset();
    writer.varint(value);
    expect([...writer.take().subarray(4)]).toEqual(octets);
  });

  test.each([[[]], [[0xf0]], [[0xf0, 0x80]], [[0xf0, 0x80, 0x80, 0x80]]])('%j ends too early', (octets) => {
    expect(() => readVarint(cursorOf(octets))).toThrow(/ends within an integer/);
  });

  test('an integer of more than ten octets is refused', () => {
    const longest = [0xf0, ...Array<number>(8).fill(0x80), 0];
    expect(readVarint(cursorOf(longest))).toBeGreaterThan(2 ** 50);
    expect(() => readVarint(cursorOf([0xf0, ...Array<number>(9).fill(0x80), 0]))).toThrow(/64 bits/);
  });
});

describe('typed data', () => {
  test.each([
    ['null', [0], null],
    ['false', [0x01], false],
    ['true', [0x11], true],
    ['int32', [2, 80], 80],
    // -1 as 64 bits in two's complement: 2^64 - 1.
    ['int32 -1', [2, 0xff, 0xf0, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0x0e], -1],
    ['uint32', [3, 0xf0, 0], 240],
    ['int64', [4, 1], 1],
    ['uint64', [5, 0xff, 0x7f], 2_287],
    ['IPv4', [6, 203, 0, 113, 7], { address: '203.0.113.7' }],
    ['IPv6', [7, 0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1], { address: '2001:db8::1' }],
    ['a mapped IPv4', [7, ...Array<number>(10).fill(0), 255, 255, 192, 0, 2, 1], { address: '192.0.2.1' }],
    ['a string', [8, 2, 0x61, 0xe9], 'a\u00e9'],
    ['an empty string', [8, 0], ''],
    ['binary', [9, 2, 0, 255], Buffer.from([0, 255])],
  ])('%s', (_, octets, value) => {
    const cursor = cursorOf(octets);
    expect(readTyped(cursor)).toEqual(value);
    expect(cursor.at).toBe(octets.length);
  });

  test.each([
    ['no octet', []],
    ['a type above 9', [10]],
    ['a cut IPv4', [6, 1, 2, 3]],
    ['a cut IPv6', [7, 1, 2, 3, 4]],
    ['a string longer than the frame', [8, 5, 0x61]],
    ['binary longer than the frame', [9, 0xff, 0xff, 0x7f, 1]],
  ])('%s is refused', (_, octets) => {
    expect(() => readTyped(cursorOf(octets))).toThrow(FrameFault);
  });
});

describe('frames', () => {
  test('AGENT-HELLO has the version, the size and pipelining', () => {
    const expected = [
      ...[101, 0, 0, 0, 1, 0, 0],
      ...[7, ...Buffer.from('version'), 8, 3, ...Buffer.from('2.0')],
      ...[14, ...Buffer.from('max-frame-size'), 3, 0xfc, 0xf0, 0x06],
      ...[12, ...Buffer.from('capabilities'), 8, 10, ...Buffer.from('pipelining')],
    ];
    expect([...agentHello(16_380)]).toEqual([0, 0, 0, expected.length, ...expected]);
  });

  test('AGENT-DISCONNECT has the code of its status', () => {
    const expected = [
      ...[102, 0, 0, 0, 1, 0, 0],
      ...[11, ...Buffer.from('status-code'), 3, 10],
      ...[7, ...Buffer.from('message'), 8, 2, ...Buffer.from('no')],
    ];
    expect([...agentDisconnect('fragmented', 'no')]).toEqual([0, 0, 0, expected.length, ...expected]);
  });

  test('the head of a frame has both ids as they were sent', () => {
    const { type, flags, ids, payload } = readHead(Buffer.from([3, 0, 0, 0, 1, 0xf0, 1, 7, 9]));
    expect({ type, flags, ids: [...ids], at: payload.at }).toEqual({
      type: 3,
      flags: 1,
      ids: [0xf0, 1, 7],
      at: 8,
    });
    expect(() => readHead(Buffer.from([3, 0, 0, 0]))).toThrow(/shorter than its head/);
  });

  test('frames are the same, however the octets are cut', () => {
    const stream = Buffer.from([0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 7, 8, 9]);
    for (let size = 1; size <= stream.length; size++) {
      const splitter = createFrameSplitter(3);
      const frames: number[][] = [];
      for (let at = 0; at < stream.length; at += size) {
        splitter.add(stream.subarray(at, at + size));
        for (let frame = splitter.next(); frame !== null; frame = splitter.next()) frames.push([...frame]);
      }
      expect(frames).toEqual([[1, 2], [], [7, 8, 9]]);
    }
  });

  test('a frame above the limit is refused by its length alone', () => {
    const splitter = createFrameSplitter(16);
    splitter.add(Buffer.from([0, 0]));
    expect(splitter.next()).toBeNull();
    splitter.add(Buffer.from([0, 17]));
    expect(() => splitter.next()).toThrow(/17 octets/);
  });
});
