/** The form of `fingerprint` rules, which match JA4 (TLS) and JA4H (HTTP) fingerprints (semantics §5). */
import { z } from 'zod';
import { FINGERPRINT_ACTIONS } from '../../../base/vocabulary/vocabulary.ts';
import { hostRule, type RuleOf } from '../common.ts';
import { fingerprintEntry, list } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';

/** The fields that only this type has. */
const FIELDS = {
  match_ja4: list(fingerprintEntry())
    .default([])
    .describe(
      'JA4 fingerprints of the TLS ClientHello: exact, or a prefix that ends in `*`; empty: no filter',
    )
    .meta({ examples: [['t13d1516h2_8daaf6152771_b186095e22b6', 't10*']] }),
  match_ja4h: list(fingerprintEntry())
    .default([])
    .describe('JA4H fingerprints of the HTTP request: exact, or a prefix that ends in `*`; empty: no filter')
    .meta({ examples: [['ge11nn05enus_*']] }),
  action: z
    .enum(FINGERPRINT_ACTIONS)
    .describe('`drop` answers 403, `challenge` shows a challenge, `tag` only marks the request')
    .meta({ examples: ['challenge'] }),
};

/** Refuses a rule without a fingerprint. */
const listed = crossCheck<Pick<FormValues<typeof FIELDS>, 'match_ja4' | 'match_ja4h'>>(
  ['match_ja4', 'match_ja4h'],
  ({ match_ja4, match_ja4h }, scope) => {
    if (match_ja4.length > 0 || match_ja4h.length > 0) return;
    scope.error([], {
      code: 'no_fingerprint',
      message: 'must list a fingerprint in `match_ja4` or `match_ja4h`',
    });
  },
);

/** The form of the type. */
export const fingerprintForm = hostRule({
  type: 'fingerprint',
  summary: 'Drop, challenge or tag clients by their JA4 and JA4H fingerprints',
  example: { match_ja4: ['t13d1516h2_8daaf6152771_b186095e22b6'], action: 'challenge' },
  fields: FIELDS,
  checks: [listed],
});

/** A stored rule of the type. */
export type FingerprintRule = RuleOf<typeof fingerprintForm>;
