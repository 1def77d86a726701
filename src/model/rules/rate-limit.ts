/** Counts requests per key over a sliding window. */
import { z } from 'zod';
import { MAX_RATE_COUNT, MAX_WINDOW_SEC } from '../../base/limits.ts';
import { BREACH_ACTIONS, RATE_KEYS } from '../../base/vocabulary.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  PATH_CHECKS,
  PATH_FIELDS,
  type StoredRule,
} from '../common.ts';
import { integer } from '../fields.ts';
import { form } from '../form.ts';
import type { RateLimitRule } from '../types.ts';

export const rateLimitForm = {
  type: 'rate_limit',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      ...PATH_FIELDS,
      limit: integer(1, MAX_RATE_COUNT),
      window_sec: integer(1, MAX_WINDOW_SEC).default(60),
      key_by: z.enum(RATE_KEYS).default('ip'),
      on_breach: z.enum(BREACH_ACTIONS).default('drop'),
      burst: integer(0, MAX_RATE_COUNT).default(0),
    },
    ignored: COMMON_IGNORED,
    checks: PATH_CHECKS,
    finish: (values): StoredRule<RateLimitRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      limit: values.limit,
      window_sec: values.window_sec,
      key_by: values.key_by,
      on_breach: values.on_breach,
      burst: values.burst,
    }),
  }),
} as const;
