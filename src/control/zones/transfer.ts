/**
 * The messages of zone transfers: the whole zone (AXFR, RFC 5936) or the steps from the client's version (IXFR, RFC 1995).
 * Records are packed into few messages; every message has the question and is signed.
 */
import { MAX_MESSAGE_OCTETS, MAX_TSIG_OCTETS, TRANSFER_MESSAGE_OCTETS } from './limits.ts';
import { soaRecord } from './soa.ts';
import {
  compressOwner,
  FLAGS,
  HEADER_OCTETS,
  RCODES,
  responseFlags,
  writeMessage,
  type ZoneMessage,
} from './wire/message.ts';
import { encodeName } from './wire/name.ts';
import { encodeRecord, splitRecords } from './wire/records.ts';
import { signMessage, type TsigKey } from './wire/tsig.ts';
import type { ZoneHead, ZoneStep } from './zone-source.ts';

/** The records of a whole zone: its SOA record, all others, the SOA record again (RFC 5936 §2.2). */
export function* wholeRecords(head: ZoneHead, content: Uint8Array): Generator<Uint8Array> {
  const soa = encodeRecord(soaRecord(head));
  yield soa;
  yield* splitRecords(content);
  yield soa;
}

/**
 * The records of steps (RFC 1995 §4): the current SOA; for each step the old SOA, what is removed, the new SOA, what is
 * added; the current SOA again.
 */
export function* stepRecords(head: ZoneHead, steps: readonly ZoneStep[]): Generator<Uint8Array> {
  const soa = (serial: number): Uint8Array => encodeRecord(soaRecord({ ...head, serial }));
  yield soa(head.serial);
  for (const { from, to, removed, added } of steps) {
    yield soa(from);
    yield* splitRecords(removed);
    yield soa(to);
    yield* splitRecords(added);
  }
  yield soa(head.serial);
}

/** Octets of the records of steps, without compression. */
export function stepOctets(head: ZoneHead, steps: readonly ZoneStep[]): number {
  const soa = encodeRecord(soaRecord(head)).length;
  return steps.reduce((sum, { removed, added }) => sum + removed.length + added.length + 2 * soa, 2 * soa);
}

/** Octets of the records of a whole zone, without compression. */
export function wholeOctets(head: ZoneHead, content: Uint8Array): number {
  return content.length + 2 * encodeRecord(soaRecord(head)).length;
}

/** Packs records into responses without signatures. @throws Error a record fits no message */
export function* packRecordsInto(request: ZoneMessage, records: Iterable<Uint8Array>): Generator<Buffer> {
  const question = request.question.octets;
  const zone = encodeName(request.question.name ?? '');
  const flags = responseFlags(request, RCODES.NOERROR, FLAGS.AA);
  const empty = HEADER_OCTETS + question.length;
  let edns = request.payload !== null;
  let answers: Uint8Array[] = [];
  let octets = empty;
  const write = (): Buffer => writeMessage({ id: request.id, flags, question, answers, edns });
  for (const one of records) {
    const record = compressOwner(one, zone);
    if (empty + OPT_OCTETS + record.length + MAX_TSIG_OCTETS > MAX_MESSAGE_OCTETS) {
      throw new Error(`a record of \`${request.question.name}\` has ${record.length} octets`);
    }
    if (answers.length > 0 && octets + record.length > TRANSFER_MESSAGE_OCTETS) {
      yield write();
      // RFC 5936 §2.2.5: the first message has the OPT record.
      edns = false;
      answers = [];
      octets = empty;
    }
    answers.push(record);
    octets += record.length;
  }
  if (answers.length > 0) yield write();
}

const OPT_OCTETS = 11;

/** What the messages of one transfer are signed with. */
export interface SignTransferOptions {
  readonly key: TsigKey;
  /** The MAC of the request. */
  readonly mac: Buffer;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Signs each message with the MAC of the one before (RFC 8945 §5.3.1). */
export function* signTransfer(
  messages: Iterable<Buffer>,
  { key, mac, clock }: SignTransferOptions,
): Generator<Buffer> {
  let prior = mac;
  let later = false;
  for (const message of messages) {
    const signed = signMessage(message, key, { time: Math.floor(clock() / 1_000), prior, later });
    yield signed.octets;
    prior = signed.mac;
    later = true;
  }
}
