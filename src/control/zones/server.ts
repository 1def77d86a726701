/**
 * The hidden primary: answers secondaries over UDP and TCP on one address (semantics §9). In go a source of zones, keys and
 * secondaries; requests without the signature of a key are refused.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { canonicalAddress } from '../../base/addresses/special-addresses.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import {
  type AnswerOptions,
  admitRequest,
  answerRequest,
  type RequestOrigin,
  type ZoneAnswer,
} from './answer.ts';
import { serveConnection } from './connection.ts';
import {
  CONNECTIONS_PER_OTHER,
  CONNECTIONS_PER_SECONDARY,
  MAX_REQUEST_OCTETS,
  MAX_UDP_QUERIES,
  OTHER_CONNECTIONS,
  PORT_ATTEMPTS,
} from './limits.ts';
import { createCountedLines, type ZoneLog } from './log.ts';
import type { Secondary } from './settings.ts';
import type { TsigKeys } from './wire/tsig.ts';
import type { ZoneSource } from './zone-source.ts';

/** What a server of zones is created with. */
export interface ZoneServerOptions {
  readonly source: ZoneSource;
  readonly keys: TsigKeys;
  /** Their addresses have places that strangers cannot take. */
  readonly secondaries: readonly Secondary[];
  /** Port 0: any that is free for UDP and TCP. */
  readonly listen: ServerAddress;
  readonly log: ZoneLog;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with each answer, for metrics. */
  readonly onAnswer?: (answer: Pick<ZoneAnswer, 'kind' | 'head'>, origin: RequestOrigin) => void;
}

/** A server of zones. */
export interface ZoneServer {
  /** Listens. @throws Error the address is in use, or none of this machine */
  start(): Promise<ServerAddress>;
  /** Closes all connections; resolves when no answer is under way. */
  stop(): Promise<void>;
}

/** Creates a server; it does not listen yet. */
export function createZoneServer(options: ZoneServerOptions): ZoneServer {
  const { source, keys, clock, log } = options;
  const lines = createCountedLines(log, clock);
  const service: Service = {
    options,
    answering: { source, keys, clock, lines },
    running: new Set(),
    sockets: new Set(),
    datagrams: 0,
  };
  let listener: Listener | null = null;
  return {
    async start() {
      listener = await listen(service);
      return listener.address;
    },
    async stop() {
      if (listener !== null) await close(listener, service.sockets);
      await Promise.all(service.running);
      lines.flush();
      listener = null;
    },
  };
}

interface Service {
  readonly options: ZoneServerOptions;
  readonly answering: AnswerOptions;
  /** Connections and datagrams that are being served. */
  readonly running: Set<Promise<void>>;
  readonly sockets: Set<Socket>;
  /** Datagrams that are being served. */
  datagrams: number;
}

interface Listener {
  readonly address: ServerAddress;
  readonly tcp: Server;
  readonly udp: UdpSocket;
}

function track({ running }: Service, work: Promise<void>): void {
  running.add(work);
  void work.finally(() => running.delete(work));
}

function report({ options }: Service, answer: ZoneAnswer, origin: RequestOrigin): void {
  options.onAnswer?.(answer, origin);
}

function acceptFor(service: Service): (socket: Socket) => void {
  const { options, answering, sockets } = service;
  const known = options.secondaries.map(({ server }) => addressText(server.address));
  const places = createConnectionPlaces(new Set(known));
  return (socket) => {
    const address = addressText(socket.remoteAddress ?? '');
    if (!places.enter(address)) {
      socket.destroy();
      answering.lines.warn(address, { transport: 'tcp' }, 'closed a connection: too many are open');
      return;
    }
    sockets.add(socket);
    const origin: RequestOrigin = { transport: 'tcp', address };
    const served = serveConnection(socket, {
      admit: (octets) => admitRequest(octets, origin, answering),
      answer: (request) => answerRequest(request, origin, answering),
      onAnswered(answer, octets) {
        report(service, answer, origin);
        if (answer.kind !== 'axfr' && answer.kind !== 'ixfr') return;
        const { name, serial } = answer.head!;
        options.log.info({ zone: name, serial, address, kind: answer.kind, octets }, 'sent a zone');
      },
      onFault: (error) => answering.lines.warn(address, { err: error }, 'a connection failed'),
    });
    track(
      service,
      served.then(() => {
        sockets.delete(socket);
        places.leave(address);
      }),
    );
  };
}

