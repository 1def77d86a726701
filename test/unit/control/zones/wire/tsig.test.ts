import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  RCODES,
  readMessage,
  writeMessage,
  writeQuestion,
  type ZoneMessage,
} from '../../../../../src/control/zones/wire/message.ts';
import { TYPES } from '../../../../../src/control/zones/wire/records.ts';
import {
  signMessage,
  type TsigKey,
  verifyMessage,
  writeTsigError,
} from '../../../../../src/control/zones/wire/tsig.ts';
import { makeKey } from '../../../../support/zone-memory.ts';

const TIME = 1_700_000_000;
const KEY = makeKey('a.example').key;
const KEYS = new Map([[KEY.name, KEY]]);
const QUERY = writeMessage({ id: 0x1234, flags: 0, question: writeQuestion('shop.example', TYPES.SOA) });

function read(octets: Buffer): ZoneMessage {
  const message = readMessage(octets);
  if (message?.kind !== 'message') throw new Error('malformed');
  return message;
}

const verdictOf = (octets: Buffer, time = TIME, keys: ReadonlyMap<string, TsigKey> = KEYS) => {
  const message = read(octets);
  return verifyMessage(message, message.tsig!, { keys, time });
};

describe('TSIG', () => {
  it('has the octets that BIND writes', () => {
    // `dig -y hmac-sha256:k.example:<secret> +noedns +norec +noad shop.example SOA` of BIND 9.18 sent it.
    const sent = Buffer.from(
      '2093000000010000000000010473686f70076578616d706c650000060001016b076578616d706c650000fa00ff00000000003d' +
        '0b686d61632d7368613235360000006b074301012c00209a31f01f756c0584107983acd48d18cfc5f85d500db4898b4cbdd2aa9f' +
        '6606f4209300000000',
      'hex',
    );
    const secret = createSecretKey(Buffer.from('0123456789abcdef0123456789abcdef'));
    const key: TsigKey = { name: 'k.example', algorithm: 'hmac-sha256', secret };
    const message = writeMessage({
      id: 0x2093,
      flags: 0,
      question: writeQuestion('shop.example', TYPES.SOA),
    });
    expect(signMessage(message, key, { time: 1_795_638_017 }).octets.toString('hex')).toBe(
      sent.toString('hex'),
    );
    expect(verdictOf(sent, 1_795_638_017, new Map([[key.name, key]])).kind).toBe('valid');
  });

  it.each(['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const)(
    'a signature of %s is valid',
    (algorithm) => {
      const { key } = makeKey('b.example', algorithm);
      const signed = signMessage(QUERY, key, { time: TIME });
      const keys = new Map([[key.name, key]]);
      expect(verdictOf(signed.octets, TIME, keys)).toEqual({ kind: 'valid', key, mac: signed.mac });
      expect(verdictOf(signed.octets).kind).toBe('refused');
    },
  );

  it('a changed octet makes the message malformed or its signature wrong', () => {
    const { octets } = signMessage(QUERY, KEY, { time: TIME });
    fc.assert(
      fc.property(fc.nat(octets.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(octets);
        changed[at] = changed[at]! ^ flip;
        const message = readMessage(changed);
        if (message?.kind !== 'message' || message.tsig === null) return;
        const verdict = verifyMessage(message, message.tsig, { keys: KEYS, time: TIME });
        // The id is not signed (RFC 8945 §4.3.1: the original id is), nor is the case of names of key and algorithm.
        const signed = at > 1 && !(flip === 0x20 && at >= QUERY.length);
        if (signed) expect(verdict.kind).toBe('refused');
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [300, 'valid'],
    [-300, 'valid'],
    [301, 'refused'],
    [-301, 'refused'],
  ] as const)('a clock that is %i seconds off is %s', (offset, kind) => {
    const { octets } = signMessage(QUERY, KEY, { time: TIME + offset });
    expect(verdictOf(octets).kind).toBe(kind);
  });

  it.each([0, 10, 16, 31])('a MAC truncated to %i octets is refused', (length) => {
    const message = read(signMessage(QUERY, KEY, { time: TIME }).octets);
    const tsig = { ...message.tsig!, mac: message.tsig!.mac.subarray(0, length) };
    expect(verifyMessage(message, tsig, { keys: KEYS, time: TIME })).toEqual({
      kind: 'refused',
      error: RCODES.BADSIG,
    });
  });

  it('a key of the same name with another algorithm is no known key', () => {
    const { key } = makeKey(KEY.name, 'hmac-sha512');
    const { octets } = signMessage(QUERY, key, { time: TIME });
    expect(verdictOf(octets)).toEqual({ kind: 'refused', error: RCODES.BADKEY });
  });

  it('a wrong key is answered without a MAC, a wrong time with one', () => {
    const answer = writeMessage({ id: 1, flags: 0x8009, question: null });
    const old = signMessage(QUERY, KEY, { time: TIME - 86_400 });
    const tsig = read(old.octets).tsig!;
    const bad = writeTsigError(answer, { kind: 'refused', error: RCODES.BADKEY }, { tsig, time: TIME });
    // Without a question, so it is not read as a message: the fields are at its end.
    expect(bad.subarray(-10)).toEqual(Buffer.from([1, 44, 0, 0, 0, 1, 0, RCODES.BADKEY, 0, 0]));
    const verdict = verdictOf(old.octets);
    if (verdict.kind !== 'refused') throw new Error('the time is accepted');
    const late = writeTsigError(answer, verdict, { tsig, time: TIME });
    expect(late.subarray(-10)).toEqual(Buffer.from([0, RCODES.BADTIME, 0, 6, 0, 0, ...u32(TIME)]));
    expect(late.length).toBe(bad.length + 32 + 6);
  });
});

function u32(value: number): readonly number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}
