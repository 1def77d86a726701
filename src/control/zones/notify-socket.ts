/**
 * One connected UDP socket to a secondary: the kernel then drops datagrams of other senders (RFC 5452), and reports a port
 * that is closed. Opened at the first datagram and after an error of the network.
 */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { ServerAddress } from '../dns/server-address.ts';
import { NOTIFY_CONCURRENCY } from './limits.ts';

/** A socket to one secondary. */
export interface NotifySocket {
  /** Sends, or loses the datagram. */
  send(octets: Buffer): void;
  /** Closes the socket; the next datagram opens one with another port. */
  close(): void;
  /** Why datagrams were lost last, if the system reported it. */
  readonly lastError: string | null;
}

/** @param onMessage called with each datagram from the secondary */
export function createNotifySocket(
  { address, port }: ServerAddress,
  onMessage: (octets: Buffer) => void,
): NotifySocket {
  let socket: Socket | null = null;
  let connected = false;
  let lastError: string | null = null;
  /** Datagrams until the socket is connected. */
  let backlog: Buffer[] = [];

  function close(): void {
    socket?.close();
    socket = null;
    connected = false;
    backlog = [];
  }

  function fail(error: NodeJS.ErrnoException, failed: Socket): void {
    if (failed !== socket) return;
    lastError = error.code ?? error.message;
    // A closed port is the secondary's; after anything else, address or route may have changed.
    if (lastError !== 'ECONNREFUSED') close();
  }

  function open(): void {
    const opened = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    socket = opened;
    opened.on('error', (error) => fail(error, opened));
    opened.on('message', (octets) => {
      lastError = null;
      onMessage(octets);
    });
    opened.on('connect', () => {
      if (opened !== socket) return;
      connected = true;
      for (const octets of backlog.splice(0)) transmit(octets, opened);
    });
    opened.connect(port, address);
  }

  function transmit(octets: Buffer, to: Socket): void {
    if (to !== socket) return;
    to.send(octets, (error) => {
      if (error !== null) fail(error, to);
    });
  }

  return {
    send(octets) {
      if (socket === null) open();
      if (connected) transmit(octets, socket!);
      else if (backlog.length < NOTIFY_CONCURRENCY) backlog.push(octets);
    },
    close,
    get lastError() {
      return lastError;
    },
  };
}
