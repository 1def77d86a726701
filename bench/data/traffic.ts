/**
 * Traffic as nodes report it: minutes of customers of very different sizes, with visitors, paths and User-Agents that come
 * back, and twenty rules of which some match.
 */
import type { CountedRequest } from '../../src/engine/counts/counts.ts';
import { sealCounts, sealTops, type TrafficBatchEntry } from '../../src/engine/counts/layout.ts';
import { createRequestCounter } from '../../src/engine/counts/request-counter.ts';
import type { Match } from '../../src/engine/evaluator/decision.ts';
import { COUNTED } from '../../test/support/counted-requests.ts';
import { type Random, seeded } from '../../test/support/generate-random.ts';
import { FORWARDED } from '../../test/support/traffic-requests.ts';
import { address, ja4, plainPath, userAgent, VISITOR_COUNTRIES } from './words.ts';

/** Counts and top lists of one minute of one customer. */
export interface SealedMinute extends Pick<TrafficBatchEntry, 'counts' | 'tops'> {
  readonly requests: number;
}

/** Requests of a minute, by the kind of customer: most are small, few are large. */
const SIZES = [1, 2, 5, 10, 10, 20, 40, 80, 200, 1_000] as const;
/** Minutes of one kind that differ. */
const DIFFERENT = 12;
/** Fingerprints of the visitors of one kind: releases of browsers and tools share theirs. */
const CLIENTS = 40;
/** Rules of each customer, as semantics has them in order: the first match most requests. */
const RULES = 20;
/** Of 1,000 requests, those that a rule matches. */
const MATCHING = 300;

/** Returns the minute of a customer: its visitors and paths are those of its kind, and come back each time. */
export function trafficMinutes(): (customer: number, minute: number) => SealedMinute {
  const kinds = SIZES.map((requests, kind) => {
    const random = seeded(kind + 1);
    const clients = random.times(CLIENTS, () => ja4(random));
    const visitors = random.times(Math.max(1, requests), () => visitorOf(random, clients));
    const paths = random.times(Math.max(3, requests), () => plainPath(random));
    return random.times(DIFFERENT, () => sealedMinute(random, { requests, visitors, paths }));
  });
  return (customer, minute) => kinds[customer % kinds.length]![(minute + customer) % DIFFERENT]!;
}

type Visitor = Pick<CountedRequest, 'ip' | 'userAgent' | 'country' | 'ja4' | 'referrer'>;

function visitorOf(random: Random, clients: readonly string[]): Visitor {
  return {
    ip: address(random),
    userAgent: userAgent(random),
    country: random.pick(VISITOR_COUNTRIES),
    ja4: random.pick(clients),
    referrer: random.chance(0.3) ? `${random.pick(['search', 'news', 'mail'])}.example/` : null,
  };
}

interface Kind {
  readonly requests: number;
  readonly visitors: readonly Visitor[];
  readonly paths: readonly string[];
}

function sealedMinute(random: Random, { requests, visitors, paths }: Kind): SealedMinute {
  const counter = createRequestCounter();
  for (let at = 0; at < requests; at++) {
    const matches = random.int(1_000) < MATCHING ? [matchOf(random)] : [];
    counter.count({
      ...COUNTED,
      ...random.pick(visitors),
      decision: { ...FORWARDED, matches },
      // The square: few paths have most requests.
      path: paths[Math.floor((random.int(1_000) ** 2 / 1e6) * paths.length)]!,
      status: random.pick([200, 200, 200, 200, 304, 301, 404, 503]),
      cache: random.pick(['hit', 'miss', null]),
      octetsOut: random.int(60_000),
      edgeMs: 1 + random.int(80),
      originMs: random.chance(0.5) ? 1 + random.int(400) : null,
    });
  }
  const { counts, tops } = counter.drain()!;
  return { requests, counts: sealCounts(counts), tops: sealTops(tops) };
}

function matchOf(random: Random): Match {
  const id = 1 + Math.floor((random.int(1_000) ** 2 / 1e6) * RULES);
  return { type: 'drop', id, mode: id % 2 === 0 ? 'enforce' : 'dry_run', effect: 'block' };
}
