/**
 * Queries to one DNS server (RFC 1035 §4, RFC 6891): encoded, sent, and their replies decoded, with names made
 * canonical; and the faults of queries.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { decode, encode, type Packet } from 'dns-packet';
import type { DNS_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';
import { RECORD_NUMBERS, recordKind, ZONE_TYPES, type ZoneType } from '../../base/vocabulary/record-types.ts';
import type { ServerAddress } from './server-address.ts';

/** Maximum TTL, in seconds (RFC 2181 §8). */
export const MAX_TTL_SEC = 2_147_483_647;
/** Milliseconds until an attempt times out; common resolvers wait one to two seconds for a server. */
export const ASK_TIMEOUT_MS = 1_500;
/** Maximum number of datagrams sent to one server per query: one may be lost. */
const UDP_ATTEMPTS = 2;
/** The UDP payload size of EDNS, in octets: the largest that is never fragmented (DNS Flag Day 2020). */
const UDP_PAYLOAD_OCTETS = 1_232;

/** Types that a scan for records queries. */
export const QUERY_TYPES = ZONE_TYPES.filter((type) => recordKind(type).unscanned !== true);
/** The type of a query: also those of a zone that customers do not write. */
export type QueryType = ZoneType | 'SOA' | 'CDS';

/** What a query asks for. */
export interface DnsQuestion {
  /** Canonical, without a trailing dot; empty is the root. */
  readonly name: string;
  readonly type: QueryType;
}

/** One resource record. */
export interface DnsAnswer {
  /** Lower case, without a trailing dot; empty is the root. */
  readonly name: string;
  /** The name dns-packet gives the type, except `HTTPS` and `SVCB`. */
  readonly type: string;
  /** Seconds; 0 if the record has no valid TTL (RFC 2181 §8). */
  readonly ttl: number;
  /** The form in which dns-packet decodes the type. */
  readonly data: unknown;
}

