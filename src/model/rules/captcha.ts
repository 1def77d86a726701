/** Challenges visitors on matching paths. */
import { DEFAULT_CAPTCHA_TTL_SEC, MAX_CAPTCHA_TTL_SEC, MIN_CAPTCHA_TTL_SEC } from '../../base/limits.ts';
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
import type { CaptchaRule } from '../types.ts';

export const captchaForm = {
  type: 'captcha',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      ...PATH_FIELDS,
      ttl_sec: integer(MIN_CAPTCHA_TTL_SEC, MAX_CAPTCHA_TTL_SEC).default(DEFAULT_CAPTCHA_TTL_SEC),
    },
    ignored: COMMON_IGNORED,
    checks: PATH_CHECKS,
    finish: (values): StoredRule<CaptchaRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      ttl_sec: values.ttl_sec,
    }),
  }),
} as const;
