/** Encodes queries and decodes replies (RFC 1035 §4, RFC 6891) with dns-packet; names become canonical. */
import { decode, encode, type Packet } from 'dns-packet';
import { DnsFault } from './fault.ts';
import { MAX_TTL_SEC, UDP_PAYLOAD_OCTETS } from './limits.ts';

/** Types that a scan for records queries; dns-packet has only the numbers of `HTTPS` and `SVCB` (RFC 9460). */
export const QUERY_TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'MX',
  'TXT',
  'NS',
  'SRV',
  'CAA',
  'TLSA',
  'HTTPS',
  'SVCB',
] as const;
/** Types of a zone that no scan for records asks for. */
const ZONE_TYPES = ['SOA', 'PTR', 'CDS'] as const;
export type QueryType = (typeof QUERY_TYPES)[number] | (typeof ZONE_TYPES)[number];

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

/** Types that dns-packet knows only by number. */
const NUMBERED: Readonly<Record<string, string>> = { UNKNOWN_64: 'SVCB', UNKNOWN_65: 'HTTPS' };

/** The octets of a query message. */
export function encodeQuery({ name, type }: DnsQuestion, { id, recursive, edns }: QueryOptions): Buffer {
  const code = type === 'SVCB' ? 'UNKNOWN_64' : type === 'HTTPS' ? 'UNKNOWN_65' : type;
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
export function isReplyTo(octets: Buffer, query: Buffer): boolean {
  return octets.length >= 12 && octets.readUInt16BE(0) === query.readUInt16BE(0) && (octets[2]! & 0x80) !== 0;
}

/** TC: the answer did not fit the datagram (RFC 1035 §4.1.1). */
export function isTruncated(octets: Buffer): boolean {
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
  const type = NUMBERED[asked.type] ?? asked.type;
  return canonical(asked.name) === question.name && type === question.type;
}

/** An answer as dns-packet decodes it, with canonical names. */
export function readAnswer(answer: { readonly name: string; readonly type: string }): DnsAnswer {
  const { data = null, ttl = 0 } = answer as { readonly data?: unknown; readonly ttl?: number };
  return {
    name: canonical(answer.name),
    type: NUMBERED[answer.type] ?? answer.type,
    ttl: ttl <= MAX_TTL_SEC ? ttl : 0,
    data,
  };
}

/** The canonical form of a name from the wire: lower case, no trailing dot; the root is empty. */
export function canonical(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
