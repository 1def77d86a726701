/** Makes a request of a point, for the evaluator to confirm and for people to try. */
import { encodeCapture } from '../../../base/octets/octets.ts';
import type { EdgeRequest } from '../../../engine/evaluator/request.ts';
import { acceptsLetters } from './automaton.ts';
import { AXES, type Axis } from './axis.ts';
import type { Point } from './cover.ts';
import { spell } from './search.ts';
import type { Space } from './space.ts';

/** A request that proves a claim. */
export interface Witness {
  readonly method: string;
  readonly url: string;
  readonly ip: string | null;
  readonly country: string | null;
  readonly bot: { readonly kind: string; readonly verified: boolean } | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  /** Challenges that the visitor has solved. */
  readonly cleared: readonly string[];
  /** The status of the response, if the claim is about error pages. */
  readonly status: number | null;
}

/** The request of a point. `method`: of requests to paths of ACME tokens, which rules pass only for GET and HEAD. */
export function witnessOf({ atoms, path }: Point, space: Space, acme: 'GET' | 'POST'): Witness {
  const { axes } = space;
  const atom = (axis: Axis): number => atoms[AXES.indexOf(axis)]!;
  const target = encodeCapture(spell(path, space.letters));
  return {
    method: acceptsLetters(space.acme, path) ? acme : 'GET',
    url: `https://${axes.host.sample(atom('host'))}${target}`,
    ip: axes.ip.sample(atom('ip')),
    country: axes.country.sample(atom('country')),
    bot: axes.bot.sample(atom('bot')),
    ja4: axes.ja4.sample(atom('ja4')),
    ja4h: axes.ja4h.sample(atom('ja4h')),
    cleared: [],
    status: axes.status.sample(atom('status')),
  };
}

/** The host of a witness. */
export function hostOfWitness({ url }: Witness): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}

/** The request that the evaluator takes. `now`: milliseconds. */
export function requestOf(witness: Witness, now: number): EdgeRequest {
  const { method, url, ip, country, bot, ja4, ja4h, cleared } = witness;
  const start = url.indexOf('://') + 3;
  return {
    scheme: url.slice(0, start - 3),
    method,
    host: hostOfWitness(witness),
    target: url.slice(url.indexOf('/', start)),
    headers: {},
    bot,
    now,
    cleared,
    ...(ip === null ? {} : { ip }),
    ...(country === null ? {} : { country }),
    ...(ja4 === null ? {} : { ja4 }),
    ...(ja4h === null ? {} : { ja4h }),
  };
}
