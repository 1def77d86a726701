import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeName } from '../../../../src/control/zones/wire/records.ts';
import { isGreater, nextSerial, soaRecord } from '../../../../src/control/zones/zone-source.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-25T12:00:00Z');
const serial = fc.integer({ min: 0, max: 0xffff_ffff });

describe('serials', () => {
  it('rise with every version, whatever the last one is and the clock says', () => {
    const clock = fc.integer({ min: 0, max: 2 ** 43 });
    fc.assert(fc.property(serial, clock, (last, now) => isGreater(nextSerial(last, now), last)));
  });

  it('are the time in seconds at first, and one more where the clock was set back by a day', () => {
    const first = nextSerial(null, NOW);
    expect(first).toBe(NOW / 1_000);
    expect(nextSerial(first, NOW - DAY_MS)).toBe(first + 1);
    expect(nextSerial(first, NOW + 5_000)).toBe(first + 5);
  });

  it('go on after the largest number (RFC 1982)', () => {
    expect(nextSerial(0xffff_ffff, 0xffff_ffff * 1_000)).toBe(0);
    expect(isGreater(0, 0xffff_ffff)).toBe(true);
    expect(isGreater(0xffff_ffff, 0)).toBe(false);
  });

  it('of which one is greater have no circle of two', () => {
    fc.assert(fc.property(serial, serial, (a, b) => !(isGreater(a, b) && isGreater(b, a))));
  });
});

describe('the SOA record', () => {
  it('names the first nameserver and a mailbox, also where the name leaves no room for its label', () => {
    const longest = [63, 63, 63, 61].map((length) => 'a'.repeat(length)).join('.');
    for (const [name, mailbox] of [
      ['shop.test', 'hostmaster.shop.test'],
      [longest, longest],
    ] as const) {
      const { rdata } = soaRecord({ name, serial: 7, primary: 'ns1.edge.test' });
      const server = decodeName(rdata, 0)!;
      expect(server.name).toBe('ns1.edge.test');
      const found = decodeName(rdata, server.end)!;
      expect(found.name).toBe(mailbox);
      expect(Buffer.from(rdata).readUInt32BE(found.end)).toBe(7);
    }
  });
});
