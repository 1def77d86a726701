/** A DNS server that says what a test tells it to, over UDP and TCP, on loopback. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

export interface ScriptedQuery {
  /** Lower case, without a trailing dot; empty is the root. */
  readonly name: string;
  /** As dns-packet calls it. */
  readonly type: string;
  readonly recursive: boolean;
  readonly edns: boolean;
  readonly transport: 'udp' | 'tcp';
}

export interface ScriptedReply {
  /** Default: 0, NOERROR. */
  readonly rcode?: number;
  /** Default: true. */
  readonly authoritative?: boolean;
  readonly truncated?: boolean;
  readonly answers?: readonly Answer[];
  readonly authorities?: readonly Answer[];
  /** Milliseconds to wait first. */
  readonly delayMs?: number;
  /** Changes the octets before they leave. */
  readonly mangle?: (octets: Buffer) => Buffer;
}

/** `null`: no answer at all. */
export type Script = (query: ScriptedQuery) => ScriptedReply | null;

export interface ScriptedServer {
  readonly address: string;
  readonly port: number;
  /** Every query in the order it came. */
  readonly queries: readonly ScriptedQuery[];
  /** Replaces what the server says. */
  tell(script: Script): void;
  stop(): Promise<void>;
}

export const NXDOMAIN = 3;
export const SERVFAIL = 2;
export const REFUSED = 5;
export const FORMERR = 1;

/** Starts a server on an address of 127.0.0.0/8, on the same port for UDP and TCP; 0 takes any free one. */
export async function startDnsServer(address: string, port: number, script: Script): Promise<ScriptedServer> {
  const queries: ScriptedQuery[] = [];
  const state = { script };
  const respond = (octets: Buffer, transport: 'udp' | 'tcp', send: (reply: Buffer) => void): void => {
    const packet = decode(octets);
    const query = readQuery(packet, transport);
    queries.push(query);
    const reply = state.script(query);
    if (reply === null) return;
    const bytes = encodeReply(packet, reply);
    setTimeout(() => send(reply.mangle?.(bytes) ?? bytes), reply.delayMs ?? 0);
  };
  const { tcp, udp, taken } = await listenBoth(address, port, respond);
  return {
    address,
    port: taken,
    queries,
    tell: (next) => {
      state.script = next;
    },
    async stop() {
      await new Promise<void>((resolve) => udp.close(resolve));
      for (const socket of tcp.sockets) socket.destroy();
      await new Promise<void>((resolve) => tcp.server.close(() => resolve()));
    },
  };
}

/** Listens for both; a free port of TCP may be one that UDP uses. */
async function listenBoth(address: string, port: number, respond: Respond) {
  for (;;) {
    const tcp = await listenTcp(address, port, respond);
    const taken = (tcp.server.address() as { port: number }).port;
    try {
      return { tcp, udp: await listenUdp(address, taken, respond), taken };
    } catch (error) {
      await new Promise<void>((resolve) => tcp.server.close(() => resolve()));
      if (port !== 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

type Respond = (octets: Buffer, transport: 'udp' | 'tcp', send: (reply: Buffer) => void) => void;

function readQuery(packet: Packet, transport: 'udp' | 'tcp'): ScriptedQuery {
  const [question] = packet.questions ?? [];
  if (question === undefined) throw new Error('a query without a question');
  return {
    name: question.name === '.' ? '' : question.name.toLowerCase(),
    type: question.type,
    recursive: ((packet.flags ?? 0) & 0x100) !== 0,
    edns: (packet.additionals ?? []).some(({ type }) => type === 'OPT'),
    transport,
  };
}

function encodeReply({ id, questions }: Packet, reply: ScriptedReply): Buffer {
  const flags =
    (reply.rcode ?? 0) |
    (reply.authoritative === false ? 0 : AUTHORITATIVE_ANSWER) |
    (reply.truncated === true ? TRUNCATED_RESPONSE : 0);
  return encode({
    type: 'response',
    id: id ?? 0,
    flags,
    questions: questions ?? [],
    answers: [...(reply.answers ?? [])],
    authorities: [...(reply.authorities ?? [])],
  });
}

function listenUdp(address: string, port: number, respond: Respond): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  socket.on('message', (octets, from) => {
    respond(octets, 'udp', (reply) => {
      try {
        socket.send(reply, from.port, from.address);
      } catch {
        // The test has stopped the server before a delayed answer was due.
      }
    });
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, () => resolve(socket));
  });
}

async function listenTcp(
  address: string,
  port: number,
  respond: Respond,
): Promise<{ readonly server: Server; readonly sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      respond(received.subarray(2, 2 + received.readUInt16BE(0)), 'tcp', (reply) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        // In two pieces, as the network may deliver it.
        socket.write(length);
        socket.write(reply);
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return { server, sockets };
}

/** A script that answers from a table of `<name> <type>`; what is not there is NXDOMAIN, or NODATA below a known name. */
export function fromTable(table: Readonly<Record<string, readonly Answer[]>>): Script {
  const names = new Set(Object.keys(table).map((key) => key.split(' ')[0]));
  return ({ name, type }) => {
    const answers = table[`${name} ${type}`] ?? table[`${name} CNAME`];
    if (answers !== undefined) return { answers };
    const known = [...names].some((candidate) => candidate === name || candidate!.endsWith(`.${name}`));
    return known || name === '' ? {} : { rcode: NXDOMAIN };
  };
}

export function ns(name: string, ...servers: readonly string[]): readonly Answer[] {
  return servers.map((data) => ({ type: 'NS', name: name === '' ? '.' : name, ttl: 60, data }));
}

export function a(name: string, ...addresses: readonly string[]): readonly Answer[] {
  return addresses.map((data) => ({ type: 'A', name, ttl: 60, data }));
}

export function txt(name: string, ...strings: readonly string[]): readonly Answer[] {
  return [{ type: 'TXT', name, ttl: 60, data: [...strings] }];
}
