/**
 * Ports for servers that must know theirs before they start. They are below the range from which the kernel takes the
 * ports of other sockets (`ip_local_port_range` of Linux: 32768 to 60999), so that no connection and no server on port 0
 * takes one in the time until it is used.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const FIRST = 10_240;
const END = 32_768;
/** Picks before giving up. */
const ATTEMPTS = 200;

/** A port on which nobody listens now. */
export function freePort(address = '127.0.0.1'): Promise<number> {
  return freePorts(1, address);
}

/** The first of `count` adjacent ports on which nobody listens now, over TCP and UDP. */
export async function freePorts(count: number, address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = randomInt(FIRST, END - count);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(ports.map((port) => isFree(port, address)));
    if (free.every((one) => one)) return first;
  }
  throw new Error(`no ${count} adjacent ports of ${address} between ${FIRST} and ${END} are free`);
}

async function isFree(port: number, address: string): Promise<boolean> {
  const server = createServer();
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const overTcp = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, address, () => resolve(true));
  });
  const overUdp = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false)).bind(port, address, () => resolve(true));
  });
  if (overTcp) await new Promise((resolve) => server.close(resolve));
  if (overUdp) await new Promise<void>((resolve) => socket.close(resolve));
  return overTcp && overUdp;
}
