/** The form of `origin_pool` rules, which balance requests over several origins with health checks (semantics §5). */
import { z } from 'zod';
import {
  MAX_EJECT_SEC,
  MAX_HEALTH_INTERVAL_SEC,
  MAX_HEALTH_THRESHOLD,
  MAX_HEALTH_TIMEOUT_SEC,
  MAX_NAME_CHARACTERS,
  MAX_NODE_IDS,
  MAX_POOL_ORIGINS,
  MAX_WEIGHT,
} from '../../../base/vocabulary/limits.ts';
import { LB_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import { hostRule, type RuleOf } from '../common.ts';
import { checked, flag, id, integer, list, text } from '../fields.ts';
import type { Stored } from '../form.ts';
import { ADDRESS_FIELDS, judgeHostHeader, judgeProbePath, ORIGIN_COUNTRY } from '../text-checks.ts';

/** The fields of one origin of a pool. */
export const ORIGIN_FIELDS = {
  ...ADDRESS_FIELDS,
  weight: integer(0, MAX_WEIGHT)
    .default(1)
    .describe('relative share under `round_robin` and `least_load`; 0 takes the origin out')
    .meta({ examples: [3] }),
  node_ids: list(id(), MAX_NODE_IDS)
    .default([])
    .describe('edge nodes that use the origin under `geo`; empty: nodes that no other origin names')
    .meta({ examples: [[1, 2]] }),
  country: ORIGIN_COUNTRY,
};

/** The fields of the health check; intervals and time-outs in seconds. */
export const HEALTH_FIELDS = {
  enabled: flag(false)
    .describe('whether nodes probe the origins')
    .meta({ examples: [true] }),
  path: checked(text(), judgeProbePath)
    .default('/')
    .describe('path of the probe')
    .meta({ examples: ['/healthz'] }),
  interval_sec: integer(1, MAX_HEALTH_INTERVAL_SEC)
    .default(15)
    .describe('seconds between two probes')
    .meta({ examples: [10] }),
  timeout_sec: integer(1, MAX_HEALTH_TIMEOUT_SEC)
    .default(5)
    .describe('seconds until a probe counts as failed')
    .meta({ examples: [2] }),
  unhealthy_threshold: integer(1, MAX_HEALTH_THRESHOLD)
    .default(3)
    .describe('consecutive failures after which an origin is out')
    .meta({ examples: [5] }),
  healthy_threshold: integer(1, MAX_HEALTH_THRESHOLD)
    .default(2)
    .describe('consecutive successes after which it returns')
    .meta({ examples: [1] }),
  eject_sec: integer(0, MAX_EJECT_SEC)
    .default(30)
    .describe('seconds for which an origin that failed requests stays out (passive ejection)')
    .meta({ examples: [60] }),
  host: checked(text(), judgeHostHeader)
    .default('')
    .describe('Host header of the probe; empty: as for requests')
    .meta({ examples: ['health.example.com'] }),
};

/** One origin of a pool. */
export type PoolOrigin = Stored<typeof ORIGIN_FIELDS>;

/** The list of origins: not empty, and at least one with a weight, since a weight of 0 drains an origin. */
const origins = checked(list(z.strictObject(ORIGIN_FIELDS), MAX_POOL_ORIGINS), (all) => {
  if (all.length === 0) return { code: 'too_few', message: 'must have at least 1 entry', found: '0' };
  if (all.some((origin) => origin.weight > 0)) return null;
  const message = 'must have an origin whose `weight` is above 0';
  return { code: 'all_drained', message, found: null, remedy: 'a weight of 0 takes an origin out' };
});

/** The form of the type; it has no path filter. */
export const originPoolForm = hostRule({
  type: 'origin_pool',
  summary: 'Spread traffic over several origins, with health checks',
  example: {
    lb_type: 'round_robin',
    origins: [
      { address: '198.51.100.41', weight: 3 },
      { address: '198.51.100.42', weight: 1 },
    ],
  },
  origins: (own) =>
    own.origins.map(({ address }, index) => ({ path: ['origins', index, 'address'], address })),
  fields: {
    lb_type: z
      .enum(LB_TYPES)
      .default('round_robin')
      .describe(
        '`round_robin`: smooth weighted turns; `least_load`: fewest requests in flight by weight; `geo`: by edge node',
      )
      .meta({ examples: ['least_load'] }),
    origins: origins
      .describe('the origins; at least one with a weight above 0')
      .meta({ examples: [[{ address: '198.51.100.41', weight: 3 }, { address: '198.51.100.42' }]] }),
    health_check: z
      .strictObject(HEALTH_FIELDS)
      .prefault({})
      .describe('active and passive health checks')
      .meta({ examples: [{ enabled: true, path: '/healthz' }] }),
    host_header: checked(text(), judgeHostHeader)
      .default('')
      .describe("Host header and TLS server name that the origins get; empty: the request's own host")
      .meta({ examples: ['shop.internal.example'] }),
    name: text(MAX_NAME_CHARACTERS)
      .default('')
      .describe('label without effect on routing')
      .meta({ examples: ['shop servers'] }),
  },
  nested: { origins: Object.keys(ORIGIN_FIELDS), health_check: Object.keys(HEALTH_FIELDS) },
});

/** A stored rule of the type. */
export type OriginPoolRule = RuleOf<typeof originPoolForm>;
