/** Whatever octets arrive, SPOP frames are read or refused, in bounds; well-formed ones give the request that was sent. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readArguments } from '../../src/edge/doors/spop/arguments.ts';
import { FrameFault } from '../../src/edge/doors/spop/codec.ts';
import { readDisconnect, readHead, readHello } from '../../src/edge/doors/spop/frames.ts';
import { createFrameSplitter } from '../../src/edge/doors/spop/split-frames.ts';
import {
  argumentsOf,
  binary,
  headersBinary,
  helloFrame,
  int,
  named,
  notifyFrame,
  type Typed,
  text,
  typed,
} from '../support/spop-frames.ts';

const FRAMES = [helloFrame(), notifyFrame(argumentsOf())].map((frame) => frame.subarray(4));

/** Runs a reader; any exception but a `FrameFault` fails. */
function guarded<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrameFault) return null;
    throw error;
  }
}

function readAll(frame: Buffer): void {
  for (const read of [readHello, readDisconnect, readArguments]) guarded(() => read(readHead(frame).payload));
}

const TYPED = fc.oneof(
  fc.constant(typed({ type: 'null' })),
  fc.boolean().map((value) => typed({ type: 'bool', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => typed({ type: 'int64', value })),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => typed({ type: 'uint64', value })),
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((octets) => typed({ type: 'ipv4', octets: [...octets] })),
  fc
    .uint8Array({ minLength: 16, maxLength: 16 })
    .map((octets) => typed({ type: 'ipv6', octets: [...octets] })),
  fc.uint8Array({ maxLength: 300 }).map((octets) => typed({ type: 'string', octets })),
  fc.uint8Array({ maxLength: 300 }).map((octets) => typed({ type: 'binary', octets })),
);
const NAME = fc.constantFrom(
  ...Object.keys(argumentsOf()),
  'scheme',
  'host',
  'ja4',
  'country',
  'asn',
  'other',
  '__proto__',
);

describe('frames', () => {
  test('random octets are refused by a fault of the protocol, and by no other exception', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (octets) => readAll(Buffer.from(octets))));
  });

  test('cut and changed frames are read or refused', () => {
    const changed = fc.record({
      frame: fc.constantFrom(...FRAMES),
      cut: fc.nat(400),
      at: fc.nat(400),
      octet: fc.nat(255),
    });
    fc.assert(
      fc.property(changed, ({ frame, cut, at, octet }) => {
        const copy = Buffer.from(frame.subarray(0, cut));
        if (copy.length > 0) copy[at % copy.length] = octet;
        readAll(copy);
      }),
      { numRuns: 2_000 },
    );
  });

  test('arguments of any type in any order make a request, or a fault that names one', () => {
    const list = fc.array(fc.tuple(NAME, TYPED), { maxLength: 24 });
    fc.assert(
      fc.property(list, (args) => {
        const payload = Buffer.concat([
          named('request'),
          Buffer.from([args.length]),
          ...args.flatMap(([name, value]) => [named(name), value]),
        ]);
        const found = readArguments({ octets: payload, at: 0, end: payload.length });
        if (!found.ok) expect(found.argument).toMatch(/^[a-z_0-9]+$/);
        else expect(found.request.target).toMatch(/^[!-~]+$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the order of arguments changes nothing', () => {
    const sent = Object.entries(
      argumentsOf({ uri: text('/a?b'), body: binary(Buffer.from('x')), body_len: int(1) }),
    );
    const read = (frame: Buffer) => readArguments(readHead(frame.subarray(4)).payload);
    const first = read(notifyFrame(Object.fromEntries(sent)));
    fc.assert(
      fc.property(fc.shuffledSubarray(sent, { minLength: sent.length }), (order) => {
        expect(read(notifyFrame(Object.fromEntries(order)))).toEqual(first);
      }),
    );
  });

  test('headers of any name and value come out as they were sent', () => {
    const name = fc.oneof(
      fc.constantFrom('cookie', '__proto__', 'constructor', 'x'),
      fc.stringMatching(/^[a-z-]{1,300}$/),
    );
    const value = fc.uint8Array({ maxLength: 400 }).map((octets) => Buffer.from(octets).toString('latin1'));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 30 }), (headers) => {
        const frame = notifyFrame(argumentsOf({ hdrs: binary(headersBinary(headers)) }));
        const found = readArguments(readHead(frame.subarray(4)).payload);
        if (!found.ok) throw new Error(`${found.argument} ${found.fault}`);
        for (const [one] of headers) {
          const sent = headers.filter(([other]) => other === one).map(([, text]) => text);
          const expected = one === 'cookie' ? sent.join('; ') : sent.length === 1 ? sent[0] : sent;
          expect(found.request.headers[one]).toEqual(expected);
        }
        expect(Object.keys(found.request.headers).length).toBe(new Set(headers.map(([one]) => one)).size);
      }),
    );
  });

  test('a stream of frames is split in the same places, however its octets are cut', () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 12 });
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sent, cuts) => {
        const stream = Buffer.concat(
          sent.flatMap((frame) => [Buffer.from([0, 0, 0, frame.length]), Buffer.from(frame)]),
        );
        const splitter = createFrameSplitter(60);
        const got: Buffer[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const end = at + cuts[turn % cuts.length]!;
          splitter.add(stream.subarray(at, end));
          at = end;
          for (let frame = splitter.next(); frame !== null; frame = splitter.next())
            got.push(Buffer.from(frame));
        }
        expect(got).toEqual(sent.map((frame) => Buffer.from(frame)));
      }),
    );
  });

  test.each<readonly [Typed, number | undefined]>([
    [int(64_496), 64_496],
    [int(4_294_967_295), 4_294_967_295],
    [text('AS64496'), 64_496],
    [text(''), undefined],
    [int(0), undefined],
    [{ type: 'null' }, undefined],
  ])('an autonomous system is a number or a text (%#)', (asn, expected) => {
    const frame = notifyFrame({ ...argumentsOf(), asn }).subarray(4);
    const read = readArguments(readHead(frame).payload);
    expect(read.ok ? read.request.asn : read).toBe(expected);
  });
});
