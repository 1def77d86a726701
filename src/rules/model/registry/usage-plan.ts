/** The form of usage plans: what consumers with one plan may ask for (semantics §15). */
import { z } from 'zod';
import {
  MAX_CONCURRENCY,
  MAX_QUOTA_REQUESTS,
  MAX_THROTTLE_COUNT,
  MAX_WINDOW_SEC,
} from '../../../base/vocabulary/limits.ts';
import { QUOTA_PERIODS } from '../../../base/vocabulary/vocabulary.ts';
import { integer } from '../fields.ts';
import { form, type Stored } from '../form.ts';
import { ANSWERED, registryName } from './names.ts';

/** The fields of a throttle: of a usage plan, and of an operation of a gateway. */
export const THROTTLE_FIELDS = {
  rate: integer(1, MAX_THROTTLE_COUNT)
    .describe('requests of one consumer in `per_sec` seconds')
    .meta({ examples: [50] }),
  per_sec: integer(1, MAX_WINDOW_SEC)
    .default(1)
    .describe('seconds in which `rate` requests are accepted')
    .meta({ examples: [60] }),
  burst: integer(0, MAX_THROTTLE_COUNT)
    .default(0)
    .describe('requests beyond `rate` that are accepted at once')
    .meta({ examples: [100] }),
};

const QUOTA = {
  limit: integer(1, MAX_QUOTA_REQUESTS)
    .describe('requests of one consumer in a period, over all gateways of the domain and all edges')
    .meta({ examples: [1_000_000] }),
  period: z
    .enum(QUOTA_PERIODS)
    .describe(
      '`day`, `week` and `month` begin at midnight UTC, weeks on Monday; `rolling_30d`: the last 30 days',
    )
    .meta({ examples: ['month'] }),
};

/** The fields of a usage plan, by their names in the API. */
export const USAGE_PLAN_FIELDS = {
  name: registryName()
    .describe('name by which consumers and gateways refer to the plan')
    .meta({ examples: ['gold'] }),
  throttle: z
    .strictObject(THROTTLE_FIELDS)
    .nullable()
    .default(null)
    .describe('how many requests a consumer may send; a further one is answered 429; null: any number')
    .meta({ examples: [{ rate: 50, per_sec: 1, burst: 100 }] }),
  quota: z
    .strictObject(QUOTA)
    .nullable()
    .default(null)
    .describe(
      'how many requests a consumer may send in a period; later ones are answered 429; null: any number',
    )
    .meta({ examples: [{ limit: 1_000_000, period: 'month' }] }),
  concurrency: integer(1, MAX_CONCURRENCY)
    .nullable()
    .default(null)
    .describe(
      'how many requests of a consumer may be in flight at the same time at one process of an edge; a further one is answered 429; null: any number',
    )
    .meta({ examples: [10] }),
};

/** A usage plan as it is stored. */
export type UsagePlan = Stored<typeof USAGE_PLAN_FIELDS>;

/** The form of a usage plan. */
export const usagePlanForm = form({
  fields: USAGE_PLAN_FIELDS,
  ignored: ANSWERED,
  nested: { throttle: Object.keys(THROTTLE_FIELDS), quota: Object.keys(QUOTA) },
  finish: (values): UsagePlan => values,
});
