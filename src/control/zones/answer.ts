/**
 * Answers one request of a secondary: SOA, AXFR, IXFR, each only with a signature (RFC 8945). Every known key may read
 * every zone. What goes in are octets, what goes out are the messages of the answer; sockets are `server.ts`'s.
 */
import { MAX_MESSAGE_OCTETS, MAX_TSIG_OCTETS, TRANSFER_MESSAGE_OCTETS } from './limits.ts';
import type { CountedLines } from './log.ts';
import {
  compressOwner,
  datagramOctets,
  FLAGS,
  HEADER_OCTETS,
  type MalformedMessage,
  OPCODES,
  RCODES,
  readMessage,
  responseFlags,
  writeMessage,
  type ZoneMessage,
} from './wire/message.ts';
import { CLASSES, encodeName, encodeRecord, splitRecords, TYPES } from './wire/records.ts';
import {
  signMessage,
  type TsigKey,
  type TsigKeys,
  type TsigVerdict,
  verifyMessage,
  writeTsigError,
} from './wire/tsig.ts';
import { isGreater, soaRecord, type ZoneHead, type ZoneSource, type ZoneStep } from './zone-source.ts';

/** What an answer contains. */
export const ZONE_ANSWER_KINDS = ['soa', 'axfr', 'ixfr', 'error', 'refused'] as const;
export type ZoneAnswerKind = (typeof ZONE_ANSWER_KINDS)[number];

/** The answer to one request. */
export interface ZoneAnswer {
  /** `axfr` is the whole zone, also in answer to IXFR; `refused`: the request has no valid signature. */
  readonly kind: ZoneAnswerKind;
  /** The zone and its version, if the answer has records. */
  readonly head: ZoneHead | null;
  /** Signed as they must be. Each can be read once. */
  readonly messages: Iterable<Buffer>;
}

/** What requests are answered from. */
export interface AnswerOptions {
  readonly source: ZoneSource;
  readonly keys: TsigKeys;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Refusals and faults. */
  readonly lines: CountedLines;
}

/** Where a request came from. */
export interface RequestOrigin {
  readonly transport: 'udp' | 'tcp';
  /** Canonical. */
  readonly address: string;
}

/** A request with a valid signature. */
type SignedRequest = ZoneMessage & { readonly verdict: Extract<TsigVerdict, { readonly kind: 'valid' }> };

/** A request that is answered at once, or one with a valid signature that needs the store; `null`: it gets no answer. */
export type AdmittedRequest =
  | { readonly kind: 'answered'; readonly answer: ZoneAnswer }
  | { readonly kind: 'signed'; readonly request: SignedRequest };

/** Reads a request and checks its signature; nothing of it reaches the store. */
export function admitRequest(
  octets: Buffer,
  origin: RequestOrigin,
  { keys, clock, lines }: AnswerOptions,
): AdmittedRequest | null {
  const request = readMessage(octets);
  // An answer to a response would let two servers answer each other for ever.
  if (request === null || request.isResponse) return null;
  if (request.kind === 'malformed') return refused(errorMessage(request, RCODES.FORMERR));
  if (request.tsig === null) {
    refusal(lines, origin, 'no signature');
    return refused(errorMessage(request, RCODES.REFUSED));
  }
  const time = Math.floor(clock() / 1_000);
  const verdict = verifyMessage(request, request.tsig, { keys, time });
  if (verdict.kind === 'refused') {
    refusal(lines, origin, REASONS[verdict.error]);
    const answer = errorMessage(request, RCODES.NOTAUTH);
    return refused(writeTsigError(answer, verdict, { tsig: request.tsig, time }));
  }
  return { kind: 'signed', request: { ...request, verdict } };
}

/** Answers a request whose signature is valid. Never throws; a fault of the source is SERVFAIL. */
export async function answerRequest(
  request: SignedRequest,
  origin: RequestOrigin,
  options: AnswerOptions,
): Promise<ZoneAnswer> {
  const fault = (error: unknown): UnsignedAnswer => {
    const fields = { zone: request.question.name, err: error };
    options.lines.warn('source', fields, 'a zone cannot be read or sent');
    return failure(request, RCODES.SERVFAIL);
  };
  const answer = await unsignedAnswer(request, origin, options.source).catch(fault);
  const messages = guard(origin.transport === 'udp' ? truncate(answer, request) : answer.messages, fault);
  return { ...answer, messages: signTransfer(messages, { ...request.verdict, clock: options.clock }) };
}

/** An answer whose messages are not signed yet. */
type UnsignedAnswer = ZoneAnswer;

/** Replaces a first message that cannot be built by SERVFAIL. @throws what a later message throws */
function* guard(messages: Iterable<Buffer>, fault: (error: unknown) => UnsignedAnswer): Generator<Buffer> {
  let begun = false;
  try {
    for (const message of messages) {
      begun = true;
      yield message;
    }
  } catch (error) {
    const { messages: failed } = fault(error);
    if (begun) throw error;
    yield* failed;
  }
}

