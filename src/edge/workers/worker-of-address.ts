/**
 * Chooses the worker for a client address by a keyed hash, always the same one, so that rate limits count an address in
 * one process. IPv6 addresses are taken by their first 64 bits, as in rate limits (semantics §5): a visitor chooses the rest.
 */
import { parseIp } from '../../base/addresses/ip.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { plainAddress } from '../proxy/visitor.ts';

/** The choice of a worker. */
export interface WorkerRoute {
  /** Index of the worker for a connection's peer, from 0. */
  of(address: string | undefined): number;
}

export interface WorkerRouteOptions {
  readonly workers: number;
  /** Key of the hash, 32 bits; secret, so that an attacker cannot choose addresses of one worker. */
  readonly seed: number;
  /** Proxies that many visitors come through; their connections go to the workers in turn. */
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
      parseIp(address, words);
      return xxhash32(bytes, seed) % workers;
    },
  };
}