function serveDatagram(
  service: Service,
  udp: UdpSocket,
  { octets, from }: { readonly octets: Buffer; readonly from: RemoteInfo },
): void {
  if (octets.length > MAX_REQUEST_OCTETS) return;
  const { answering } = service;
  const origin: RequestOrigin = { transport: 'udp', address: addressText(from.address) };
  const send = (answer: ZoneAnswer): void => {
    const [message] = answer.messages;
    // The socket is closed while an answer is under way when the server stops.
    if (message === undefined || !isOpen(udp)) return;
    // A datagram that cannot be sent is lost like any other: the secondary repeats its query.
    udp.send(message, from.port, from.address, () => undefined);
    report(service, answer, origin);
  };
  const admitted = admitRequest(octets, origin, answering);
  if (admitted === null) return;
  if (admitted.kind === 'answered') {
    send(admitted.answer);
    return;
  }
  if (service.datagrams >= MAX_UDP_QUERIES) return;
  service.datagrams++;
  const served = answerRequest(admitted.request, origin, answering).then(send);
  track(
    service,
    served.finally(() => service.datagrams--),
  );
}

function isOpen(udp: UdpSocket): boolean {
  try {
    udp.address();
    return true;
  } catch {
    return false;
  }
}

/** One text for each address; those with a scope, which have no canonical text, as they are. */
function addressText(address: string): string {
  return canonicalAddress(address) ?? address;
}

async function listen(service: Service): Promise<Listener> {
  const { address, port } = service.options.listen;
  const { lines } = service.answering;
  const accept = acceptFor(service);
  for (let attempt = 1; ; attempt++) {
    const tcp = createServer({ allowHalfOpen: true }, accept);
    tcp.listen(port, address);
    await once(tcp, 'listening');
    const found = (tcp.address() as AddressInfo).port;
    const udp = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    udp.on('message', (octets, from) => serveDatagram(service, udp, { octets, from }));
    try {
      udp.bind(found, address);
      await once(udp, 'listening');
    } catch (error) {
      udp.close();
      tcp.close();
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (port !== 0 || !taken || attempt === PORT_ATTEMPTS) throw error;
      continue;
    }
    udp.on('error', (error) => lines.warn('udp', { err: error }, 'UDP of the zones fails'));
    tcp.on('error', (error) => lines.warn('tcp', { err: error }, 'TCP of the zones fails'));
    return { address: { address, port: found }, tcp, udp };
  }
}

async function close({ tcp, udp }: Listener, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = Promise.all([once(tcp, 'close'), once(udp, 'close')]);
  tcp.close();
  udp.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}

// Counts TCP connections by address, so that strangers cannot take the places of secondaries: each secondary has places of
// its own, all other addresses share a few.

/** The places of one listener. */
export interface ConnectionPlaces {
  /** Takes a place; `false`: no place is free for that address. */
  enter(address: string): boolean;
  /** Gives the place back; once for each `enter` that returned true. */
  leave(address: string): void;
}

/** @param secondaries canonical addresses */
export function createConnectionPlaces(secondaries: ReadonlySet<string>): ConnectionPlaces {
  const open = new Map<string, number>();
  let others = 0;
  return {
    enter(address) {
      const count = open.get(address) ?? 0;
      const known = secondaries.has(address);
      if (count >= (known ? CONNECTIONS_PER_SECONDARY : CONNECTIONS_PER_OTHER)) return false;
      if (!known && others >= OTHER_CONNECTIONS) return false;
      open.set(address, count + 1);
      if (!known) others++;
      return true;
    },
    leave(address) {
      const count = open.get(address)! - 1;
      if (count === 0) open.delete(address);
      else open.set(address, count);
      if (!secondaries.has(address)) others--;
    },
  };
}
