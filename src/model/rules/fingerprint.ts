/** Matches TLS and HTTP fingerprints. */
import { z } from 'zod';
import { FINGERPRINT_ACTIONS } from '../../base/vocabulary.ts';
import { COMMON_CHECKS, COMMON_FIELDS, COMMON_IGNORED, finishCommon, type StoredRule } from '../common.ts';
import { checked, filledText, list } from '../fields.ts';
import { crossCheck, type FormValues, form } from '../form.ts';
import type { FingerprintRule } from '../types.ts';

/** Exact, or a prefix that ends in `*` (semantics §5); a star elsewhere would be a character no fingerprint has. */
const entry = checked(filledText(), (value) => {
  const star = value.indexOf('*');
  if (star < 0 || star === value.length - 1) return null;
  return { code: 'misplaced_star', message: 'may hold `*` only at its end, where it makes a prefix' };
});

const OWN_FIELDS = {
  match_ja4: list(entry).default([]),
  match_ja4h: list(entry).default([]),
  action: z.enum(FINGERPRINT_ACTIONS),
};

const listed = crossCheck<Pick<FormValues<typeof OWN_FIELDS>, 'match_ja4' | 'match_ja4h'>>(
  ['match_ja4', 'match_ja4h'],
  ({ match_ja4, match_ja4h }, scope) => {
    if (match_ja4.length > 0 || match_ja4h.length > 0) return;
    scope.error([], {
      code: 'no_fingerprint',
      message: 'must list a fingerprint in `match_ja4` or `match_ja4h`',
    });
  },
);

export const fingerprintForm = {
  type: 'fingerprint',
  ...form({
    fields: { ...COMMON_FIELDS, ...OWN_FIELDS },
    ignored: COMMON_IGNORED,
    checks: [...COMMON_CHECKS, listed],
    finish: (values): StoredRule<FingerprintRule> => ({
      ...finishCommon(values),
      match_ja4: values.match_ja4,
      match_ja4h: values.match_ja4h,
      action: values.action,
    }),
  }),
} as const;
