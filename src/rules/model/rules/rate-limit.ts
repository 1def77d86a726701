/** The form of `rate_limit` rules, which count requests per key over a sliding window (semantics §5). */
import { z } from 'zod';
import { MAX_RATE_COUNT, MAX_WINDOW_SEC } from '../../../base/vocabulary/limits.ts';
import { BREACH_ACTIONS, RATE_KEYS } from '../../../base/vocabulary/vocabulary.ts';
import { pathRule, type RuleOf } from '../common.ts';
import { integer } from '../fields.ts';

/** The form of the type. */
export const rateLimitForm = pathRule({
  type: 'rate_limit',
  summary: 'Count requests for each address, and refuse or challenge what is above the limit',
  example: { path_includes: ['/api/*'], limit: 100, window_sec: 60, key_by: 'ip' },
  fields: {
    limit: integer(1, MAX_RATE_COUNT)
      .describe('requests allowed per window and key')
      .meta({ examples: [100] }),
    window_sec: integer(1, MAX_WINDOW_SEC)
      .default(60)
      .describe('length of the sliding window in seconds')
      .meta({ examples: [10] }),
    key_by: z
      .enum(RATE_KEYS)
      .default('ip')
      .describe('`ip`: one count per address (IPv6: per /64); `ip_path`: one per address and canonical path')
      .meta({ examples: ['ip_path'] }),
    on_breach: z
      .enum(BREACH_ACTIONS)
      .default('drop')
      .describe('what happens above the limit: `drop` answers 429 with `Retry-After`, `captcha` challenges')
      .meta({ examples: ['captcha'] }),
    burst: integer(0, MAX_RATE_COUNT)
      .default(0)
      .describe('requests tolerated above `limit` in a window')
      .meta({ examples: [20] }),
  },
});

/** A stored rule of the type. */
export type RateLimitRule = RuleOf<typeof rateLimitForm>;
