/** The schemas of answers about traffic: hits of rules, counts by step, top lists. */
import { z } from 'zod';
import { ACTION_MODES, RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { DIMENSIONS, TOP_KINDS } from '../../engine/counts/counts.ts';
import { MAX_DIVISION_VALUES, MAX_REMOVED_RULES, MAX_RULE_CHANGES } from './limits.ts';
import { TRAFFIC_STEPS } from './retention.ts';

/** An RFC 3339 time in UTC. */
const time = z.iso.datetime();
/** A number of requests, octets or visitors. */
const count = z.int().min(0);

/** Fields of the period of an answer. */
const ENDS = {
  from: time.describe('start of the first step, inclusive').meta({ examples: ['2026-11-20T09:00:00.000Z'] }),
  to: time.describe('end of the last step, exclusive').meta({ examples: ['2026-11-21T09:00:00.000Z'] }),
} as const;
const STEP = z
  .enum(TRAFFIC_STEPS)
  .describe('the unit of the counts; days begin at midnight UTC')
  .meta({ examples: ['hour'] });

/** Requests by effect. */
const effects = z.record(z.string(), count);
const byEffect = z
  .object({ enforce: effects, dry_run: effects })
  .describe(
    'hits by the mode that the rule had and by effect; a dry_run effect is what the rule would have done; `unknown`: reported by an earlier release',
  )
  .meta({ examples: [{ enforce: { block: 1204 }, dry_run: {} }] });
const hits = count.describe('requests that the rule matched, under dry_run too').meta({ examples: [1204] });
const lastAt = time
  .nullable()
  .describe('the last hit; `null`: none in this period')
  .meta({ examples: ['2026-11-21T08:59:12.345Z'] });
const ruleType = z
  .enum(RULE_TYPES)
  .describe('the type of the rule')
  .meta({ examples: ['drop'] });
const ruleId = z
  .int()
  .describe('the id of the rule')
  .meta({ examples: [57] });

/** A change that a dry_run rule would have made. */
const CHANGE = z
  .object({
    from: z
      .string()
      .describe('the decision')
      .meta({ examples: ['forward'] }),
    to: z
      .string()
      .describe('the decision had the rule been enforced')
      .meta({ examples: ['block 403'] }),
    instead: z
      .string()
      .nullable()
      .describe('`<type>/<id>` of the rule that settled the decision and would not have; `null`: none')
      .meta({ examples: ['redirect/7'] }),
    requests: count.describe('how many requests').meta({ examples: [12] }),
  })
  .meta({ id: 'ShadowChange' });

/** A rule with its hits. */
const RULE = z
  .object({
    type: ruleType,
    id: ruleId,
    about: z
      .string()
      .describe('its first filters, so that people recognise it; empty: it has none')
      .meta({ examples: ['/admin/* · 3 addresses'] }),
    enabled: z
      .boolean()
      .describe('whether it is enabled now')
      .meta({ examples: [true] }),
    action_mode: z
      .enum(ACTION_MODES)
      .describe('its mode now')
      .meta({ examples: ['enforce'] }),
    priority: z
      .int()
      .describe('its priority now')
      .meta({ examples: [100] }),
    hits,
    by_effect: byEffect,
    last_at: lastAt,
    would_change: count
      .describe('requests whose decision the rule would have changed while it was under dry_run')
      .meta({ examples: [1204] }),
    changes: z
      .array(CHANGE)
      .describe(`those by change, the most requests first, at most ${MAX_RULE_CHANGES}`),
    series: z
      .array(z.object({ at: time.describe('start of the step'), hits: count.describe('hits in it') }))
      .optional()
      .describe('steps with hits, in order; only where the request has `step`'),
  })
  .meta({ id: 'RuleHits' });

/** The answer of `GET …/rules/hits/`. */
export const HITS = z
  .object({
    ...ENDS,
    step: STEP,
    rules: z
      .array(RULE)
      .describe(
        'all rules of the domain in evaluation order: by phase, priority, id; unused ones with zeros',
      ),
    removed: z
      .array(z.object({ type: ruleType, id: ruleId, hits, by_effect: byEffect, last_at: lastAt }))
      .describe(
        `rules with hits that do not exist any more, the most hits first, at most ${MAX_REMOVED_RULES}`,
      ),
    uncounted: z
      .object({
        hits: count
          .describe('hits beyond the rules that are counted apart in a minute')
          .meta({ examples: [0] }),
        changes: count
          .describe('changes beyond those that are counted apart in a minute')
          .meta({ examples: [0] }),
      })
      .describe('what no rule above includes'),
  })
  .meta({ id: 'Hits' });

const quantile = z.number().nullable();
/** Quantiles of times. */
const QUANTILES = z
  .object({
    p50: quantile.describe('half of them took at most so long').meta({ examples: [12.4] }),
    p90: quantile.describe('90 % took at most so long').meta({ examples: [48.1] }),
    p95: quantile.describe('95 % took at most so long').meta({ examples: [80.2] }),
    p99: quantile.describe('99 % took at most so long').meta({ examples: [221.7] }),
  })
  .meta({ id: 'Quantiles' });

/** Fields that totals and points have in common. */
const COUNTS = {
  requests: count.describe('requests').meta({ examples: [120431] }),
  octets_in: count.describe('octets of request bodies').meta({ examples: [1048576] }),
  octets_out: count.describe('octets of response bodies').meta({ examples: [48211003] }),
  origin_requests: count.describe('requests that went to an origin').meta({ examples: [20344] }),
  origin_errors: count
    .describe('those that an origin did not answer, or answered with 500 or above')
    .meta({ examples: [12] }),
  cache_hit_ratio: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe(
      '(hit + stale + revalidated + shared) ÷ (those + miss); requests that the cache does not take are neither; `null`: there was none',
    )
    .meta({ examples: [0.8314] }),
  visitors: count
    .describe('different pairs of client address and User-Agent, an estimate, see `precision`')
    .meta({ examples: [8120] }),
  edge_ms: QUANTILES.describe('milliseconds to the first octet of the response'),
  origin_ms: QUANTILES.describe("milliseconds to the first octet of an origin's response"),
} as const;
const byValue = z.record(z.string(), count);

/** The answer of `GET …/analytics/`. */
export const TRAFFIC = z
  .object({
    ...ENDS,
    step: STEP,
    by: z
      .enum(DIMENSIONS)
      .nullable()
      .describe('what `values` divides requests by')
      .meta({ examples: ['action'] }),
    precision: z
      .object({
        visitors: z
          .number()
          .describe('standard error of visitors, relative')
          .meta({ examples: [0.01625] }),
        milliseconds: z
          .number()
          .describe('largest error of a quantile, relative')
          .meta({ examples: [0.05] }),
      })
      .describe('the errors of estimated numbers; all others are exact'),
    totals: z
      .object({
        ...COUNTS,
        gateway_requests: count.describe('requests through gateways').meta({ examples: [0] }),
        actions: byValue
          .describe('requests by action of their decision; `none`: no rule set was evaluated')
          .meta({ examples: [{ forward: 118020, block: 2411 }] }),
        statuses: byValue.describe('requests by status').meta({ examples: [{ '200': 110020, '403': 2411 }] }),
        cache: byValue
          .describe('requests by result of the cache; `none`: they did not reach it')
          .meta({ examples: [{ hit: 81003, miss: 16422 }] }),
      })
      .describe('the whole period; quantiles and visitors are of the period, not sums of points'),
    points: z
      .array(
        z.object({
          at: time.describe('start of the step').meta({ examples: ['2026-11-20T09:00:00.000Z'] }),
          ...COUNTS,
        }),
      )
      .describe('every step in order, those without traffic too'),
    values: z
      .array(
        z.object({
          value: z
            .string()
            .nullable()
            .describe('the value; `null`: all that are not listed')
            .meta({ examples: ['forward'] }),
          requests: count.describe('requests with it').meta({ examples: [118020] }),
          points: z
            .array(count)
            .describe('those by step, in the order of `points`')
            .meta({ examples: [[51200, 66820]] }),
        }),
      )
      .optional()
      .describe(
        `the ${MAX_DIVISION_VALUES} values with the most requests, then all others as one; only where the request has \`by\``,
      ),
  })
  .meta({ id: 'Traffic' });

/** The answer of `GET …/analytics/top/`. */
export const TOP = z
  .object({
    ...ENDS,
    of: z
      .enum(TOP_KINDS)
      .describe('what the values are')
      .meta({ examples: ['path'] }),
    total: count.describe('requests that had a value').meta({ examples: [120431] }),
    unlisted_at_most: count
      .describe('a value outside of the summary, which has about 1,000, has at most this many requests')
      .meta({ examples: [18] }),
    values: z
      .array(
        z.object({
          value: z
            .string()
            .describe('the value')
            .meta({ examples: ['/index.html'] }),
          requests: count
            .describe('at most this many requests had it; exact where `at_least` is the same')
            .meta({ examples: [30422] }),
          at_least: count.describe('at least this many had it').meta({ examples: [30422] }),
        }),
      )
      .describe('the most requests first'),
  })
  .meta({ id: 'TopList' });
