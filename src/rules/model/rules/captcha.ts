/** The form of `captcha` rules, which challenge visitors on matching paths (semantics §5). */
import {
  DEFAULT_CAPTCHA_TTL_SEC,
  MAX_CAPTCHA_TTL_SEC,
  MIN_CAPTCHA_TTL_SEC,
} from '../../../base/vocabulary/limits.ts';
import { pathRule } from '../common.ts';
import { integer } from '../fields.ts';

/** The form of the type. */
export const captchaForm = pathRule({
  type: 'captcha',
  summary: 'Challenge visitors',
  example: { path_includes: ['/login'], ttl_sec: 3600 },
  fields: {
    ttl_sec: integer(MIN_CAPTCHA_TTL_SEC, MAX_CAPTCHA_TTL_SEC)
      .default(DEFAULT_CAPTCHA_TTL_SEC)
      .describe('seconds for which a solved challenge is remembered for the visitor')
      .meta({ examples: [3600] }),
  },
});
