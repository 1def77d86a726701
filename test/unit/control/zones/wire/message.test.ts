import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitRequest, answerRequest } from '../../../../../src/control/zones/answer.ts';
import { createCountedLines } from '../../../../../src/control/zones/log.ts';
import {
  compressOwner,
  FLAGS,
  readMessage,
  writeMessage,
  writeQuestion,
  type ZoneMessage,
} from '../../../../../src/control/zones/wire/message.ts';
import {
  judgeNotifyResponse,
  notifyResponseId,
} from '../../../../../src/control/zones/wire/notify-message.ts';
import { encodeName, encodeRecord, TYPES } from '../../../../../src/control/zones/wire/records.ts';
import { signMessage } from '../../../../../src/control/zones/wire/tsig.ts';
import { aRecord, createMemoryLog, createMemoryZones, makeKey } from '../../../../support/zone-memory.ts';

const { key } = makeKey('k.example');
const QUESTION = writeQuestion('shop.example', TYPES.IXFR);
const POINTER = [0xc0, 12];

/** A query with records after the question, whose counts are those of the sections. */
function withRecords(
  counts: readonly [number, number, number],
  ...records: readonly (readonly number[])[]
): Buffer {
  const head = writeMessage({ id: 7, flags: 0, question: QUESTION });
  for (const [at, count] of counts.entries()) head.writeUInt16BE(count, 6 + at * 2);
  return Buffer.concat([head, ...records.map((one) => Buffer.from(one))]);
}

function record(
  owner: readonly number[],
  type: number,
  data: readonly number[],
  kind = 1,
): readonly number[] {
  return [
    ...owner,
    type >> 8,
    type & 255,
    kind >> 8,
    kind & 255,
    0,
    0,
    0,
    0,
    data.length >> 8,
    data.length & 255,
    ...data,
  ];
}

const SERIAL = [0, 0, 1, 2];
const soaData = [...POINTER, ...POINTER, ...SERIAL, ...Array<number>(16).fill(0)];
const OPT = record([0], TYPES.OPT, [0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8], 1_232);

function read(octets: Buffer): ZoneMessage | null {
  const message = readMessage(octets);
  return message?.kind === 'message' ? message : null;
}

describe('reading messages', () => {
  it('IXFR has the serial of the SOA record of its zone, compressed as BIND sends it', () => {
    const message = read(withRecords([0, 1, 1], record(POINTER, TYPES.SOA, soaData), OPT));
    expect([message?.serial, message?.payload, message?.question.name]).toEqual([258, 1_232, 'shop.example']);
  });

  it('the SOA record of another name, class or section has no serial', () => {
    const other = [...encodeName('other.example')];
    for (const octets of [
      withRecords([0, 1, 0], record(other, TYPES.SOA, soaData)),
      withRecords([0, 1, 0], record(POINTER, TYPES.SOA, soaData, 3)),
      withRecords([1, 0, 0], record(POINTER, TYPES.SOA, soaData)),
      withRecords([0, 0, 1], record(POINTER, TYPES.SOA, soaData)),
    ]) {
      expect(read(octets)).toMatchObject({ serial: null });
    }
  });

  it('the name of a question is compared without case', () => {
    const octets = writeMessage({
      id: 1,
      flags: 0,
      question: Buffer.from('\x04sHoP\0\0\x06\0\x01', 'latin1'),
    });
    expect(read(octets)?.question.name).toBe('shop');
  });

  it('a label with a dot, or with octets that no zone has, names no zone', () => {
    for (const label of ['shop.example', 'sh\xd6p', '\0']) {
      const name = String.fromCharCode(label.length) + label;
      const question = Buffer.from(`${name}\0\0\x06\0\x01`, 'latin1');
      const message = read(writeMessage({ id: 1, flags: 0, question }));
      expect(message?.question.name === null || message?.question.name === '\0').toBe(true);
      expect(message?.question.name).not.toBe('shop.example');
    }
  });

  const tsig = [
    ...signMessage(writeMessage({ id: 7, flags: 0, question: QUESTION }), key, { time: 1 }).octets,
  ].slice(12 + QUESTION.length);
  it.each([
    ['no question', writeMessage({ id: 7, flags: 0, question: null })],
    ['a record that is not there', withRecords([0, 0, 1])],
    ['octets after the last record', withRecords([0, 0, 0], [1])],
    [
      'a name that points to itself',
      withRecords([0, 0, 1], record([0xc0, 12 + QUESTION.length], TYPES.A, [])),
    ],
    ['a name that points ahead', withRecords([0, 0, 1], record([0xc0, 200], TYPES.A, []))],
    ['a name that points into the header', withRecords([0, 0, 1], record([0xc0, 2], TYPES.A, []))],
    [
      'a label of 64 octets',
      withRecords([0, 0, 1], record([64, ...Array<number>(64).fill(97), 0], TYPES.A, [])),
    ],
    [
      'a name of 256 octets',
      withRecords(
        [0, 0, 1],
        record([...Array.from({ length: 255 }, (_, at) => (at % 2 === 0 ? 1 : 97)), 0, 0], TYPES.A, []),
      ),
    ],
    ['an SOA record that ends early', withRecords([0, 1, 0], record(POINTER, TYPES.SOA, soaData.slice(1)))],
    ['two OPT records', withRecords([0, 0, 2], OPT, OPT)],
    ['an OPT record with a name', withRecords([0, 0, 1], record(POINTER, TYPES.OPT, []))],
    ['two TSIG records', withRecords([0, 0, 2], tsig, tsig)],
    ['a TSIG record before another', withRecords([0, 0, 2], tsig, OPT)],
    ['a TSIG record in the answer section', withRecords([1, 0, 0], tsig)],
    [
      'a TSIG record of class IN',
      withRecords([0, 0, 1], record([0], TYPES.TSIG, [0, ...Array<number>(16).fill(0)], 1)),
    ],
    [
      'a TSIG record whose MAC ends after it',
      withRecords(
        [0, 0, 1],
        record([0], TYPES.TSIG, [0, ...Array<number>(8).fill(0), 0, 99, ...Array<number>(6).fill(0)], 255),
      ),
    ],
  ])('%s is malformed', (_, octets) => {
    expect(readMessage(octets)).toMatchObject({ kind: 'malformed', id: 7 });
  });

  it('eleven octets are no message', () => {
    expect(readMessage(Buffer.alloc(11))).toBeNull();
  });
});