/** A decoded reply. */
export interface Reply {
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL` and so on. */
  readonly rcode: string;
  /** AA: the answer comes from the zone's own server, not from a cache (RFC 1035 §4.1.1). */
  readonly authoritative: boolean;
  readonly answers: readonly DnsAnswer[];
  readonly authorities: readonly DnsAnswer[];
}

/** The header fields of a query. */
export interface QueryOptions {
  /** 16 random bits (RFC 5452 §4.3). */
  readonly id: number;
  /** RD, recursion desired. */
  readonly recursive: boolean;
  /** Adds an OPT record (RFC 6891). */
  readonly edns: boolean;
}

/** Types that dns-packet knows only by number, by its names and by ours. */
const NUMBERED: ReadonlyMap<string, string> = new Map(
  ZONE_TYPES.filter((type) => recordKind(type).numbered === true).flatMap((type) => {
    const theirs = `UNKNOWN_${RECORD_NUMBERS[type]}`;
    return [
      [theirs, type],
      [type, theirs],
    ] as const;
  }),
);

/** The octets of a query message. */
export function encodeQuery({ name, type }: DnsQuestion, { id, recursive, edns }: QueryOptions): Buffer {
  const code = NUMBERED.get(type) ?? type;
  const packet: Packet = {
    type: 'query',
    id,
    flags: recursive ? RECURSION_DESIRED : 0,
    questions: [{ name: name === '' ? '.' : name, type: code as 'A', class: 'IN' }],
  };
  if (edns) packet.additionals = [{ ...OPT }];
  return encode(packet);
}

/** The RD bit of the header's flags (RFC 1035 §4.1.1). */
const RECURSION_DESIRED = 1 << 8;
/** The OPT record of EDNS version 0, without options (RFC 6891 §6.1). */
const OPT = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: UDP_PAYLOAD_OCTETS,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
} as const satisfies Record<string, unknown> as unknown as NonNullable<Packet['additionals']>[number];

/** Whether octets are a reply with the id of the query; others are ignored, as forged or late. */
function isReplyTo(octets: Buffer, query: Buffer): boolean {
  return octets.length >= 12 && octets.readUInt16BE(0) === query.readUInt16BE(0) && (octets[2]! & 0x80) !== 0;
}

/** TC: the answer did not fit the datagram (RFC 1035 §4.1.1). */
function isTruncated(octets: Buffer): boolean {
  return (octets[2]! & 0x02) !== 0;
}

/** Decodes a reply. @throws DnsFault `malformed` when the octets are no message, or it repeats another question */
export function decodeReply(octets: Buffer, question: DnsQuestion): Reply {
  let packet: ReturnType<typeof decode>;
  try {
    packet = decode(octets);
  } catch (cause) {
    throw new DnsFault('malformed', 'the server sent octets that are no DNS answer', cause);
  }
  const [asked] = packet.questions ?? [];
  const { rcode } = packet as unknown as { readonly rcode: string };
  // Refusing servers may omit the question (RFC 1035 leaves it open); an answer without it cannot be trusted.
  if (asked === undefined ? rcode === 'NOERROR' : !sameQuestion(asked, question)) {
    throw new DnsFault('malformed', 'the server answered a question that was not asked');
  }
  return {
    rcode,
    authoritative: packet.flag_aa,
    answers: (packet.answers ?? []).map(readAnswer),
    authorities: (packet.authorities ?? []).map(readAnswer),
  };
}

/** Whether the question section repeats the query; names are compared without case. */
function sameQuestion(
  asked: { readonly name: string; readonly type: string },
  question: DnsQuestion,
): boolean {
  const type = NUMBERED.get(asked.type) ?? asked.type;
  return canonical(asked.name) === question.name && type === question.type;
}

/** An answer as dns-packet decodes it, with canonical names. */
export function readAnswer(answer: { readonly name: string; readonly type: string }): DnsAnswer {
  const { data = null, ttl = 0 } = answer as { readonly data?: unknown; readonly ttl?: number };
  return {
    name: canonical(answer.name),
    type: NUMBERED.get(answer.type) ?? answer.type,
    ttl: ttl <= MAX_TTL_SEC ? ttl : 0,
    data,
  };
}

/** The canonical form of a name from the wire: lower case, no trailing dot; the root is empty. */
export function canonical(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

// Failures of DNS queries. A fault is never an answer: callers must not treat it as "no such record".

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type DnsFaultCode = keyof typeof DNS_FAULT_CODES;

/** Thrown for every failed query, with the error below it as its `cause`. */
export class DnsFault extends Error {
  readonly code: DnsFaultCode;

  constructor(code: DnsFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DnsFault';
    this.code = code;
  }
}

// Sends one query to one server: by UDP, repeated when the datagram is lost, and by TCP when the answer is truncated
// (RFC 1035 §4.2, RFC 7766). Every datagram has its own source port and random id and leaves from a connected socket, so
// that an attacker off the path cannot forge the reply (RFC 5452).

/** How a query is sent. */
export interface QueryServerOptions {
  /** Sets RD (recursion desired): a resolver resolves the name; without it a server answers from its own zones. */
  readonly recursive: boolean;
  /** Milliseconds for one attempt. Default: `ASK_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Queries one server. A reply of any rcode is returned. @throws DnsFault `timeout`, `network`, `malformed`, `cancelled` */
export async function queryServer(
  server: ServerAddress,
  question: DnsQuestion,
  options: QueryServerOptions,
): Promise<Reply> {
  const reply = await queryWith(server, question, { ...options, edns: true });
  // Servers from before RFC 6891 refuse a query that has an OPT record.
  const old = reply.rcode === 'FORMERR' || reply.rcode === 'NOTIMP';
  return old ? queryWith(server, question, { ...options, edns: false }) : reply;
}

/** Attempts one query up to `UDP_ATTEMPTS` times; only a time-out is worth another attempt. */
async function queryWith(
  server: ServerAddress,
  question: DnsQuestion,
  options: QueryServerOptions & { readonly edns: boolean },
): Promise<Reply> {
  let fault: unknown = null;
  for (let attempt = 0; attempt < UDP_ATTEMPTS; attempt++) {
    const query = encodeQuery(question, { ...options, id: randomInt(65_536) });
    try {
      const octets = await overUdp(server, query, options);
      return decodeReply(isTruncated(octets) ? await overTcp(server, query, options) : octets, question);
    } catch (error) {
      fault = error;
      if (!(error instanceof DnsFault) || error.code !== 'timeout') throw error;
    }
  }
  throw fault;
}

/** Ends an exchange, with a fault or with the reply's octets; later calls have no effect. */
type Settle = (error: DnsFault | null, octets?: Buffer) => void;

/** Runs `start` until it settles, times out or is aborted, then runs the clean-up that `start` returned. */
function exchange(
  server: ServerAddress,
  { timeoutMs = ASK_TIMEOUT_MS, signal }: QueryServerOptions,
  start: (settle: Settle) => () => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let over = false;
    const settle: Settle = (error, octets) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      stop();
      if (error === null) resolve(octets!);
      else reject(error);
    };
    const cancel = (): void =>
      settle(new DnsFault('cancelled', 'the question was cancelled', signal?.reason));
    const timer = setTimeout(() => {
      settle(new DnsFault('timeout', `no answer from \`${server.address}\` within ${timeoutMs} ms`));
    }, timeoutMs);
    const stop = start(settle);
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
  });
}

/** The fault of a socket error. */
function networkFault(server: ServerAddress, cause: unknown): DnsFault {
  return new DnsFault('network', `\`${server.address}\` cannot be reached`, cause);
}

/** One datagram each way. A reply that does not match the query is ignored, as forged or late. */
function overUdp(server: ServerAddress, query: Buffer, options: QueryServerOptions): Promise<Buffer> {
  return exchange(server, options, (settle) => {
    const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', (cause) => settle(networkFault(server, cause)));
    socket.on('message', (octets) => {
      if (isReplyTo(octets, query)) settle(null, octets);
    });
    socket.connect(server.port, server.address, (cause?: Error) => {
      if (cause !== undefined) settle(networkFault(server, cause));
      else socket.send(query, (failure) => failure && settle(networkFault(server, failure)));
    });
    return () => socket.close();
  });
}

/** One query over a connection of its own; each message has a length of two octets before it (RFC 1035 §4.2.2). */
function overTcp(server: ServerAddress, query: Buffer, options: QueryServerOptions): Promise<Buffer> {
  return exchange(server, options, (settle) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    let received = Buffer.alloc(0);
    const socket = connect({ host: server.address, port: server.port });
    socket.on('connect', () => socket.write(Buffer.concat([length, query])));
    socket.on('error', (cause) => settle(networkFault(server, cause)));
    socket.on('close', () =>
      settle(networkFault(server, new Error('closed before the whole answer was sent'))),
    );
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const octets = received.subarray(2, 2 + received.readUInt16BE(0));
      if (isReplyTo(octets, query)) settle(null, octets);
      else settle(new DnsFault('malformed', `\`${server.address}\` answered another question`));
    });
    return () => socket.destroy();
  });
}
