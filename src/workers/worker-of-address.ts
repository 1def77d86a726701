/**
 * Which worker meets an address: always the same, so that what is counted by address is counted in one place. IPv6 goes
 * by its first 64 bits, as rate limits do (semantics §5): the rest is the visitor's to choose.
 */
import { parseIp } from '../base/ip.ts';
import { xxhash32 } from '../base/xxhash32.ts';
import { plainAddress } from '../proxy/visitor.ts';

export interface WorkerRoute {
  /** The worker for a connection's peer, 0 up to the number of workers. */
  of(address: string | undefined): number;
}

export interface WorkerRouteOptions {
  readonly workers: number;
  /** Any number; secret, so that nobody can choose addresses that all meet one worker. */
  readonly seed: number;
  /** Peers that speak for many visitors, whose connections are dealt out in turn. */
  readonly isProxy: (address: string) => boolean;
}

export function createWorkerRoute({ workers, seed, isProxy }: WorkerRouteOptions): WorkerRoute {
  const words = new Uint32Array(4);
  const bytes = new Uint8Array(words.buffer, 0, 8);
  let turn = 0;
  return {
    of(peer) {
      const address = plainAddress(peer);
      if (address === null || isProxy(address)) {
        turn = (turn + 1) % workers;
        return turn;
      }
      words.fill(0);
      // A zone (`fe80::1%eth0`) is the machine's name of a link and no part of the address.
      const zone = address.indexOf('%');
      parseIp(zone < 0 ? address : address.slice(0, zone), words);
      return xxhash32(bytes, seed) % workers;
    },
  };
}
