/** Answers with an HTTP redirect instead of proxying. */
import { z } from 'zod';
import { MAX_LOCATION_CHARACTERS } from '../../base/limits.ts';
import { REDIRECT_STATUSES } from '../../base/vocabulary.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  PATH_CHECKS,
  PATH_FIELDS,
  type StoredRule,
} from '../common.ts';
import { checked, flag, text } from '../fields.ts';
import { form } from '../form.ts';
import { judgeRedirectTarget } from '../location.ts';
import type { RedirectRule } from '../types.ts';

export const redirectForm = {
  type: 'redirect',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      ...PATH_FIELDS,
      target: checked(text(MAX_LOCATION_CHARACTERS), judgeRedirectTarget),
      status_code: z.literal(REDIRECT_STATUSES).default(302),
      preserve_query: flag(true),
      preserve_path: flag(false),
    },
    ignored: [...COMMON_IGNORED, 'www_record'],
    checks: PATH_CHECKS,
    finish: (values): StoredRule<RedirectRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      target: values.target,
      status_code: values.status_code,
      preserve_query: values.preserve_query,
      preserve_path: values.preserve_path,
    }),
  }),
} as const;
