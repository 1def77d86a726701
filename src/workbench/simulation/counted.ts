/**
 * Rate limits that have counted a simulated request before. In: how often each rule has. Out: counters that judge the request as if
 * the same visitor had sent it so often at that very moment.
 */
import { type Counters, createCounters, type RateWindow } from '../../engine/evaluator/counters.ts';
import { counterPlace } from '../../engine/evaluator/phases/rate-limit.ts';
import { MAX_COUNTED } from './limits.ts';
import type { Typed } from './request-line.ts';

/** Requests counted before by the rule that counted them: `rate_limit/<key or id>`. */
export type Counted = ReadonlyMap<string, number>;

/** Octets of the counters of one request: the least they take is 4 KiB. */
const COUNTER_OCTETS = 64 * 1024;

/** Reads words such as `rate_limit/9=100`; a word that names a rule again replaces the number. */
export function readCounted(words: readonly string[]): Typed<Counted> {
  const counted = new Map<string, number>();
  for (const word of words) {
    const [, ref = '', digits = ''] = /^(rate_limit\/~?[a-z0-9-]+)=(\d{1,9})$/.exec(word) ?? [];
    const form = 'write rate_limit/<id or key>=<requests> such as rate_limit/9=100';
    if (ref === '') return { ok: false, error: `\`${word}\` is not a count of a rate limit; ${form}` };
    const requests = Number(digits);
    if (requests > MAX_COUNTED)
      return { ok: false, error: `\`${word}\` counts too many requests; ${MAX_COUNTED} is the most` };
    counted.set(ref, requests);
  }
  return { ok: true, value: counted };
}

/**
 * Counters that have counted each request before, as often as its rule says; rules that are not listed start at zero.
 * @param domain the domain's name, once the plan is open
 */
export function countersAfter(counted: Counted, domain: () => string): Counters {
  const options = { maxBytes: COUNTER_OCTETS, random: () => 0 };
  const own = createCounters(options);
  let places: ReadonlyMap<string, number> | null = null;
  const after = (...request: Parameters<Counters['hit']>): Counters => {
    places ??= placesOf(counted, domain());
    const before = places.get(placeText(request[0])) ?? 0;
    if (before === 0) return own;
    const counters = createCounters(options);
    for (let count = 0; count < before; count++) counters.hit(...request);
    return counters;
  };
  return {
    hit: (...request) => after(...request).hit(...request),
    peek: (...request) => after(...request).peek(...request),
  };
}

function placeText({ space = 0, slot }: Pick<RateWindow, 'space' | 'slot'>): string {
  return `${space} ${slot}`;
}

/** The numbers by the place where the rule counts, in either mode; digits are an id, or a key that its author wrote so. */
function placesOf(counted: Counted, domain: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [ref, requests] of counted) {
    const name = ref.slice(ref.indexOf('/') + 1);
    const identities = /^\d+$/.test(name) ? [name, Number(name)] : [name];
    for (const identity of identities)
      for (const dryRun of [false, true])
        places.set(placeText(counterPlace(domain, identity, dryRun)), requests);
  }
  return places;
}
