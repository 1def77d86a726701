/** Signs messages and verifies signatures with secret keys: TSIG (RFC 8945), HMAC with SHA-2. */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { FUDGE_SEC } from '../limits.ts';
import { RCODES, type TsigRecord, type ZoneMessage } from './message.ts';
import { CLASSES, encodeName, TYPES } from './records.ts';

/** Algorithms (RFC 8945 §6), with the names that `node:crypto` has for their hashes. */
export const TSIG_ALGORITHMS = {
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
} as const;
export type TsigAlgorithm = keyof typeof TSIG_ALGORITHMS;

/** A key that two servers share. */
export interface TsigKey {
  /** Canonical, without a trailing dot. */
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: KeyObject;
}

/** Keys by name. */
export type TsigKeys = ReadonlyMap<string, TsigKey>;

/** What a TSIG record can be refused for (RFC 8945 §5.2). */
export type TsigError = typeof RCODES.BADKEY | typeof RCODES.BADSIG | typeof RCODES.BADTIME;

/** Whether the signature of a message is that of a known key; the MAC is a part of what the next message signs. */
export type TsigVerdict =
  | { readonly kind: 'valid'; readonly key: TsigKey; readonly mac: Buffer }
  | { readonly kind: 'refused'; readonly error: Exclude<TsigError, 18> }
  | {
      readonly kind: 'refused';
      readonly error: typeof RCODES.BADTIME;
      readonly key: TsigKey;
      readonly mac: Buffer;
    };

/** How a message is signed. */
export interface SignOptions {
  /** Seconds since the epoch. */
  readonly time: number;
  /** The MAC of the request, or of the message before in a transfer. Absent: the message is a request. */
  readonly prior?: Buffer;
  /** The message is the second or a later one of a transfer (RFC 8945 §5.3.1). */
  readonly later?: boolean;
  readonly error?: number;
  readonly other?: Buffer;
}

/** A signed message and its MAC. */
export interface SignedMessage {
  readonly octets: Buffer;
  readonly mac: Buffer;
}

/** Appends a TSIG record to a message that has none. */
export function signMessage(message: Buffer, key: TsigKey, options: SignOptions): SignedMessage {
  const fields: TsigFields = {
    key: Buffer.from(encodeName(key.name)),
    algorithm: Buffer.from(encodeName(key.algorithm)),
    time: options.time,
    fudge: FUDGE_SEC,
    error: options.error ?? RCODES.NOERROR,
    other: options.other ?? EMPTY,
  };
  const mac = macOf(key, message, { ...options, fields });
  return { octets: appendTsig(message, fields, mac), mac };
}

/** What a signature is verified with. */
export interface VerifyOptions {
  readonly keys: TsigKeys;
  /** Seconds since the epoch. */
  readonly time: number;
  /** As `SignOptions` has it. */
  readonly prior?: Buffer;
  readonly later?: boolean;
}

/**
 * Checks key, MAC and time, in this order (RFC 8945 §5.2). A truncated MAC is refused as a wrong one: every key of this
 * server has peers that send whole MACs.
 */
export function verifyMessage(
  { octets }: Pick<ZoneMessage, 'octets'>,
  tsig: TsigRecord,
  { keys, time, prior, later = false }: VerifyOptions,
): TsigVerdict {
  const key = findKey(keys, tsig);
  if (key === null) return { kind: 'refused', error: RCODES.BADKEY };
  const unsigned = Buffer.from(octets.subarray(0, tsig.at));
  unsigned.writeUInt16BE(tsig.originalId, 0);
  unsigned.writeUInt16BE(octets.readUInt16BE(10) - 1, 10);
  const mac = macOf(key, unsigned, { fields: tsig, later, ...(prior === undefined ? {} : { prior }) });
  if (tsig.mac.length !== mac.length || !timingSafeEqual(tsig.mac, mac)) {
    return { kind: 'refused', error: RCODES.BADSIG };
  }
  // A peer cannot widen the window in which a recorded request can be sent again.
  return Math.abs(time - tsig.time) > Math.min(tsig.fudge, FUDGE_SEC)
    ? { kind: 'refused', error: RCODES.BADTIME, key, mac }
    : { kind: 'valid', key, mac };
}

/**
 * The answer to a request whose signature is refused (RFC 8945 §5.3.2): signed only if the time alone is wrong, with the
 * time of the request, and this server's as other data.
 * @param answer its RCODE is NOTAUTH
 */
export function writeTsigError(
  answer: Buffer,
  verdict: Extract<TsigVerdict, { readonly kind: 'refused' }>,
  { tsig, time }: { readonly tsig: TsigRecord; readonly time: number },
): Buffer {
  if (verdict.error !== RCODES.BADTIME) {
    const { key, algorithm } = tsig;
    const fields = { key, algorithm, time, fudge: FUDGE_SEC, error: verdict.error, other: EMPTY };
    return appendTsig(answer, fields, EMPTY);
  }
  const other = Buffer.alloc(6);
  other.writeUIntBE(time, 0, 6);
  const options = { time: tsig.time, prior: verdict.mac, error: verdict.error, other };
  return signMessage(answer, verdict.key, options).octets;
}

/** The key of a record, `null` if no key has that name and algorithm. */
function findKey(keys: TsigKeys, { key, algorithm }: TsigRecord): TsigKey | null {
  for (const one of keys.values()) {
    if (key.equals(encodeName(one.name)) && algorithm.equals(encodeName(one.algorithm))) return one;
  }
  return null;
}

const EMPTY = Buffer.alloc(0);

/** The fields of a record that are signed. */
type TsigFields = Pick<TsigRecord, 'key' | 'algorithm' | 'time' | 'fudge' | 'error' | 'other'>;

interface MacInput {
  readonly fields: TsigFields;
  readonly prior?: Buffer;
  readonly later?: boolean;
}

/** RFC 8945 §4.3; of a later message of a transfer, §5.3.1. */
function macOf(key: TsigKey, message: Buffer, { fields, prior, later = false }: MacInput): Buffer {
  const hmac = createHmac(TSIG_ALGORITHMS[key.algorithm], key.secret);
  if (prior !== undefined) hmac.update(shortOctets(prior.length)).update(prior);
  hmac.update(message);
  const timers = Buffer.alloc(8);
  timers.writeUIntBE(fields.time, 0, 6);
  timers.writeUInt16BE(fields.fudge, 6);
  if (later) return hmac.update(timers).digest();
  hmac.update(fields.key).update(CLASS_AND_TTL).update(fields.algorithm).update(timers);
  hmac.update(shortOctets(fields.error)).update(shortOctets(fields.other.length)).update(fields.other);
  return hmac.digest();
}

function appendTsig(message: Buffer, fields: TsigFields, mac: Buffer): Buffer {
  const timers = Buffer.alloc(8);
  timers.writeUIntBE(fields.time, 0, 6);
  timers.writeUInt16BE(fields.fudge, 6);
  const data = Buffer.concat([
    fields.algorithm,
    timers,
    shortOctets(mac.length),
    mac,
    // The original id.
    message.subarray(0, 2),
    shortOctets(fields.error),
    shortOctets(fields.other.length),
    fields.other,
  ]);
  const head = [fields.key, shortOctets(TYPES.TSIG), CLASS_AND_TTL, shortOctets(data.length)];
  const signed = Buffer.concat([message, ...head, data]);
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return signed;
}

const CLASS_AND_TTL = Buffer.from([0, CLASSES.ANY, 0, 0, 0, 0]);

function shortOctets(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}