describe('hostile octets', () => {
  const zones = createMemoryZones();
  zones.set('shop.example', 5, [aRecord('shop.example', '192.0.2.1')]);
  const options = {
    source: zones,
    keys: new Map([[key.name, key]]),
    clock: () => 1_000_000,
    lines: createCountedLines(createMemoryLog(), () => 1_000_000),
  };
  const sent = { name: 'shop.example', mac: Buffer.alloc(32), key };

  async function expectCalm(octets: Buffer): Promise<void> {
    notifyResponseId(octets);
    judgeNotifyResponse(octets, sent, 1_000);
    for (const transport of ['udp', 'tcp'] as const) {
      const origin = { transport, address: '192.0.2.1' };
      const admitted = admitRequest(octets, origin, options);
      if (admitted === null) continue;
      const answer =
        admitted.kind === 'answered'
          ? admitted.answer
          : await answerRequest(admitted.request, origin, options);
      for (const message of answer.messages) {
        expect(message.readUInt16BE(2) & FLAGS.QR).toBe(FLAGS.QR);
        // What a stranger gets is no longer than what a stranger sends, but for a TSIG record's algorithm and fields.
        if (answer.kind === 'refused') expect(message.length).toBeLessThanOrEqual(octets.length + 11);
      }
    }
  }

  it('random octets are answered or ignored', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (octets) => expectCalm(Buffer.from(octets))),
      { numRuns: 2_000 },
    );
  });

  it('requests with changed, cut and added octets are answered or ignored', async () => {
    const base = signMessage(withRecords([0, 1, 1], record(POINTER, TYPES.SOA, soaData), OPT), key, {
      time: 1_000,
    }).octets;
    const change = fc.record({ at: fc.nat(base.length - 1), octet: fc.integer({ min: 0, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 4 }),
        fc.nat(base.length),
        fc.uint8Array({ maxLength: 20 }),
        (changes, end, added) => {
          const octets = Buffer.from(base);
          for (const { at, octet } of changes) octets[at] = octet;
          return expectCalm(Buffer.concat([octets.subarray(0, end), added]));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('signed requests of any type, class, opcode and name are answered', async () => {
    const label = fc.stringMatching(/^[a-zA-Z0-9_*-]{1,20}$/);
    await fc.assert(
      fc.asyncProperty(
        fc.array(label, { maxLength: 5 }),
        fc.nat(65_535),
        fc.nat(0x7fff),
        async (labels, type, flags) => {
          const question = Buffer.concat([
            encodeName(labels.join('.')),
            Buffer.from([type >> 8, type & 255, 0, 1]),
          ]);
          const octets = signMessage(writeMessage({ id: 9, flags, question }), key, { time: 1_000 }).octets;
          const origin = { transport: 'tcp', address: '192.0.2.1' } as const;
          const admitted = admitRequest(octets, origin, options);
          if (admitted?.kind !== 'signed') throw new Error('the request is refused');
          const [message] = (await answerRequest(admitted.request, origin, options)).messages;
          const answer = read(message!);
          expect([answer?.id, answer?.opcode, answer?.question.octets]).toEqual([
            9,
            (flags >> 11) & 15,
            question,
          ]);
          expect(answer?.tsig).not.toBeNull();
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('compression of owners', () => {
  it.each([
    ['shop.example', 2],
    ['www.shop.example', 6],
    ['*.a.shop.example', 6],
    ['xshop.example', 15],
    ['example', 9],
    ['shop.example.net', 18],
  ])('the owner %s has %i octets', (name, length) => {
    const plain = encodeRecord(aRecord(name, '192.0.2.1'));
    expect(compressOwner(plain, encodeName('shop.example')).length).toBe(
      plain.length - name.length - 2 + length,
    );
  });

  it('the root is not compressed', () => {
    const plain = encodeRecord(aRecord('a', '192.0.2.1'));
    expect(compressOwner(plain, encodeName(''))).toEqual(plain);
  });
});