async function unsignedAnswer(
  request: SignedRequest,
  { transport }: RequestOrigin,
  source: ZoneSource,
): Promise<UnsignedAnswer> {
  const { question, serial } = request;
  if (request.opcode !== OPCODES.QUERY) return failure(request, RCODES.NOTIMP);
  if (question.class !== CLASSES.IN || !ANSWERED_TYPES.includes(question.type)) {
    return failure(request, RCODES.REFUSED);
  }
  if (transport === 'udp' && question.type === TYPES.AXFR) return failure(request, RCODES.FORMERR);
  if (question.type === TYPES.IXFR && serial === null) return failure(request, RCODES.FORMERR);
  if (question.name === null) return failure(request, RCODES.NOTAUTH);
  if (question.type === TYPES.AXFR) return wholeAnswer(request, source, question.name);
  if (question.type === TYPES.IXFR && transport === 'tcp') {
    return stepAnswer(request, source, { name: question.name, serial: serial! });
  }
  const head = await source.head(question.name);
  return head === null ? failure(request, RCODES.NOTAUTH) : soaAnswer(request, head);
}

async function wholeAnswer(
  request: SignedRequest,
  source: ZoneSource,
  name: string,
): Promise<UnsignedAnswer> {
  const whole = await source.whole(name);
  if (whole === null) return failure(request, RCODES.NOTAUTH);
  const { head, content } = whole;
  return { kind: 'axfr', head, messages: packRecordsInto(request, wholeRecords(head, content)) };
}

async function stepAnswer(
  request: SignedRequest,
  source: ZoneSource,
  { name, serial }: { readonly name: string; readonly serial: number },
): Promise<UnsignedAnswer> {
  const since = await source.since(name, serial);
  if (since === null) return failure(request, RCODES.NOTAUTH);
  const { head, steps } = since;
  // RFC 1995 §2: the client has the current version, or one that this server has not.
  if (!isGreater(head.serial, serial)) return soaAnswer(request, head);
  const whole = await source.whole(name);
  if (whole === null) return failure(request, RCODES.NOTAUTH);
  if (steps === null || stepOctets(head, steps) > wholeOctets(whole.head, whole.content)) {
    const messages = packRecordsInto(request, wholeRecords(whole.head, whole.content));
    return { kind: 'axfr', head: whole.head, messages };
  }
  return { kind: 'ixfr', head, messages: packRecordsInto(request, stepRecords(head, steps)) };
}

function soaAnswer(request: SignedRequest, head: ZoneHead): UnsignedAnswer {
  return { kind: 'soa', head, messages: packRecordsInto(request, [encodeRecord(soaRecord(head))]) };
}

function failure(request: SignedRequest, rcode: number): UnsignedAnswer {
  return { kind: 'error', head: null, messages: [errorMessage(request, rcode)] };
}

/** RFC 8945 §5.3: an answer that is too large for a datagram becomes one without records, with TC set. */
function* truncate({ messages }: UnsignedAnswer, request: SignedRequest): Generator<Buffer> {
  const limit = datagramOctets(request) - tsigOctets(request);
  for (const message of messages) {
    const flags = responseFlags(request, RCODES.NOERROR, FLAGS.AA | FLAGS.TC);
    yield message.length <= limit ? message : writeMessage({ ...partsOf(request), flags });
  }
}

/** The TSIG record of an answer is as long as that of its request. */
function tsigOctets({ octets, tsig, verdict }: SignedRequest): number {
  return octets.length - tsig!.at + Math.max(0, verdict.key.name.length + 2 - tsig!.key.length);
}

function errorMessage(request: ZoneMessage | MalformedMessage, rcode: number): Buffer {
  const flags = responseFlags(request, rcode);
  return request.kind === 'malformed'
    ? writeMessage({ id: request.id, flags, question: null })
    : writeMessage({ ...partsOf(request), flags });
}

function partsOf({ id, question, payload }: ZoneMessage) {
  return { id, question: question.octets, edns: payload !== null };
}

function refused(message: Buffer): AdmittedRequest {
  return { kind: 'answered', answer: { kind: 'refused', head: null, messages: [message] } };
}

function refusal(lines: CountedLines, { address, transport }: RequestOrigin, reason: string): void {
  lines.warn(address, { reason, transport }, 'refused a request for a zone');
}

const ANSWERED_TYPES: readonly number[] = [TYPES.SOA, TYPES.AXFR, TYPES.IXFR];

const REASONS = {
  [RCODES.BADKEY]: 'the key is not in the keys file',
  [RCODES.BADSIG]: 'the signature is wrong: the secrets of the key differ',
  [RCODES.BADTIME]: 'the clocks differ by more than five minutes',
} as const;

// The messages of zone transfers: the whole zone (AXFR, RFC 5936) or the steps from the client's version (IXFR, RFC 1995).
// Records are packed into few messages; every message has the question and is signed.

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
