import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  packRecordsInto,
  signTransfer,
  stepOctets,
  stepRecords,
  wholeOctets,
  wholeRecords,
} from '../../../../src/control/zones/answer.ts';
import { MAX_TSIG_OCTETS, TRANSFER_MESSAGE_OCTETS } from '../../../../src/control/zones/limits.ts';
import {
  readMessage,
  writeMessage,
  writeQuestion,
  type ZoneMessage,
} from '../../../../src/control/zones/wire/message.ts';
import {
  encodeName,
  encodeRecord,
  packRecords,
  readRecords,
  splitRecords,
  TYPES,
} from '../../../../src/control/zones/wire/records.ts';
import { soaRecord } from '../../../../src/control/zones/zone-source.ts';
import { aRecord, createMemoryZones, makeKey } from '../../../support/zone-memory.ts';

const ZONE = 'shop.example';

function request(name: string, type: number): ZoneMessage {
  const message = readMessage(writeMessage({ id: 3, flags: 0, question: writeQuestion(name, type) }));
  if (message?.kind !== 'message') throw new Error('malformed');
  return message;
}

/** The records of messages, with their owners in full: the only compression is a pointer to the question. */
function expand(messages: Iterable<Buffer>, zone: string): readonly Buffer[] {
  const wire = Buffer.from(encodeName(zone));
  const found: Buffer[] = [];
  for (const message of messages) {
    let at = 12 + wire.length + 4;
    for (let left = message.readUInt16BE(6); left > 0; left--) {
      const start = at;
      while (message[at] !== 0 && message[at]! < 0xc0) at += 1 + message[at]!;
      const pointer = message[at] !== 0;
      if (pointer) expect(message.readUInt16BE(at)).toBe(0xc00c);
      const owner = Buffer.concat([message.subarray(start, at), pointer ? wire : Buffer.from([0])]);
      at += pointer ? 2 : 1;
      const end = at + 10 + message.readUInt16BE(at + 8);
      found.push(Buffer.concat([owner, message.subarray(at, end)]));
      at = end;
    }
  }
  return found;
}

const label = fc.stringMatching(/^[a-z0-9_-]{1,63}$/);
const owner = fc.array(label, { maxLength: 2 }).map((labels) => [...labels, ZONE].join('.'));
const anyRecord = fc.record({
  name: owner,
  type: fc.constantFrom(TYPES.A, TYPES.TXT, TYPES.MX),
  ttl: fc.nat(100_000),
  rdata: fc.uint8Array({ maxLength: 600 }),
});
const anyRecords = fc.array(anyRecord, { maxLength: 120 });

describe('transfers', () => {
  it('messages have every record of a zone once between two SOA records, and a bounded size', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const head = { name: ZONE, serial: 4, primary: 'ns1.edge.test' };
        const content = packRecords(records);
        const messages = [...packRecordsInto(request(ZONE, TYPES.AXFR), wholeRecords(head, content))];
        const soa = encodeRecord(soaRecord(head));
        expect(expand(messages, ZONE)).toEqual(
          [soa, ...splitRecords(content), soa].map((one) => Buffer.from(one)),
        );
        for (const message of messages) expect(message.length).toBeLessThanOrEqual(TRANSFER_MESSAGE_OCTETS);
        expect(wholeOctets(head, content)).toBe(content.length + 2 * soa.length);
      }),
      { numRuns: 80 },
    );
  });

  it('a client that applies the steps has the content of the current version', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(20), { maxLength: 12 }), { minLength: 2, maxLength: 6 }),
        async (versions) => {
          const zones = createMemoryZones();
          for (const [serial, hosts] of versions.entries()) {
            zones.set(
              ZONE,
              serial,
              hosts.map((host) => aRecord(`h${host}.${ZONE}`, `192.0.2.${host}`)),
            );
          }
          const whole = (await zones.whole(ZONE))!;
          for (const from of versions.keys()) {
            const { head, steps } = (await zones.since(ZONE, from))!;
            const records = [...stepRecords(head, steps!)];
            expect(stepOctets(head, steps!)).toBe(Buffer.concat(records).length);
            const sent = expand(packRecordsInto(request(ZONE, TYPES.IXFR), records), ZONE);
            const client = new Set(packHosts(versions[from]!));
            expect(apply(client, sent, head.serial)).toEqual(
              new Set(splitRecords(whole.content).map((one) => Buffer.from(one).toString('hex'))),
            );
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  it('the largest record that a message has room for is sent alone', () => {
    const head = { name: ZONE, serial: 4, primary: 'ns1.edge.test' };
    const text = (size: number) => [{ name: ZONE, type: TYPES.TXT, ttl: 1, rdata: Buffer.alloc(size) }];
    const pack = (size: number) => [
      ...packRecordsInto(request(ZONE, TYPES.AXFR), wholeRecords(head, packRecords(text(size)))),
    ];
    const { key } = makeKey('k'.repeat(63).concat('.').repeat(3).concat('k'.repeat(61)), 'hmac-sha512');
    const signed = [...signTransfer(pack(65_098), { key, mac: Buffer.alloc(64), clock: () => 1_000 })];
    expect(signed).toHaveLength(3);
    for (const message of signed) expect(message.length).toBeLessThanOrEqual(65_535);
    expect(signed[0]!.length - pack(65_098)[0]!.length).toBeLessThanOrEqual(MAX_TSIG_OCTETS);
    expect(() => pack(65_099 + 11)).toThrow('a record of `shop.example` has');
  });
});

function packHosts(hosts: readonly number[]): readonly string[] {
  const content = packRecords(hosts.map((host) => aRecord(`h${host}.${ZONE}`, `192.0.2.${host}`)));
  return splitRecords(content).map((one) => Buffer.from(one).toString('hex'));
}

/** What a client does (RFC 1995 §4): between SOA records, records are removed and added by turns. */
function apply(client: Set<string>, sent: readonly Buffer[], serial: number): ReadonlySet<string> {
  const serialOf = (octets: Buffer): number | null => {
    const [record] = readRecords(octets);
    return record!.type === TYPES.SOA
      ? Buffer.from(record!.rdata).readUInt32BE(record!.rdata.length - 20)
      : null;
  };
  expect([serialOf(sent[0]!), serialOf(sent.at(-1)!)]).toEqual([serial, serial]);
  let adds = true;
  for (const octets of sent.slice(1, -1)) {
    if (serialOf(octets) !== null) adds = !adds;
    else if (adds) client.add(octets.toString('hex'));
    else expect(client.delete(octets.toString('hex'))).toBe(true);
  }
  return client;
}
