/** DNS messages as this room reads them: dns-packet does the octets (RFC 1035 §4, RFC 6891), names become canonical. */
import { decode, encode, type Packet } from 'dns-packet';
import { DnsFault } from './fault.ts';
import { UDP_PAYLOAD_OCTETS } from './limits.ts';

/** Types that are asked for; `HTTPS` and `SVCB` are known to dns-packet by their numbers alone. */
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
export type QueryType = (typeof QUERY_TYPES)[number];

export interface DnsQuestion {
  /** Canonical, without a trailing dot; empty is the root. */
  readonly name: string;
  readonly type: QueryType;
}

/** One resource record. */
export interface DnsAnswer {
  /** Lower case, without a trailing dot; empty is the root. */
  readonly name: string;
  /** As dns-packet calls it, `HTTPS` and `SVCB` apart. */
  readonly type: string;
  /** As dns-packet reads it for the type. */
  readonly data: unknown;
}

export interface Reply {
  /** `NOERROR`, `NXDOMAIN`, `SERVFAIL` and so on. */
  readonly rcode: string;
  /** The server speaks for the zone; a cache does not. */
  readonly authoritative: boolean;
  readonly answers: readonly DnsAnswer[];
  readonly authorities: readonly DnsAnswer[];
}

export interface QueryOptions {
  readonly id: number;
  readonly recursive: boolean;
  readonly edns: boolean;
}

const NUMBERED: Readonly<Record<string, string>> = { UNKNOWN_64: 'SVCB', UNKNOWN_65: 'HTTPS' };

/** The octets of a query. */
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

const RECURSION_DESIRED = 1 << 8;
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

/** Whether octets are the answer to this very query; what is not is left aside, as forged or late. */
export function isReplyTo(octets: Buffer, query: Buffer): boolean {
  return octets.length >= 12 && octets.readUInt16BE(0) === query.readUInt16BE(0) && (octets[2]! & 0x80) !== 0;
}

/** The server had more to say than a datagram holds (RFC 1035 §4.1.1, TC). */
export function isTruncated(octets: Buffer): boolean {
  return (octets[2]! & 0x02) !== 0;
}

/** Reads an answer. Throws `malformed` when it cannot be read, or repeats another question. */
export function decodeReply(octets: Buffer, question: DnsQuestion): Reply {
  let packet: ReturnType<typeof decode>;
  try {
    packet = decode(octets);
  } catch (cause) {
    throw new DnsFault('malformed', 'the server sent octets that are no DNS answer', cause);
  }
  const [asked] = packet.questions ?? [];
  const { rcode } = packet as unknown as { readonly rcode: string };
  // Servers that refuse may leave the question out (RFC 1035 does not say); an answer without it is worth nothing.
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

function sameQuestion(
  asked: { readonly name: string; readonly type: string },
  question: DnsQuestion,
): boolean {
  const type = NUMBERED[asked.type] ?? asked.type;
  return canonical(asked.name) === question.name && type === question.type;
}

function readAnswer(answer: { readonly name: string; readonly type: string }): DnsAnswer {
  const { data = null } = answer as { readonly data?: unknown };
  return { name: canonical(answer.name), type: NUMBERED[answer.type] ?? answer.type, data };
}

/** A name from the wire: lower case, no trailing dot, the root empty. */
export function canonical(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
