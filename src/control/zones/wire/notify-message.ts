/** NOTIFY messages (RFC 1996) and what their responses mean. */
import { PLAIN_DATAGRAM_OCTETS } from '../limits.ts';
import { soaRecord, type ZoneHead } from '../zone-source.ts';
import {
  compressOwner,
  FLAGS,
  OPCODES,
  RCODES,
  readMessage,
  writeMessage,
  writeQuestion,
  type ZoneMessage,
} from './message.ts';
import { encodeName, encodeRecord, TYPES } from './records.ts';
import { type SignedMessage, signMessage, type TsigKey, verifyMessage } from './tsig.ts';

/** How a NOTIFY message is written. */
export interface NotifyOptions {
  /** 16 random bits. */
  readonly id: number;
  readonly key: TsigKey;
  /** Seconds since the epoch. */
  readonly time: number;
}

/**
 * A signed NOTIFY with the SOA record of the version, which is a hint (RFC 1996 §3.7) and left out where names are so long
 * that the datagram would exceed 512 octets.
 */
export function writeNotify(head: ZoneHead, { id, key, time }: NotifyOptions): SignedMessage {
  const flags = (OPCODES.NOTIFY << 11) | FLAGS.AA;
  const question = writeQuestion(head.name, TYPES.SOA);
  const soa = compressOwner(encodeRecord(soaRecord(head)), encodeName(head.name));
  const signed = signMessage(writeMessage({ id, flags, question, answers: [soa] }), key, { time });
  if (signed.octets.length <= PLAIN_DATAGRAM_OCTETS) return signed;
  return signMessage(writeMessage({ id, flags, question }), key, { time });
}

/** What a datagram means for the NOTIFY with its id; `ignored`: it is no answer, or it is forged. */
export type NotifyOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'ignored' };

/** The NOTIFY that a datagram may answer. */
export interface SentNotify {
  readonly name: string;
  readonly mac: Buffer;
  readonly key: TsigKey;
}

/** The id of a datagram that may answer a NOTIFY, `null` for any other. */
export function notifyResponseId(octets: Buffer): number | null {
  const message = readMessage(octets);
  return message?.isResponse === true && message.opcode === OPCODES.NOTIFY ? message.id : null;
}

/**
 * Judges a response. One without a signature counts: some servers send none, and one that is forged costs no more than a
 * lost datagram, after which the secondary asks within its refresh time.
 * @param time seconds since the epoch
 */
export function judgeNotifyResponse(octets: Buffer, sent: SentNotify, time: number): NotifyOutcome {
  const message = readMessage(octets);
  if (message === null) return { kind: 'ignored' };
  if (message.kind === 'malformed') {
    return message.rcode === RCODES.NOERROR ? { kind: 'ignored' } : refusal(message.rcode);
  }
  if (message.question.name !== sent.name || message.question.type !== TYPES.SOA) return { kind: 'ignored' };
  return message.tsig === null ? outcomeOf(message.rcode) : judgeSigned(message, sent, time);
}

function judgeSigned(message: ZoneMessage, { key, mac }: SentNotify, time: number): NotifyOutcome {
  const tsig = message.tsig!;
  // RFC 8945 §5.3.2: where key or MAC are the error, the response has no MAC.
  if (tsig.mac.length === 0) return tsig.error === 0 ? { kind: 'ignored' } : refusal(tsig.error);
  const verdict = verifyMessage(message, tsig, { keys: new Map([[key.name, key]]), time, prior: mac });
  if (verdict.kind === 'refused') {
    return verdict.error === RCODES.BADTIME ? refusal(verdict.error) : { kind: 'ignored' };
  }
  return outcomeOf(tsig.error === 0 ? message.rcode : tsig.error);
}

function outcomeOf(code: number): NotifyOutcome {
  return code === RCODES.NOERROR ? { kind: 'accepted' } : refusal(code);
}

function refusal(code: number): NotifyOutcome {
  const name = Object.entries(RCODES).find(([, value]) => value === code)?.[0];
  return { kind: 'refused', reason: name ?? `RCODE ${code}` };
}
