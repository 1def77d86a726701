/** Runs a core rule set of attack signatures. */
import { MAX_BODY_CAP_KB, MAX_PARANOIA, MAX_WAF_THRESHOLD } from '../../base/limits.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  PATH_CHECKS,
  PATH_FIELDS,
  type Stored,
} from '../common.ts';
import { integer, textList } from '../fields.ts';
import { form } from '../form.ts';
import type { WafRule } from '../types.ts';

export const wafForm = {
  type: 'waf',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      ...PATH_FIELDS,
      paranoia: integer(1, MAX_PARANOIA).default(1),
      threshold: integer(1, MAX_WAF_THRESHOLD).default(5),
      body_cap_kb: integer(0, MAX_BODY_CAP_KB).default(128),
      rule_excludes: textList().default([]),
    },
    ignored: COMMON_IGNORED,
    checks: PATH_CHECKS,
    finish: (values): Stored<WafRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      paranoia: values.paranoia,
      threshold: values.threshold,
      body_cap_kb: values.body_cap_kb,
      rule_excludes: values.rule_excludes,
    }),
  }),
} as const;
