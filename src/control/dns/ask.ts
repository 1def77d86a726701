/**
 * Sends one query to one server: by UDP, repeated when the datagram is lost, and by TCP when the answer is truncated
 * (RFC 1035 §4.2, RFC 7766). Every datagram has its own source port and random id and leaves from a connected socket, so
 * that an attacker off the path cannot forge the reply (RFC 5452).
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { DnsFault } from './fault.ts';
import { ASK_TIMEOUT_MS, UDP_ATTEMPTS } from './limits.ts';
import { type DnsQuestion, decodeReply, encodeQuery, isReplyTo, isTruncated, type Reply } from './message.ts';
import type { ServerAddress } from './server-address.ts';

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
