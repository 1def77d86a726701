/** Pools of distinct requests: other targets, addresses, countries and clients in each. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { Random } from '../../test/support/generate-random.ts';
import { NOW } from '../harness/evaluate.ts';
import { address, HOSTS, ja4, plainPath, userAgent, VISITOR_COUNTRIES } from './words.ts';

/** Requests of a full pool. */
export const POOL = 2_048;
/** Requests of a smoke run's pool. */
export const QUICK_POOL = 64;
/** Rules of a smoke run's larger sets. */
export const QUICK_RULES = 500;

/**
 * The text as one run of octets, as a server's parser makes it. A string put together from parts stays a tree of them,
 * in which every look at a character takes some steps more.
 */
export function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** What a request is to have; the rest is drawn. */
export interface Wanted {
  readonly path?: string;
  readonly host?: string;
  readonly ip?: string;
  readonly country?: string | null;
  readonly ja4?: string;
}

export function requestOf(random: Random, wanted: Wanted): EdgeRequest {
  const path = wanted.path ?? plainPath(random);
  const query = random.chance(0.25) ? `?page=${random.int(500)}&sort=price` : '';
  const drawn = random.chance(0.05) ? null : random.pick(VISITOR_COUNTRIES);
  return {
    scheme: random.chance(0.9) ? 'https' : 'http',
    method: 'GET',
    host: flat(wanted.host ?? random.pick(HOSTS)),
    target: flat(path + query),
    headers: {
      'user-agent': flat(userAgent(random)),
      accept: 'text/html,*/*;q=0.8',
      'accept-language': 'en',
    },
    ip: flat(wanted.ip ?? address(random)),
    country: wanted.country === undefined ? drawn : wanted.country,
    ja4: flat(wanted.ja4 ?? ja4(random)),
    now: NOW,
  };
}
